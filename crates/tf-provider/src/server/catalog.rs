//! What a provider has, by name, with everything that translating needs. Read from the provider once.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    Cty, DataSource, Diagnostic, Diagnostics, Function, IdentitySchema, Provider, Resource, Schema, Signature, Type,
    server::{
        answer::Outcome,
        conform,
        diagnostics::{in_block, plain},
        translate,
    },
    wire::proto::tfplugin6::{self as proto, DynamicValue},
};
use value::AttributePath;

/// What a provider has.
pub(crate) struct Catalog {
    pub(crate) provider: BlockEntry,
    pub(crate) resources: BTreeMap<&'static str, ResourceEntry>,
    pub(crate) data_sources: BTreeMap<&'static str, DataSourceEntry>,
    pub(crate) functions: BTreeMap<&'static str, FunctionEntry>,
}

/// A schema and its type.
pub(crate) struct BlockEntry {
    pub(crate) schema: Schema,
    pub(crate) ty: Type,
}

/// A resource.
pub(crate) struct ResourceEntry {
    pub(crate) resource: Arc<dyn Resource>,
    pub(crate) block: BlockEntry,
    /// `None` where the resource has no identity.
    pub(crate) identity: Option<(IdentitySchema, Type)>,
}

/// A data source.
pub(crate) struct DataSourceEntry {
    pub(crate) data_source: Arc<dyn DataSource>,
    pub(crate) block: BlockEntry,
}

/// A function.
pub(crate) struct FunctionEntry {
    pub(crate) function: Arc<dyn Function>,
    pub(crate) signature: Signature,
}

// === impl Catalog ===

impl Catalog {
    pub(super) fn of(provider: &dyn Provider) -> Self {
        Self {
            provider: BlockEntry::of(provider.schema()),
            resources: provider.resources().into_iter().map(|one| (one.type_name(), ResourceEntry::of(one))).collect(),
            data_sources: provider
                .data_sources()
                .into_iter()
                .map(|one| (one.type_name(), DataSourceEntry { block: BlockEntry::of(one.schema()), data_source: one }))
                .collect(),
            functions: provider
                .functions()
                .into_iter()
                .map(|one| (one.name(), FunctionEntry { signature: one.signature(), function: one }))
                .collect(),
        }
    }

    pub(super) fn resource(&self, name: &str) -> Outcome<&ResourceEntry> {
        self.resources.get(name).ok_or_else(|| plain(unknown("resource", name)))
    }

    pub(super) fn data_source(&self, name: &str) -> Outcome<&DataSourceEntry> {
        self.data_sources.get(name).ok_or_else(|| plain(unknown("data source", name)))
    }

    pub(super) fn function(&self, name: &str) -> Option<&FunctionEntry> {
        self.functions.get(name)
    }
}

// === impl BlockEntry ===

impl BlockEntry {
    fn of(schema: Schema) -> Self {
        Self { ty: schema.ty(), schema }
    }

    /// The value of this type, or why it cannot be read.
    pub(super) fn decode(&self, value: Option<&DynamicValue>) -> Outcome<Cty> {
        translate::decode(value, &self.ty).map_err(|error| self.told(translate::unreadable(&error).into()))
    }

    pub(crate) fn encode(&self, value: &Cty) -> DynamicValue {
        translate::encode(value, &self.ty)
    }

    /// An answer as it travels, with what is wrong with it.
    pub(super) fn answered(
        &self,
        value: &Cty,
        mut diagnostics: Diagnostics,
    ) -> (Option<DynamicValue>, Vec<proto::Diagnostic>) {
        diagnostics.extend(conform::check(value, &self.ty));
        (Some(self.encode(value)), self.told(diagnostics))
    }

    /// Diagnostics as they travel.
    pub(super) fn told(&self, diagnostics: Diagnostics) -> Vec<proto::Diagnostic> {
        in_block(diagnostics, &self.schema.block)
    }
}

// === impl ResourceEntry ===

impl ResourceEntry {
    fn of(resource: Arc<dyn Resource>) -> Self {
        let identity = resource.identity_schema();
        let identity = (!identity.attributes.is_empty()).then(|| {
            let ty = identity.ty();
            (identity, ty)
        });
        Self { block: BlockEntry::of(resource.schema()), identity, resource }
    }

    /// The identity, or why it cannot be read; null where there is none.
    pub(super) fn decode_identity(&self, identity: Option<&proto::ResourceIdentityData>) -> Outcome<Cty> {
        let Some((_, ty)) = &self.identity else {
            return Ok(Cty::Null);
        };
        let value = identity.and_then(|identity| identity.identity_data.as_ref());
        translate::decode(value, ty).map_err(|error| plain(translate::unreadable(&error).into()))
    }

    /// The identity as it travels. Never sent where there is no schema for it, as Terraform demands.
    pub(crate) fn encode_identity(&self, identity: &Cty) -> Option<proto::ResourceIdentityData> {
        let (_, ty) = self.identity.as_ref()?;
        (!identity.is_null())
            .then(|| proto::ResourceIdentityData { identity_data: Some(translate::encode(identity, ty)) })
    }
}

/// What to tell of a name that does not exist.
pub(super) fn unknown(kind: &str, name: &str) -> Diagnostics {
    let summary = format!("This provider has no {kind} named {name:?}");
    let detail = "The configuration or the state was written for another version of the provider, or for another one.";
    Diagnostic::error(&AttributePath::root(), summary, detail)
        .advise("Check the name and the version under required_providers, and run `terraform init -upgrade`.")
        .into()
}
