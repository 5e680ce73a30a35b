//! One resource of a server: the calls of its life, through the real messages, with what core checks in every answer.

use tonic::{Request, Response, Status};

use crate::{
    Cty, Diagnostic, Diagnostics, Severity,
    server::{BUG, ResourceEntry, Server, decode},
    testing::{Failure, Rule, Violation, rules::object},
    wire::proto::tfplugin6::{
        self as proto, ClientCapabilities, DynamicValue, RawState, ResourceIdentityData,
        attribute_path::step::Selector, diagnostic::Severity as WireSeverity, plan_resource_change as wire_plan,
        provider_server::Provider as _, read_resource as wire_read, upgrade_resource_state as wire_upgrade,
        validate_resource_config as wire_validate,
    },
};
use value::AttributePath;

/// What this core can do.
pub(super) const CAPABILITIES: ClientCapabilities =
    ClientCapabilities { deferral_allowed: false, write_only_attributes_allowed: true };

/// One resource of a server.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) server: &'a Server,
    pub(super) entry: &'a ResourceEntry,
}

/// A state, or a planned one, with what belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Object {
    pub(super) value: Cty,
    pub(super) private: Vec<u8>,
    pub(super) identity: Cty,
}

/// An answer to a plan.
#[derive(Debug)]
pub(super) struct Proposal {
    pub(super) object: Object,
    pub(super) requires_replace: Vec<AttributePath>,
    pub(super) diagnostics: Diagnostics,
}

/// What a plan is asked for.
#[derive(Clone, Copy)]
pub(super) struct Ask<'a> {
    pub(super) prior: &'a Object,
    pub(super) config: &'a Cty,
    pub(super) proposed: &'a Cty,
}

// === impl Object ===

impl Object {
    /// Nothing, with nothing beside it.
    pub(super) fn nothing() -> Self {
        Self { value: Cty::Null, private: Vec::new(), identity: Cty::Null }
    }
}

// === impl Target ===

impl Target<'_> {
    pub(super) fn type_name(self) -> String {
        self.entry.resource.type_name().to_owned()
    }

    pub(super) fn encoded(self, value: &Cty) -> DynamicValue {
        self.entry.block.encode(value)
    }

    pub(super) fn encoded_identity(self, identity: &Cty) -> Option<ResourceIdentityData> {
        self.entry.encode_identity(identity)
    }

    pub(super) fn decoded(self, value: Option<&DynamicValue>) -> Result<Cty, Violation> {
        decode(value, &self.entry.block.ty).map_err(|error| Rule::Conformance.broken(error.to_string()))
    }

    pub(super) fn decoded_identity(self, identity: Option<&ResourceIdentityData>) -> Result<Cty, Violation> {
        let value = identity.and_then(|identity| identity.identity_data.as_ref());
        match &self.entry.identity {
            None if identity.is_some() => Err(Rule::Identity.broken("it has no schema, and must not be sent")),
            None => Ok(Cty::Null),
            Some((_, ty)) => decode(value, ty).map_err(|error| Rule::Identity.broken(error.to_string())),
        }
    }

    /// The object of an answer.
    pub(super) fn object(
        self,
        value: Option<&DynamicValue>,
        private: Vec<u8>,
        identity: Option<&ResourceIdentityData>,
    ) -> Result<Object, Violation> {
        Ok(Object { value: self.decoded(value)?, private, identity: self.decoded_identity(identity)? })
    }

    pub(super) async fn validate(self, config: &Cty) -> Result<Diagnostics, Failure> {
        let request = wire_validate::Request {
            type_name: self.type_name(),
            config: Some(self.encoded(config)),
            client_capabilities: Some(CAPABILITIES),
        };
        let response = answered(self.server.validate_resource_config(Request::new(request)).await)?;
        told(response.diagnostics)
    }

    /// Brings a stored state up to today's schema.
    pub(super) async fn upgrade(self, version: i64, stored: String) -> Result<Cty, Failure> {
        let raw_state = RawState { json: stored.into_bytes(), ..RawState::default() };
        let request = wire_upgrade::Request { type_name: self.type_name(), version, raw_state: Some(raw_state) };
        let response = answered(self.server.upgrade_resource_state(Request::new(request)).await)?;
        let diagnostics = told(response.diagnostics)?;
        let state = self.decoded(response.upgraded_state.as_ref())?;
        Failure::check(diagnostics, self.made(&state))?;
        Ok(state)
    }

    /// What is there now; null where nothing is.
    pub(super) async fn read(self, object: &Object) -> Result<(Object, Diagnostics), Failure> {
        let request = wire_read::Request {
            type_name: self.type_name(),
            current_state: Some(self.encoded(&object.value)),
            private: object.private.clone(),
            current_identity: self.encoded_identity(&object.identity),
            provider_meta: None,
            client_capabilities: Some(CAPABILITIES),
        };
        let response = answered(self.server.read_resource(Request::new(request)).await)?;
        let diagnostics = told(response.diagnostics)?;
        let read = self.object(response.new_state.as_ref(), response.private, response.new_identity.as_ref())?;
        let mut violations = self.made(&read.value);
        violations.extend(self.identified(&read, &object.identity));
        Ok((read, Failure::check(diagnostics, violations)?))
    }

    /// Plans once; the answer is checked for its type and for write-only values only.
    pub(super) async fn plan(self, ask: Ask<'_>) -> Result<Proposal, Failure> {
        let request = wire_plan::Request {
            type_name: self.type_name(),
            prior_state: Some(self.encoded(&ask.prior.value)),
            proposed_new_state: Some(self.encoded(ask.proposed)),
            config: Some(self.encoded(ask.config)),
            prior_private: ask.prior.private.clone(),
            prior_identity: self.encoded_identity(&ask.prior.identity),
            provider_meta: None,
            client_capabilities: Some(CAPABILITIES),
        };
        let response = answered(self.server.plan_resource_change(Request::new(request)).await)?;
        let diagnostics = told(response.diagnostics)?;
        let planned =
            self.object(response.planned_state.as_ref(), response.planned_private, response.planned_identity.as_ref())?;
        let written = object::write_only(&self.entry.block.schema.block, &planned.value);
        Ok(Proposal {
            object: planned,
            requires_replace: response.requires_replace.iter().map(path).collect(),
            diagnostics: Failure::check(diagnostics, Rule::Plan.each(written).collect())?,
        })
    }

    /// What is wrong with a value that stands for something real.
    pub(super) fn made(self, value: &Cty) -> Vec<Violation> {
        let written = object::write_only(&self.entry.block.schema.block, value);
        Rule::Object.each(object::unknown(value)).chain(Rule::Object.each(written)).collect()
    }

    /// What is wrong with the identity of something real, that was `before` if it was not null.
    pub(super) fn identified(self, object: &Object, before: &Cty) -> Option<Violation> {
        self.entry.identity.as_ref()?;
        let text = match &object.identity {
            _ if object.value.is_null() => return None,
            Cty::Null => "it is missing; Terraform would forget it",
            identity if !identity.is_wholly_known() => "it is not known, although the object is there",
            identity if !before.is_null() && before.is_wholly_known() && identity != before => {
                "it is another one than before, although the object is the same"
            }
            _ => return None,
        };
        Some(Rule::Identity.broken(text))
    }
}

