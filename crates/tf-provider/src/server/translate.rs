//! Values between the wire and [`Cty`].

use crate::{
    Cty, Diagnostic, Type,
    codec::{self, CodecError},
    wire::proto::tfplugin6::DynamicValue,
};

/// A value as it came. MessagePack wins over JSON; neither, or no message at all, is null.
pub(crate) fn decode(value: Option<&DynamicValue>, ty: &Type) -> Result<Cty, CodecError> {
    match value {
        Some(value) if !value.msgpack.is_empty() => codec::from_msgpack(&value.msgpack, ty),
        Some(value) if !value.json.is_empty() => codec::from_json(&value.json, ty),
        _ => Ok(Cty::Null),
    }
}

/// A value as it goes.
pub(crate) fn encode(value: &Cty, ty: &Type) -> DynamicValue {
    DynamicValue { msgpack: codec::to_msgpack(value, ty), json: Vec::new() }
}

/// What to tell of a value that cannot be read.
pub(super) fn unreadable(error: &CodecError) -> Diagnostic {
    let detail = format!("What Terraform sent does not have the type of the provider's schema: {error}.");
    Diagnostic::error(&error.path, "Cannot read a value", detail).advise(
        "If the state was edited by hand or written by another version of the provider, restore it; \
         otherwise please report this as a bug of the provider.",
    )
}
