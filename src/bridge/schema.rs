//! The parts of a schema that every resource has: `id`, `components`, `timeouts`, and its identity.

use std::{collections::BTreeMap, time::Duration};

use converge::{Action, Document, Entry, Health, Ledger, Node, Plan};
use serde_json::Value as Json;
use tf_provider::{
    Attribute, Block, Cty, IdentityAttribute, IdentitySchema, NestedBlock, Nesting, Schema, Shape, Type,
};
use value::is_pending;

use crate::composite::{Composite, Timeouts};

/// The attribute that shows the child objects.
pub const COMPONENTS: &str = "components";
pub(super) const ID: &str = "id";
pub(super) const TIMEOUTS: &str = "timeouts";

pub(super) fn schema<C: Composite>() -> Schema {
    let mut attributes = C::attributes();
    attributes.push(computed(ID, Shape::Plain(Type::String), "Id of the resource, the same as its import id."));
    attributes.push(components());
    Schema {
        version: C::VERSION,
        block: Block {
            description: C::description().to_owned(),
            attributes,
            blocks: vec![NestedBlock { name: TIMEOUTS.to_owned(), block: timeouts(&C::TIMEOUTS) }],
            deprecated: None,
        },
    }
}

pub(super) fn identity<C: Composite>() -> IdentitySchema {
    let described: BTreeMap<_, _> = C::attributes().into_iter().map(|a| (a.name, a.description)).collect();
    let attribute = |name: &&'static str| IdentityAttribute {
        name: (*name).to_owned(),
        ty: Type::String,
        description: described.get(*name).cloned().unwrap_or_default(),
        required: true,
    };
    IdentitySchema { version: 0, attributes: C::IDENTITY.iter().map(attribute).collect() }
}

/// The components as recorded; what is retired shows as `<key>@old`.
pub(super) fn recorded(ledger: &Ledger) -> Cty {
    let entries = ledger
        .entries
        .iter()
        .map(|(key, entry)| (key.clone(), component(&entry.kind, id(entry).into(), entry.health.to_string())));
    let retired = ledger.retired.iter().map(|(key, entry)| {
        (format!("{key}@old"), component(&entry.kind, id(entry).into(), "to be deleted".to_owned()))
    });
    Cty::Map(entries.chain(retired).collect())
}

/// The components after a plan: all ready.
pub(super) fn planned(plan: &Plan, ledger: &Ledger) -> Cty {
    let wanted = plan.graph.nodes().iter().map(|(key, node)| {
        let known = plan.steps.get(key).zip(ledger.entries.get(key)).and_then(|(step, entry)| match step.action {
            Action::Keep | Action::Update => Some(id(entry)),
            Action::Create | Action::Replace => id_again(node, entry),
            Action::Roll | Action::Delete => None,
        });
        let id = known.map_or_else(Cty::unknown, Cty::from);
        (key.clone(), component(node.facts.kind, id, Health::Ready.to_string()))
    });
    Cty::Map(wanted.collect())
}

// The API's own id where it has one, else the identifying values.
fn id(entry: &Entry) -> String {
    let own = entry.outputs.get("id").and_then(Json::as_str);
    own.map_or_else(|| named_as(&entry.document), str::to_owned)
}

fn named_as(document: &Document) -> String {
    let identifying = ["cluster", "namespace", "bucket", "autoscaling_group", "name"];
    let parts = identifying.iter().filter_map(|name| document.get(*name).and_then(Json::as_str));
    parts.collect::<Vec<_>>().join("/")
}

// The id of an object that is made again, where it follows from the name: the API has none, or it was the name
// before. Of a kind with two names it is not known which one it is going to be.
fn id_again(node: &Node, entry: &Entry) -> Option<String> {
    let (facts, wanted) = (&node.facts, node.document());
    let is_named = !facts.identity.iter().filter_map(|name| wanted.get(*name)).any(is_pending);
    if facts.slots || entry.kind != facts.kind || !is_named {
        return None;
    }
    if !facts.has_id {
        return Some(named_as(&wanted)).filter(|id| !id.is_empty());
    }
    let own = entry.outputs.get("id")?.as_str()?;
    let names = |document: &Document| -> Vec<String> {
        let fields = ["namespace", "name"].map(|name| document.get(name).and_then(Json::as_str));
        let fields: Vec<&str> = fields.into_iter().flatten().collect();
        vec![fields.last().copied().unwrap_or_default().to_owned(), fields.join("/")]
    };
    let at = names(&entry.document).iter().position(|name| name == own)?;
    names(&wanted).into_iter().nth(at)
}

fn component(kind: &str, id: Cty, state: String) -> Cty {
    Cty::object([("kind", Cty::from(kind)), ("id", id), ("state", Cty::from(state))])
}

fn components() -> Attribute {
    let part = |name, text| computed(name, Shape::Plain(Type::String), text);
    let parts = vec![
        part("kind", "Kind of the object, such as `aws_iam_role`."),
        part("id", "Id of the object in its API."),
        part("state", "`ready`, or what is wrong with it: `missing`, `drifted: max is 9, want 3`, `broken: …`."),
    ];
    computed(
        COMPONENTS,
        Shape::Nested(Nesting::Map, parts),
        "The objects behind this resource, by key. An object that has drifted or is missing shows here in the plan, \
         and apply repairs just that one.",
    )
}

fn timeouts(defaults: &Timeouts) -> Block {
    let one = |name: &str, deed: &str, default: Duration| Attribute {
        optional: true,
        computed: false,
        default: Some(format!("\"{}\"", humantime::format_duration(default))),
        ..computed(name, Shape::Plain(Type::String), &format!("Longest time that {deed} may take, such as `\"45m\"`."))
    };
    Block {
        description: "How long the provider waits.".to_owned(),
        attributes: vec![
            one("create", "creating", defaults.create),
            one("update", "updating", defaults.update),
            one("delete", "deleting", defaults.delete),
        ],
        ..Block::default()
    }
}

fn computed(name: &str, shape: Shape, description: &str) -> Attribute {
    Attribute {
        name: name.to_owned(),
        shape,
        description: description.to_owned(),
        default: None,
        choices: Vec::new(),
        required: false,
        optional: false,
        computed: true,
        sensitive: false,
        write_only: false,
        deprecated: None,
        replaces: false,
    }
}
