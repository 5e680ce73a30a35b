//! What an author implements: a provider and its resources, data sources and functions, over untyped values.
//!
//! These traits are object-safe; typed authors come in through [`crate::Attributes`]. They translate nothing: the
//! server in `server/` speaks the protocol.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::{Cty, Diagnostics, IdentitySchema, Schema, Type};

/// A provider.
pub trait Provider: Send + Sync + 'static {
    /// The schema of the provider block.
    fn schema(&self) -> Schema;
    /// Checks the provider block; never complains of unknown values, makes no calls.
    fn validate(&self, config: &Cty) -> Diagnostics;
    /// Takes the provider block. Unknown values are tolerated: what needs them complains when it is used.
    fn configure<'a>(&'a self, cx: &'a RequestCx, config: Cty) -> BoxFuture<'a, Diagnostics>;
    /// The resources.
    fn resources(&self) -> Vec<Arc<dyn Resource>>;
    /// The data sources.
    fn data_sources(&self) -> Vec<Arc<dyn DataSource>>;
    /// The functions.
    fn functions(&self) -> Vec<Arc<dyn Function>>;
}

/// The context of one request.
#[derive(Clone, Debug, Default)]
pub struct RequestCx {
    /// Cancelled by StopProvider.
    pub cancel: CancellationToken,
    /// The Terraform version told in ConfigureProvider; empty before.
    pub terraform_version: String,
}

/// A resource.
pub trait Resource: Send + Sync + 'static {
    /// Its name with the provider's prefix: `mlplat_model_bucket`.
    fn type_name(&self) -> &'static str;
    /// Its schema.
    fn schema(&self) -> Schema;
    /// The schema of its identity.
    fn identity_schema(&self) -> IdentitySchema;
    /// Checks a configuration. Never complains of unknown values, makes no calls.
    fn validate(&self, config: &Cty) -> Diagnostics;
    /// Brings a stored state (its JSON was already read with the current schema, attributes that are no more left
    /// out) of an older version up to this one. `raw` is the JSON as stored.
    fn upgrade(&self, version: i64, raw: &serde_json::value::RawValue) -> Result<Cty, Diagnostics>;
    /// What is there now.
    fn read<'a>(&'a self, cx: &'a RequestCx, request: ReadRequest) -> BoxFuture<'a, StateResponse>;
    /// What is going to be. Pure but for read-only questions whose answers only add diagnostics.
    fn plan<'a>(&'a self, cx: &'a RequestCx, request: PlanRequest) -> BoxFuture<'a, PlanResponse>;
    /// Makes it so.
    fn apply<'a>(&'a self, cx: &'a RequestCx, request: ApplyRequest) -> BoxFuture<'a, StateResponse>;
    /// The stub of an object that exists, from its import id or its identity; the Read that follows fills it.
    fn import<'a>(&'a self, cx: &'a RequestCx, request: ImportRequest) -> BoxFuture<'a, StateResponse>;
    /// The resource types whose state it takes over, for documents: provider and type, such as `hashicorp/aws` and
    /// `aws_s3_bucket`.
    fn sources(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
    /// The stub of an object from the state of a resource of another type, to which a `moved` block leads; the Read
    /// that follows fills it. None where it takes over no such state.
    fn take_over(&self, _source: &Source) -> Option<StateResponse> {
        None
    }
}

/// The state of a resource of another type.
#[derive(Clone, Debug)]
pub struct Source {
    /// The address of its provider, such as `registry.terraform.io/hashicorp/aws`.
    pub provider: String,
    /// Its type.
    pub type_name: String,
    /// Its state, as its provider wrote it.
    pub state: serde_json::Value,
}

/// A state to be refreshed.
#[derive(Clone, Debug)]
pub struct ReadRequest {
    /// The state; known, never null.
    pub state: Cty,
    /// What we kept beside it.
    pub private: Vec<u8>,
    /// Its identity; null where none was kept.
    pub identity: Cty,
}

/// A state as it is now, or as far as it came.
#[derive(Clone, Debug)]
pub struct StateResponse {
    /// The state; null where nothing is there.
    pub state: Cty,
    /// What to keep beside it.
    pub private: Vec<u8>,
    /// Its identity; null for none.
    pub identity: Cty,
    /// What there is to tell.
    pub diagnostics: Diagnostics,
}

/// A change to be planned.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    /// The configuration; null to destroy. Write-only values are in it.
    pub config: Cty,
    /// The state before; null to create.
    pub prior: Cty,
    /// Core's merge of both; write-only values are already taken out. Null to destroy.
    pub proposed: Cty,
    /// What we kept beside the prior state.
    pub private: Vec<u8>,
    /// The prior identity; null for none.
    pub identity: Cty,
}

/// A planned change.
#[derive(Clone, Debug, Default)]
pub struct PlanResponse {
    /// The state after; unknown where apply decides. Null to destroy.
    pub planned: Cty,
    /// Attributes whose change replaces the resource.
    pub requires_replace: Vec<value::AttributePath>,
    /// What to hand to apply.
    pub private: Vec<u8>,
    /// The identity after; unknown parts only for a create.
    pub identity: Cty,
    /// What there is to tell.
    pub diagnostics: Diagnostics,
}

/// A planned change to be made.
#[derive(Clone, Debug)]
pub struct ApplyRequest {
    /// The configuration; null to destroy. Write-only values are in it.
    pub config: Cty,
    /// The state before; null to create.
    pub prior: Cty,
    /// The plan's state; null to destroy.
    pub planned: Cty,
    /// What the plan handed on.
    pub private: Vec<u8>,
    /// The planned identity.
    pub identity: Cty,
}

/// What is to be imported.
#[derive(Clone, Debug)]
pub enum ImportRequest {
    /// An id from `terraform import` or an `import` block.
    Id(String),
    /// An identity from an `import` block.
    Identity(Cty),
}

/// A data source.
pub trait DataSource: Send + Sync + 'static {
    /// Its name with the provider's prefix.
    fn type_name(&self) -> &'static str;
    /// Its schema.
    fn schema(&self) -> Schema;
    /// Checks a configuration.
    fn validate(&self, config: &Cty) -> Diagnostics;
    /// Reads it. The configuration is known.
    fn read<'a>(&'a self, cx: &'a RequestCx, config: Cty) -> BoxFuture<'a, (Cty, Diagnostics)>;
}

/// A function. Pure: it may run on a provider that is not configured, and the same arguments give the same result.
pub trait Function: Send + Sync + 'static {
    /// Its name.
    fn name(&self) -> &'static str;
    /// Its signature.
    fn signature(&self) -> Signature;
    /// Calls it. Arguments are known, and null only where the parameter allows it.
    fn call(&self, arguments: Vec<Cty>) -> Result<Cty, FunctionError>;
}

/// The signature of a function.
#[derive(Clone, Debug)]
pub struct Signature {
    /// One line.
    pub summary: String,
    /// What it does, in Markdown.
    pub description: String,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// A last parameter that may be given any number of times.
    pub variadic: Option<Parameter>,
    /// The type of the result.
    pub result: Type,
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub ty: Type,
    /// Whether null may be given.
    pub nullable: bool,
    /// What it is.
    pub description: String,
}

/// Why a function failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionError {
    /// The reason and what to do.
    pub text: String,
    /// The argument to blame, counted from zero.
    pub argument: Option<usize>,
}
