//! A framework for Terraform providers: protocol 6 over tonic.
//!
//! Knows neither clouds nor child objects. From the wire up: [`wire`] (go-plugin's handshake, TLS, logs, protobuf),
//! `server` (one file an RPC: translate, call, translate back), then what authors use: [`Provider`], [`Resource`],
//! [`DataSource`], [`Function`], [`Attributes`], [`Diagnostics`].

mod attributes;
pub mod codec;
mod cty;
mod diagnostics;
#[cfg(feature = "testing")]
pub mod docs;
mod number;
mod provider;
mod schema;
pub mod server;
#[cfg(feature = "testing")]
pub mod testing;
mod types;
pub mod wire;

pub use attributes::{AttributeType, Attributes, Decoder, decode, encode};
#[doc(hidden)]
pub use attributes::{decode_choice, decode_nested, fill_default};
pub use cty::{Cty, Refinements};
pub use diagnostics::{Diagnostic, Diagnostics, Severity};
pub use number::Number;
pub use provider::{
    ApplyRequest, DataSource, Function, FunctionError, ImportRequest, Parameter, PlanRequest, PlanResponse, Provider,
    ReadRequest, RequestCx, Resource, Signature, Source, StateResponse,
};
pub use schema::{
    Attribute, Block, IdentityAttribute, IdentitySchema, NestedBlock, Nesting, Schema, Shape, from_document,
};
pub use server::serve;
pub use tf_provider_derive::{Attributes, Choice};
pub use types::Type;
