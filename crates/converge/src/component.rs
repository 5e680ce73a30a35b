//! A child object as plain data, and what is true of every object of its kind.
//!
//! Holds no behaviour: effects are the driver's. The derive macro `Component` writes all of this from a struct.

use std::{collections::BTreeSet, marker::PhantomData};

use serde::{Serialize, de::DeserializeOwned};
use value::Field;

/// A child object: what is wanted of it, or what was found.
///
/// Every field has a default (`#[serde(default)]`), so that a partly known document, such as an import's, can be
/// observed by its identifying fields alone. Unordered things are sets. Derive it:
///
/// ```text
/// /// An IAM role.
/// #[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
/// #[serde(default)]
/// #[component(kind = "aws_iam_role", outputs = IamRoleOutputs)]
/// pub struct IamRole {
///     /// Name, unique in the account.
///     #[component(identity)]
///     pub name: String,
///     /// Tags; those of others are left alone.
///     #[component(merged)]
///     pub tags: BTreeMap<String, String>,
/// }
/// ```
/// gives `IamRoleDraft`, the same struct with each field a `Value<T>` (a field of type `Option<T>` becomes
/// `Value<T>`), `Default`, and its `impl Draft`.
pub trait Component: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The kind's facts.
    const FACTS: KindFacts;
    /// What the API tells of the object and others need: ids, names given by the API, live numbers.
    type Outputs: Serialize + DeserializeOwned + Send + Sync + 'static;
}

/// What is true of every object of a kind.
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindFacts {
    /// Name of the kind, such as `aws_iam_role`. Stored in ledgers: never rename it.
    pub kind: &'static str,
    /// The kind in words, for messages: `IAM role`.
    pub noun: &'static str,
    /// Fields by which `observe` finds the object: `#[component(identity)]`. They are fixed too.
    pub identity: &'static [&'static str],
    /// Identifying fields that say where the object is, and not what it is called: `#[component(identity, place)]`.
    /// Messages leave them out, since the resource's own id has them.
    pub place: &'static [&'static str],
    /// Fields that the API cannot change: `#[component(fixed)]`; holds the identity as well.
    pub fixed: &'static [&'static str],
    /// Fields sent at creation and never compared, because somebody else moves them: `#[component(initial)]`.
    pub initial: &'static [&'static str],
    /// Fields that steer the driver and are no part of the object: `#[component(local)]`. Never compared with what
    /// was found; a change is recorded without a call.
    pub local: &'static [&'static str],
    /// Maps of which only our own keys are ours: `#[component(merged)]`.
    pub merged: &'static [&'static str],
    /// Outputs that an update may change (`#[output(volatile)]` or `#[output(moved_by = "…")]` on the outputs struct).
    pub volatile: &'static [Volatile],
    /// Whether the API tells an id of its own. Where it does not, the identity is all the name there is.
    pub has_id: bool,
    /// Never replaced or deleted without the user's word: `#[component(holds_data)]` on the struct.
    pub holds_data: bool,
    /// A change of a fixed field is rolled out beside the old object: a second one is made under the other of two
    /// names, the old one is deleted when the new one is ready. `#[component(slots)]` on the struct, which then has
    /// a field `slot: Option<String>`: absent for the first name, `"b"` for the second. The graph leaves it null; the engine fills it.
    pub slots: bool,
    /// The object is part of another one (a bucket's versioning) and cannot carry an ownership mark of its own:
    /// `#[component(part)]` on the struct. The mark of what it comes `after` counts.
    pub part: bool,
    /// A broken object may become whole by a change of its fields, or by itself: it is never made again for being
    /// broken. A Deployment whose new pods fail still has its old ones.
    pub mends: bool,
}

impl KindFacts {
    /// The facts of a kind of which nothing special is true.
    pub const fn plain(kind: &'static str, noun: &'static str) -> Self {
        Self {
            kind,
            noun,
            identity: &[],
            place: &[],
            fixed: &[],
            initial: &[],
            local: &[],
            merged: &[],
            volatile: &[],
            has_id: false,
            holds_data: false,
            slots: false,
            part: false,
            mends: false,
        }
    }
}

/// An output that an update may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Volatile {
    /// The output.
    pub output: &'static str,
    /// The fields whose update may change it; empty: any.
    pub moved_by: &'static [&'static str],
}

impl Volatile {
    /// An output that any update may change.
    pub const fn by_any(output: &'static str) -> Self {
        Self { output, moved_by: &[] }
    }

    /// Whether an update of `fields` may change it.
    pub fn is_moved_by(&self, fields: &BTreeSet<String>) -> bool {
        self.moved_by.is_empty() || self.moved_by.iter().any(|field| fields.contains(*field))
    }
}

/// The derived twin of a component: the same fields, each a `Value<T>`.
pub trait Draft {
    /// The component.
    type Of: Component;
    /// The fields by name, in the struct's order.
    fn fields(self) -> Vec<(&'static str, Field)>;
}

/// The name of one output, with its type. `#[derive(Outputs)]` makes one associated constant for each field of an
/// outputs struct: `IamRoleOutputs::ARN`.
pub struct Output<O, T> {
    /// The output's name.
    pub name: &'static str,
    types: PhantomData<fn() -> (O, T)>,
}

impl<O, T> Clone for Output<O, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O, T> Copy for Output<O, T> {}

impl<O, T> Output<O, T> {
    /// For the derive macro.
    pub const fn new(name: &'static str) -> Self {
        Self { name, types: PhantomData }
    }
}

/// What `#[derive(Outputs)]` says of an outputs struct.
pub trait Outputs {
    /// Outputs that an update of the component may change.
    const VOLATILE: &'static [Volatile];
    /// Whether there is an output `id`.
    const HAS_ID: bool;
}

impl Outputs for () {
    const VOLATILE: &'static [Volatile] = &[];
    const HAS_ID: bool = false;
}
