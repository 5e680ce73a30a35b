//! Components, drafts and outputs, as an `expand` uses them.

use std::collections::{BTreeMap, BTreeSet};

use converge::{Component as _, Graph, KindFacts, Volatile};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tf_provider_derive::{Component, Outputs};
use value::{AttributePath, Value};

/// A role.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "role", noun = "IAM role", outputs = RoleOutputs, holds_data)]
pub struct Role {
    /// Its name.
    #[component(identity)]
    pub name: String,
    /// Its path.
    #[component(fixed)]
    pub path: Option<String>,
    /// Its tags.
    #[component(merged)]
    pub tags: BTreeMap<String, String>,
    /// Its size.
    #[component(initial)]
    pub r#type: u32,
    /// How to wait for it.
    #[component(local)]
    pub patience: u32,
}

/// What the API tells of a role.
#[derive(Outputs, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoleOutputs {
    /// Its ARN.
    pub arn: String,
    /// Its last use.
    #[output(volatile)]
    pub last_used: Option<String>,
    /// How long a session may last.
    #[output(moved_by = "path, tags")]
    pub session_seconds: u32,
}

/// A pool, of which nothing is told.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "pool", noun = "pool", slots, part)]
pub struct Pool {
    /// Its name.
    #[component(identity)]
    pub name: String,
    /// Which of two.
    pub slot: Option<String>,
    /// The role it runs as.
    pub role: Option<String>,
}

const VOLATILE: &[Volatile] =
    &[Volatile::by_any("last_used"), Volatile { output: "session_seconds", moved_by: &["path", "tags"] }];

#[test]
fn facts_are_those_written_on_the_struct() {
    assert_eq!(
        Role::FACTS,
        KindFacts {
            identity: &["name"],
            fixed: &["name", "path"],
            initial: &["type"],
            local: &["patience"],
            merged: &["tags"],
            volatile: VOLATILE,
            holds_data: true,
            ..KindFacts::plain("role", "IAM role")
        }
    );
    let pool = KindFacts {
        identity: &["name"],
        fixed: &["name"],
        slots: true,
        part: true,
        ..KindFacts::plain("pool", "pool")
    };
    assert_eq!(Pool::FACTS, pool);
}

#[test]
fn a_draft_has_the_fields_of_the_component_and_an_output_makes_an_edge() {
    let mut graph = Graph::default();
    let role = graph.add(
        "role",
        RoleDraft { path: Value::from("/").at(&AttributePath::new("path")), r#type: 3.into(), ..RoleDraft::default() },
    );
    graph.add("pool", PoolDraft { role: role.output(RoleOutputs::ARN), ..PoolDraft::default() });
    let used: Value<String> = role.output(RoleOutputs::LAST_USED);
    assert!(used.is_pending());
    let node = graph.nodes().get("role").expect("it was added");
    assert_eq!(json!(node.document()), json!({ "path": "/", "type": 3 }));
    assert_eq!(node.origin("path"), Some(&AttributePath::new("path")));
    assert_eq!(graph.nodes().get("pool").map(|node| node.after.clone()), Some(BTreeSet::from(["role".to_owned()])));
}