/// The answer of a call, which must be one.
pub(super) fn answered<T>(result: Result<Response<T>, Status>) -> Result<T, Failure> {
    result.map(Response::into_inner).map_err(|status| Rule::Status.broken(status.to_string()).into())
}

/// What an answer tells: an error where it is one.
pub(super) fn told(diagnostics: Vec<proto::Diagnostic>) -> Result<Diagnostics, Failure> {
    let (diagnostics, violations) = heard(diagnostics);
    Failure::check(diagnostics, violations)
}

/// What an answer tells, and what is wrong with how it tells it.
pub(super) fn heard(diagnostics: Vec<proto::Diagnostic>) -> (Diagnostics, Vec<Violation>) {
    let (mut heard, mut violations) = (Diagnostics::new(), Vec::new());
    for one in diagnostics {
        let path = one.attribute.as_ref().map(path).unwrap_or_default();
        let severity = match one.severity() {
            WireSeverity::Error => Severity::Error,
            WireSeverity::Warning => Severity::Warning,
            WireSeverity::Invalid => {
                violations.push(Rule::Diagnostic.broken(format!("{:?} has no severity", one.summary)));
                Severity::Error
            }
        };
        let begins_well = matches!(path.steps().first(), None | Some(value::Step::Attribute(_)));
        if one.summary.is_empty() || !begins_well {
            violations.push(Rule::Diagnostic.broken(format!("{:?} at {:?}", one.summary, path.to_string())));
        }
        if one.summary == BUG {
            violations.push(Rule::Bug.broken(one.detail.clone()));
        }
        heard.push(Diagnostic { severity, summary: one.summary, detail: one.detail, path });
    }
    (heard, violations)
}

fn path(path: &proto::AttributePath) -> AttributePath {
    path.steps.iter().fold(AttributePath::root(), |path, step| match &step.selector {
        Some(Selector::AttributeName(name)) => path.attribute(name),
        Some(Selector::ElementKeyString(key)) => path.key(key),
        Some(Selector::ElementKeyInt(index)) => path.index(usize::try_from(*index).unwrap_or(usize::MAX)),
        None => path,
    })
}
