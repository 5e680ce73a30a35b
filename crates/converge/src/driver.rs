//! The effects of a kind of component: observe, create, update, delete, and questions asked at plan time.
//!
//! A driver makes calls and translates. It does not retry (the engine does, by fault class), does not wait (the
//! engine observes until [`Readiness::Ready`]), does not sleep and keeps no state but its client.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    time::Duration,
};

use crate::{Component, Cx, Fault, Owner, Place, Step};

/// The effects of one kind of component.
///
/// # Guarantees of the engine
/// - `observe` comes before any write, and the mark it reported was ours or the object was not there.
/// - `create` is called when `observe` found nothing; again after a fault that may have taken effect, once `observe`
///   still finds nothing.
/// - Only one write of a component runs at a time; `cx.lock` serialises across components.
///
/// # Assumptions
/// - `create` fails with [`FaultClass::AlreadyExists`] where the object is there; it may also succeed if it is ours.
/// - `delete` of something absent succeeds.
pub trait Driver<C: Component>: Send + Sync + 'static {
    /// IAM actions or Kubernetes verbs it uses; documents and advice are made from it.
    const ACTIONS: &'static [&'static str];
    /// The longest pause between two observations while waiting for readiness; waiting starts far quicker.
    const POLL: Duration = Duration::from_secs(2);

    /// What is there, by the identifying fields of `spec`; the others may be defaults. `None` where it is absent.
    /// Identifying and `local` fields are copied from `spec` into what is returned.
    fn observe(&self, cx: &Cx, spec: &C) -> impl Future<Output = Result<Option<Observed<C>>, Fault>> + Send;
    /// Makes the object, carrying the owner's mark from the first call on.
    fn create(&self, cx: &Cx, spec: &C, creation: &Creation<C>) -> impl Future<Output = Result<(), Fault>> + Send;
    /// Makes the named fields as wanted. `spec` is wanted whole; a field given back has its default there.
    fn update(&self, cx: &Cx, spec: &C, changes: &Changes<C>) -> impl Future<Output = Result<(), Fault>> + Send;
    /// Starts the object's deletion; the engine waits until `observe` finds nothing.
    fn delete(&self, cx: &Cx, spec: &C, found: &Observed<C>) -> impl Future<Output = Result<(), Fault>> + Send;
    /// Whether an object that holds data may go with its resource. Asked before anything of the resource is deleted,
    /// so that a refusal leaves all of it as it is.
    fn may_delete(&self, _spec: &C, _found: &Observed<C>) -> Result<(), Fault> {
        Ok(())
    }
    /// Read-only questions at plan time about an object to be created or changed, as `step` says. `spec` may be partial:
    /// fields not known yet have their defaults. Must not fail for want of permissions: then it finds nothing.
    fn preflight(&self, _cx: &Cx, _spec: &C, _step: &Step) -> impl Future<Output = Vec<Finding>> + Send {
        async { Vec::new() }
    }
}

/// What `observe` found.
#[derive(Clone, Debug)]
pub struct Observed<C: Component> {
    /// The object in the component's words.
    pub spec: C,
    /// Its outputs.
    pub outputs: C::Outputs,
    /// Whose it is.
    pub ownership: Ownership,
    /// Whether it can be used.
    pub readiness: Readiness,
}

/// What is said of an object that could carry a mark.
pub(crate) const NO_MARK: &str = "carries no mark of this provider";

/// Whose an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// It carries this mark.
    Marked(Owner),
    /// It could carry a mark and carries none.
    Unmarked,
    /// It carries none, and the spec says that such an object may be taken over.
    Adoptable,
    /// It carries none, and the user can have it taken over.
    Claimable {
        /// The tool that manages it by its own mark, such as "Helm".
        manager: Option<&'static str>,
        /// How the user says so, as a sentence.
        advice: &'static str,
    },
    /// It is part of another object, whose mark counts.
    Inherited,
}

/// Whether an object can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// Yes.
    Ready,
    /// Not yet; the state in the API's words.
    Waiting(String),
    /// It will not become ready by itself.
    Broken {
        /// Why, in the API's words.
        reasons: String,
        /// What the user can do, as a sentence, where there is more to say than to correct the cause.
        advice: Option<String>,
    },
}

// === impl Readiness ===

impl Readiness {
    /// Broken for these reasons, which say what to do as well.
    pub fn broken(reasons: impl Into<String>) -> Self {
        Self::Broken { reasons: reasons.into(), advice: None }
    }
}

/// What a creation is told beside the spec.
pub struct Creation<'a, C: Component> {
    /// The mark to put on the object.
    pub owner: &'a Owner,
    /// A token that is the same for every attempt to create this object with this content (for APIs that take one);
    /// 64 characters, hexadecimal.
    pub token: String,
    /// The object that this one takes the place of, where `KindFacts::slots` has both side by side.
    pub previous: Option<&'a Observed<C>>,
}

/// What an update is to change.
pub struct Changes<'a, C: Component> {
    /// The mark, to be put on where [`Changes::owner_missing`].
    pub owner: &'a Owner,
    /// Names of the fields that differ.
    pub fields: BTreeSet<String>,
    /// For merged maps, the keys that were ours and are no longer wanted.
    pub removed_keys: BTreeMap<String, BTreeSet<String>>,
    /// The object was adopted or its mark was taken off: mark it again.
    pub owner_missing: bool,
    /// What we last applied, where there is a record of it.
    pub applied: Option<C>,
    /// What is there now.
    pub found: &'a Observed<C>,
}

/// Something found at plan time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Certain failures are errors (the provider's `preflight` setting may lower them), doubts are warnings.
    pub severity: Severity,
    /// What it is about, for the attribute path.
    pub at: Place,
    /// One line.
    pub summary: String,
    /// Reason, then advice.
    pub detail: String,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Apply would fail.
    Error,
    /// Apply may fail, or the outcome may surprise.
    Warning,
}

// === impl Ownership ===

impl Ownership {
    /// Of an object that the user could have taken over: whose it is, as the end of a sentence that begins with the
    /// object, and how the user says so.
    pub fn claimable(&self) -> Option<(String, &'static str)> {
        match self {
            Self::Claimable { manager: Some(manager), advice } => Some((format!("is managed by {manager}"), advice)),
            Self::Claimable { manager: None, advice } => Some((NO_MARK.to_owned(), advice)),
            Self::Marked(_) | Self::Unmarked | Self::Adoptable | Self::Inherited => None,
        }
    }

    /// Whether a mark is missing that could be there.
    pub fn is_unmarked(&self) -> bool {
        matches!(self, Self::Unmarked | Self::Adoptable | Self::Claimable { .. })
    }
}
