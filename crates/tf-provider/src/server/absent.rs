//! What this framework has not got: ephemeral resources, lists, actions, state stores, written configuration.
//!
//! Terraform asks for none of them, for no schema names one. A client that asks all the same gets a reason.

use crate::{
    server::{answer::Outcome, catalog::unknown, diagnostics::plain},
    wire::proto::tfplugin6::{self as proto, Diagnostic, invoke_action, list_resource, read_state_bytes},
};

/// The kinds there are none of.
pub(super) const EPHEMERAL: &str = "ephemeral resource";
pub(super) const LIST: &str = "list resource";
pub(super) const ACTION: &str = "action";
pub(super) const STATE_STORE: &str = "state store";
pub(super) const CONFIG_WRITER: &str = "written configuration of a resource";

/// There is none.
pub(super) fn none<T>(kind: &'static str, name: &str) -> Outcome<T> {
    Err(reasons(kind, name))
}

pub(super) fn list_event(name: &str) -> list_resource::Event {
    list_resource::Event { diagnostic: reasons(LIST, name), ..Default::default() }
}

/// An event without a type would crash Terraform, so the end is told as an end.
pub(super) fn action_event(name: &str) -> invoke_action::Event {
    use proto::invoke_action::event::{Completed, Type};
    let completed = Completed { diagnostics: reasons(ACTION, name) };
    invoke_action::Event { r#type: Some(Type::Completed(completed)) }
}

pub(super) fn state_chunk(name: &str) -> read_state_bytes::ResponseChunk {
    read_state_bytes::ResponseChunk { diagnostics: reasons(STATE_STORE, name), ..Default::default() }
}

fn reasons(kind: &str, name: &str) -> Vec<Diagnostic> {
    plain(unknown(kind, name))
}
