//! ReadResource, PlanResourceChange and ApplyResourceChange: the life of a resource.
//!
//! **Invariant:** whatever happens, an answer that stands for an object has its state, its private data and its
//! identity: Terraform replaces all three by what the answer says.

use crate::{
    ApplyRequest, Cty, Diagnostic, Diagnostics, PlanRequest, PlanResponse, ReadRequest, StateResponse,
    server::{
        Server, answer::Outcome, catalog::ResourceEntry, conform::BUG, paths, required, write_only::without_write_only,
    },
    wire::proto::tfplugin6::{AttributePath, apply_resource_change, plan_resource_change, read_resource},
};
use value::AttributePath as Path;

/// The answer of a Read that fails: all is as it was.
pub(super) fn unread(request: &read_resource::Request) -> read_resource::Response {
    read_resource::Response {
        new_state: request.current_state.clone(),
        private: request.private.clone(),
        new_identity: request.current_identity.clone(),
        ..read_resource::Response::default()
    }
}

pub(super) async fn read(server: &Server, request: read_resource::Request) -> Outcome<read_resource::Response> {
    let entry = server.catalog().resource(&request.type_name)?;
    let read = ReadRequest {
        state: entry.block.decode(request.current_state.as_ref())?,
        private: request.private,
        identity: entry.decode_identity(request.current_identity.as_ref())?,
    };
    if read.state.is_null() {
        return Ok(read_resource::Response::default());
    }
    let before = read.identity.clone();
    let response = kept(entry.resource.read(&server.cx(), read).await, before);
    let (new_state, diagnostics) = entry.block.answered(&response.state, response.diagnostics);
    Ok(read_resource::Response {
        new_state,
        private: response.private,
        new_identity: entry.encode_identity(&response.identity),
        diagnostics,
        deferred: None,
    })
}

pub(super) async fn plan(
    server: &Server,
    request: plan_resource_change::Request,
) -> Outcome<plan_resource_change::Response> {
    let entry = server.catalog().resource(&request.type_name)?;
    let plan = PlanRequest {
        config: entry.block.decode(request.config.as_ref())?,
        prior: entry.block.decode(request.prior_state.as_ref())?,
        // Terraform copies write-only values into the proposal, and refuses them in the plan.
        proposed: without_write_only(
            entry.block.decode(request.proposed_new_state.as_ref())?,
            &entry.block.schema.block,
        ),
        private: request.prior_private.clone(),
        identity: entry.decode_identity(request.prior_identity.as_ref())?,
    };
    let (destroys, creates, identity) = (plan.proposed.is_null(), plan.prior.is_null(), plan.identity.clone());
    // Validated before, but what was unknown then may turn out to be nothing.
    let missing = required::missing(&plan.config, &entry.block.schema.block);
    let mut response = if missing.has_errors() {
        PlanResponse { planned: plan.proposed, private: plan.private, diagnostics: missing, ..PlanResponse::default() }
    } else {
        entry.resource.plan(&server.cx(), plan).await
    };
    if destroys {
        response = destroyed(response, request.prior_private, identity);
    } else if response.identity.is_null() && !creates {
        response.identity = identity;
    }
    Ok(planned(entry, response))
}

/// A destruction has one possible plan; the record of what is to be destroyed goes with it.
fn destroyed(response: PlanResponse, private: Vec<u8>, identity: Cty) -> PlanResponse {
    PlanResponse { planned: Cty::Null, requires_replace: Vec::new(), private, identity, ..response }
}

fn planned(entry: &ResourceEntry, response: PlanResponse) -> plan_resource_change::Response {
    let (planned_state, diagnostics) = entry.block.answered(&response.planned, response.diagnostics);
    plan_resource_change::Response {
        planned_state,
        requires_replace: replacing(entry, &response.requires_replace),
        planned_private: response.private,
        diagnostics,
        legacy_type_system: false,
        deferred: None,
        planned_identity: entry.encode_identity(&response.identity),
    }
}

fn replacing(entry: &ResourceEntry, paths: &[Path]) -> Vec<AttributePath> {
    let mut said: Vec<_> = paths.iter().map(|path| paths::within(path, &entry.block.schema.block)).collect();
    said.sort();
    said.dedup();
    said.iter().filter(|path| !path.is_root()).map(paths::to_proto).collect()
}

/// The answer of an Apply that fails without a word of its own: what was there before is taken to be there still.
pub(super) fn unapplied(request: &apply_resource_change::Request) -> apply_resource_change::Response {
    apply_resource_change::Response {
        new_state: request.prior_state.clone(),
        private: request.planned_private.clone(),
        new_identity: request.planned_identity.clone(),
        ..apply_resource_change::Response::default()
    }
}

pub(super) async fn apply(
    server: &Server,
    request: apply_resource_change::Request,
) -> Outcome<apply_resource_change::Response> {
    let entry = server.catalog().resource(&request.type_name)?;
    let apply = ApplyRequest {
        config: entry.block.decode(request.config.as_ref())?,
        prior: entry.block.decode(request.prior_state.as_ref())?,
        planned: entry.block.decode(request.planned_state.as_ref())?,
        private: request.planned_private,
        identity: entry.decode_identity(request.planned_identity.as_ref())?,
    };
    let deletes = apply.planned.is_null();
    // What Terraform could not know at plan time is not known to it now either.
    let before = if apply.identity.is_wholly_known() { apply.identity.clone() } else { Cty::Null };
    let mut response = kept(entry.resource.apply(&server.cx(), apply).await, before);
    if !deletes && response.state.is_null() && !response.diagnostics.has_errors() {
        response.diagnostics.push(nothing_made(&request.type_name));
    }
    let (new_state, diagnostics) = entry.block.answered(&response.state, response.diagnostics);
    Ok(apply_resource_change::Response {
        new_state,
        private: response.private,
        diagnostics,
        legacy_type_system: false,
        new_identity: entry.encode_identity(&response.identity),
    })
}

/// An answer that forgot the identity of what is there has the one from before.
fn kept(response: StateResponse, before: Cty) -> StateResponse {
    let forgotten = response.identity.is_null() && !response.state.is_null();
    StateResponse { identity: if forgotten { before } else { response.identity }, ..response }
}

fn nothing_made(type_name: &str) -> Diagnostic {
    let detail = format!("Apply of {type_name:?} said neither what is there now nor what went wrong.");
    Diagnostic::error(&Path::root(), BUG, detail).advise("Please report it to the provider's authors with this text.")
}

/// Diagnostics of an answer that has no value to go with them.
pub(super) fn failed<T>(entry: &ResourceEntry, diagnostics: Diagnostics) -> Outcome<T> {
    Err(entry.block.told(diagnostics))
}
