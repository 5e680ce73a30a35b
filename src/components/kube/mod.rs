//! Child objects in a Kubernetes cluster.
//!
//! All kinds are one component, [`Object`], and one driver: an object is its manifest, of which only what we wrote is
//! ours. What tells kinds apart is a marker type that implements [`Kind`].

mod coverage;
mod kinds;
mod network_enforcement;
mod quantity;
mod secret;

use std::{collections::BTreeMap, marker::PhantomData};

use converge::{Component, Draft, KindFacts, Volatile};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tf_provider_derive::Outputs;
use value::{Field, Value};

pub use coverage::uncovered;
pub use kinds::*;
pub use network_enforcement::{NetworkEnforcement, NetworkEnforcementDraft};
pub use quantity::Quantity;
pub use secret::{TokenSecret, TokenSecretDraft, TokenSecretOutputs};

/// Labels and annotations.
pub type Labels = BTreeMap<String, String>;

/// The annotation that carries the ownership mark. An annotation, since a mark may be longer than a label's value.
pub const OWNER_ANNOTATION: &str = "mlplat.io/owner";
/// The label on every object of ours, with a short hash of the owner: lists by owner ask for it.
pub const OWNER_LABEL: &str = "mlplat.io/owner-hash";
/// The name under which we apply.
pub const FIELD_MANAGER: &str = "terraform-provider-mlplat";

/// A kind of object.
pub trait Kind: Send + Sync + 'static {
    /// Facts for the engine: `kubernetes_deployment`, "Deployment".
    const FACTS: KindFacts;
    /// API group; empty for the core group.
    const GROUP: &'static str;
    /// Versions that this provider can write, the one preferred first. Discovery tells which the server serves.
    const VERSIONS: &'static [&'static str];
    /// Kind as in a manifest.
    const KIND: &'static str;
    /// Whether it lives in a namespace.
    const NAMESPACED: bool;
}

/// An object of kind `K`: how to reach its cluster, its name, and what we want of it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default, bound = "")]
pub struct Object<K> {
    /// Name of the EKS cluster; absent: the provider's `kubernetes` block.
    pub cluster: Option<String>,
    /// Namespace; absent for kinds outside namespaces.
    pub namespace: Option<String>,
    /// Name.
    pub name: String,
    /// Labels; those of others are left alone.
    pub labels: Labels,
    /// Annotations; those of others are left alone.
    pub annotations: Labels,
    /// The manifest but for apiVersion, kind and metadata, in the words of the kind's first version. What the driver
    /// observes here are the fields we wrote: where the server's value means the same it is in our spelling.
    pub manifest: Json,
    /// What to do with an object that is there and carries no mark of ours: `never` | `if_unmanaged` | `always`.
    pub adopt: Option<String>,
    #[serde(skip)]
    kind: PhantomData<fn() -> K>,
}

/// The draft of an [`Object`].
#[derive(Debug)]
pub struct ObjectDraft<K> {
    /// See [`Object::cluster`].
    pub cluster: Value<String>,
    /// See [`Object::namespace`].
    pub namespace: Value<String>,
    /// See [`Object::name`].
    pub name: Value<String>,
    /// See [`Object::labels`].
    pub labels: Value<Labels>,
    /// See [`Object::annotations`].
    pub annotations: Value<Labels>,
    /// See [`Object::manifest`].
    pub manifest: Value<Json>,
    /// See [`Object::adopt`].
    pub adopt: Value<String>,
    kind: PhantomData<fn() -> K>,
}

/// What the API server tells of an object.
#[derive(Outputs, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ObjectOutputs {
    /// `namespace/name`, or the name.
    pub id: String,
    /// UID.
    pub uid: String,
    /// The object's status, as it is.
    #[output(volatile)]
    pub status: Json,
    /// The live number of replicas wanted, where the kind has one.
    #[output(volatile)]
    pub replicas: Option<i64>,
}

const VOLATILE: &[Volatile] = &[Volatile::by_any("status"), Volatile::by_any("replicas")];

/// The facts of a kind of Kubernetes object, of which nothing special is true.
pub const fn facts(kind: &'static str, noun: &'static str) -> KindFacts {
    KindFacts {
        identity: &["cluster", "namespace", "name"],
        place: &["cluster"],
        fixed: &["cluster", "namespace", "name"],
        local: &["adopt"],
        merged: &["labels", "annotations"],
        volatile: VOLATILE,
        has_id: true,
        mends: true,
        ..KindFacts::plain(kind, noun)
    }
}

// === impl Object ===

impl<K: Kind> Component for Object<K> {
    const FACTS: KindFacts = K::FACTS;
    type Outputs = ObjectOutputs;
}

impl<K> Default for Object<K> {
    fn default() -> Self {
        Self {
            cluster: None,
            namespace: None,
            name: String::new(),
            labels: Labels::new(),
            annotations: Labels::new(),
            manifest: Json::Null,
            adopt: None,
            kind: PhantomData,
        }
    }
}

// === impl ObjectDraft ===

impl<K: Kind> Draft for ObjectDraft<K> {
    type Of = Object<K>;

    fn fields(self) -> Vec<(&'static str, Field)> {
        vec![
            ("cluster", self.cluster.into_field()),
            ("namespace", self.namespace.into_field()),
            ("name", self.name.into_field()),
            ("labels", self.labels.into_field()),
            ("annotations", self.annotations.into_field()),
            ("manifest", self.manifest.into_field()),
            ("adopt", self.adopt.into_field()),
        ]
    }
}

impl<K> Default for ObjectDraft<K> {
    fn default() -> Self {
        Self {
            cluster: Value::null(),
            namespace: Value::null(),
            name: Value::null(),
            labels: Value::null(),
            annotations: Value::null(),
            manifest: Value::null(),
            adopt: Value::null(),
            kind: PhantomData,
        }
    }
}
