//! The derive macros, as a resource uses them.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::collections::{BTreeMap, BTreeSet};

use tf_provider::{AttributeType, Attributes, Choice, Cty, Decoder, Nesting, Number, Shape, Type, decode, encode};
use value::{AttributePath, Value};

/// Size range
/// of a pool.
///
/// Two lines.
#[derive(Attributes, Clone, Debug, Default, PartialEq)]
struct Size {
    /// Fewest nodes.
    #[attribute(default = "0")]
    min: Value<u32>,
    /// Most nodes.
    #[attribute(required, replaces)]
    max: Value<u32>,
}

/// A taint.
#[derive(Attributes, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Taint {
    /// Its key.
    #[attribute(required)]
    key: Value<String>,
    /// What it does.
    #[attribute(required)]
    effect: Value<Effect>,
}

/// What a taint does.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Effect {
    /// Keeps pods away.
    #[choice(also = "NO_SCHEDULE", also = "NoSchedule")]
    NoSchedule,
    /// Throws pods out.
    #[choice(name = "evict")]
    NoExecute,
}

/// A pool.
#[derive(Attributes, Clone, Debug, Default, PartialEq)]
struct Pool {
    /// Its name.
    #[attribute(required, name = "type")]
    kind: Value<String>,
    /// Its size.
    size: Value<Size>,
    /// Taints in order.
    taints: Value<Vec<Taint>>,
    /// Taints in no order.
    taint_set: Value<BTreeSet<Taint>>,
    /// Sizes by name.
    sizes: Value<BTreeMap<String, Size>>,
    /// Zones.
    #[attribute(optional, computed, deprecated = "Use subnets.")]
    zones: Value<BTreeSet<String>>,
    /// Port.
    port: Value<u16>,
    /// Effects.
    effects: Value<Vec<Effect>>,
    /// A secret.
    #[attribute(sensitive, write_only)]
    token: Value<String>,
}

/// What is known only later.
#[derive(Attributes, Clone, Debug, Default, PartialEq)]
#[attributes(computed)]
struct Status {
    /// Its state.
    state: Value<String>,
    /// Its note.
    #[attribute(optional)]
    note: Value<String>,
}

fn pool(attributes: impl IntoIterator<Item = (&'static str, Cty)>) -> (Pool, Vec<(String, String)>) {
    read(attributes, Decoder::default())
}

fn read(
    attributes: impl IntoIterator<Item = (&'static str, Cty)>,
    mut decoder: Decoder,
) -> (Pool, Vec<(String, String)>) {
    let pool = Pool::decode_object(&Cty::object(attributes), &AttributePath::root(), &mut decoder);
    let told = decoder.diagnostics.iter().map(|told| (told.path.to_string(), told.detail.clone())).collect();
    (pool, told)
}

fn number(text: &str) -> Cty {
    Cty::Number(Number::parse(text).unwrap())
}

#[test]
fn flags_and_doc_comments_become_the_schema() {
    let attributes = Pool::attributes();
    let named = |name: &str| attributes.iter().find(|attribute| attribute.name == name).unwrap().clone();
    let order: Vec<_> = attributes.iter().map(|attribute| attribute.name.as_str()).collect();
    assert_eq!(order, ["type", "size", "taints", "taint_set", "sizes", "zones", "port", "effects", "token"]);
    assert_eq!(Size::description(), "Size range\nof a pool.\n\nTwo lines.");
    assert!(named("type").required && !named("type").optional);
    assert!(named("size").optional && !named("size").computed);
    assert!(named("zones").optional && named("zones").computed);
    assert_eq!(named("zones").deprecated.as_deref(), Some("Use subnets."));
    assert!(named("token").sensitive && named("token").write_only);
    assert_eq!(named("effects").choices, ["no_schedule", "evict"]);
    let Shape::Nested(Nesting::Single, size) = named("size").shape else { panic!("size is an object") };
    assert_eq!(size.first().unwrap().default.as_deref(), Some("0"));
    assert!(size.first().unwrap().computed && size.last().unwrap().replaces);
    assert_eq!(size.first().unwrap().description, "Fewest nodes.");
    assert!(matches!(named("taints").shape, Shape::Nested(Nesting::List, _)));
    assert!(matches!(named("taint_set").shape, Shape::Nested(Nesting::Set, _)));
    assert!(matches!(named("sizes").shape, Shape::Nested(Nesting::Map, _)));
    assert_eq!(named("zones").shape, Shape::Plain(Type::set(Type::String)));
    let status = Status::attributes();
    assert!(status.iter().all(|attribute| attribute.computed && !attribute.required));
    assert_eq!(status.iter().map(|attribute| attribute.optional).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn values_know_where_they_came_from() {
    let taint = || Cty::object([("key", "a".into()), ("effect", "NoSchedule".into())]);
    let (pool, told) = pool([
        ("size", Cty::object([("min", Cty::Null), ("max", number("3"))])),
        ("taints", Cty::List(vec![taint()])),
        ("taint_set", Cty::Set(vec![taint()])),
        ("sizes", Cty::Map(BTreeMap::from([("a b".to_owned(), Cty::object([("max", number("1"))]))]))),
    ]);
    assert_eq!(told, []);
    let max = &pool.size.get().unwrap().max;
    assert_eq!((max.get(), max.path().to_string()), (Some(&3), "size.max".to_owned()));
    assert_eq!(pool.size.get().unwrap().min.path().to_string(), "size.min");
    let effect = &pool.taints.get().unwrap().first().unwrap().effect;
    assert_eq!((effect.get(), effect.path().to_string()), (Some(&Effect::NoSchedule), "taints[0].effect".to_owned()));
    assert_eq!(effect.clone().into_field().mirrors.len(), 1);
    assert_eq!(pool.sizes.get().unwrap()["a b"].max.path().to_string(), r#"sizes["a b"].max"#);
    assert_eq!(pool.port.path().to_string(), "port");
}

#[test]
fn what_stands_in_a_set_is_told_of_the_set_and_mirrors_nothing() {
    let wrong = Cty::object([("key", "a".into()), ("effect", "no".into())]);
    let (pool, told) = pool([("taint_set", Cty::Set(vec![wrong]))]);
    let key = pool.taint_set.get().unwrap().first().unwrap().key.clone();
    assert_eq!(key.path().to_string(), "taint_set");
    assert!(key.into_field().mirrors.is_empty());
    assert_eq!(told.first().unwrap().0, "taint_set");
    assert!(told.first().unwrap().1.starts_with("An element of `taint_set` is \"no\""), "{told:?}");
}

#[test]
fn an_unknown_part_without_a_value_of_its_own_makes_the_whole_pending() {
    let (pool, told) = pool([
        ("zones", Cty::Set(vec!["a".into(), Cty::unknown()])),
        ("taints", Cty::List(vec![Cty::object([("key", Cty::unknown()), ("effect", "evict".into())])])),
        ("sizes", Cty::unknown()),
    ]);
    assert_eq!(told, []);
    assert!(pool.zones.is_pending());
    assert!(pool.sizes.is_pending());
    assert!(pool.taints.get().unwrap().first().unwrap().key.is_pending());
}

#[test]
fn every_complaint_is_made_at_its_place() {
    let (pool, told) = pool([
        ("type", Cty::Bool(true)),
        ("port", number("70000")),
        ("size", Cty::object([("min", number("1.5")), ("max", number("-1"))])),
        ("zones", Cty::Set(vec![Cty::Null])),
        ("effects", Cty::List(vec!["evict".into(), "no_shedule".into(), Cty::Null])),
    ]);
    let told: Vec<_> = told.iter().map(|(path, detail)| format!("{path}: {}", detail.replace("\n\n", " "))).collect();
    assert_eq!(
        told,
        [
            "type: `type` is not text, which its type asks for. This is a mistake in the provider: please report it \
             with this text.",
            "size.min: `size.min` is 1.5, which is no whole number. Give a whole number from 0 to 4294967295.",
            "size.max: `size.max` is -1, which is out of range. Give a whole number from 0 to 4294967295.",
            "zones: An element of `zones` is null, and an element has to have a value. Leave the element out.",
            "port: `port` is 70000, which is out of range. Give a whole number from 0 to 65535.",
            "effects[1]: `effects[1]` is \"no_shedule\", which is none of \"no_schedule\", \"evict\". Did you mean \
             \"no_schedule\"?",
            "effects[2]: `effects[2]` is null, and an element has to have a value. Leave the element out.",
        ]
    );
    assert!(pool.port.is_null() && pool.effects.is_null() && pool.zones.is_null());
    assert!(pool.size.is_known());
}

#[test]
fn an_import_opens_nested_objects_and_nothing_else() {
    let (closed, _) = pool([]);
    assert!(closed.size.is_null() && closed.taints.is_null());
    let (open, told) = read([], Decoder { open_nulls: true, ..Decoder::default() });
    assert_eq!(told, []);
    assert!(open.size.get().unwrap().max.is_null());
    assert_eq!(open.size.get().unwrap().max.path().to_string(), "size.max");
    assert!(open.taints.is_null() && open.port.is_null());
}

#[test]
fn an_encoded_struct_is_read_back_the_same() {
    let before = Pool {
        kind: "gpu".into(),
        size: Value::known(Size { min: 0.into(), max: Value::pending(value::Pending::Config) }),
        taint_set: Value::known(BTreeSet::from([Taint { key: "a".into(), effect: Effect::NoExecute.into() }])),
        zones: Value::known(BTreeSet::from(["a".to_owned()])),
        effects: Value::known(vec![Effect::NoSchedule]),
        port: 80.into(),
        ..Pool::default()
    };
    let object = before.encode_object();
    assert_eq!(object.get("type"), &Cty::from("gpu"));
    assert_eq!(object.get("token"), &Cty::Null);
    assert_eq!(object.get("size").get("max"), &Cty::unknown());
    assert_eq!(object.get("effects"), &Cty::List(vec!["no_schedule".into()]));
    let after = Pool::decode_object(&object, &AttributePath::root(), &mut Decoder::default());
    assert_eq!(after, before);
}

#[test]
fn a_choice_is_the_same_word_everywhere() {
    assert_eq!(Effect::NoExecute.to_string(), "evict");
    assert_eq!(serde_json::to_string(&Effect::NoSchedule).unwrap(), "\"no_schedule\"");
    assert_eq!(serde_json::from_str::<Effect>("\"NO_SCHEDULE\"").unwrap(), Effect::NoSchedule);
    assert_eq!(
        serde_json::from_str::<Effect>("\"x\"").unwrap_err().to_string(),
        "invalid value: string \"x\", expected \"no_schedule\" or \"evict\""
    );
}

#[test]
fn numbers_keep_their_value() {
    let path = AttributePath::new("x");
    let mut decoder = Decoder::default();
    assert_eq!(decode::<u64>(&number("18446744073709551615"), &path, &mut decoder).get(), Some(&u64::MAX));
    assert_eq!(decode::<i64>(&number("-9223372036854775808"), &path, &mut decoder).get(), Some(&i64::MIN));
    assert_eq!(decode::<f64>(&number("0.1"), &path, &mut decoder).get(), Some(&0.1));
    assert_eq!(encode(&Value::known(0.1)), number("0.1"));
    assert!(decode::<f64>(&number("1e400"), &path, &mut decoder).is_null());
    assert!(decode::<i64>(&number("9223372036854775808"), &path, &mut decoder).is_null());
    assert_eq!(decoder.diagnostics.iter().count(), 2);
    assert_eq!(<Vec<Number> as AttributeType>::shape(), Shape::Plain(Type::list(Type::Number)));
}

#[test]
fn a_value_that_carries_its_type_is_read_like_any_other() {
    let cty = Cty::Dynamic(Box::new(Type::String), Box::new("a".into()));
    assert_eq!(decode::<String>(&cty, &AttributePath::new("x"), &mut Decoder::default()).get(), Some(&"a".to_owned()));
}

/// Network of a tenant.
#[derive(Attributes, Clone, Debug, Default, PartialEq)]
struct Network {
    /// Whether it is closed.
    #[attribute(default = "true")]
    closed: Value<bool>,
    /// Who may enter.
    #[attribute(default = "[\"10.0.0.0/8\"]")]
    cidrs: Value<BTreeSet<String>>,
    /// Its sizes.
    #[attribute(default = "{}")]
    sizes: Value<BTreeMap<String, Size>>,
    /// The size of all.
    #[attribute(default = "{ max = 3 }")]
    size: Value<Size>,
    /// The size of one more.
    more: Value<Size>,
    /// What happens.
    #[attribute(default = "\"evict\"")]
    effect: Value<Effect>,
}

fn filled(object: &Cty) -> Network {
    let mut network: Value<Network> = decode(object, &AttributePath::default(), &mut Decoder::default());
    network.get_mut().unwrap().fill_defaults();
    network.get().unwrap().clone()
}

#[test]
fn what_was_left_out_gets_its_default() {
    let network = filled(&Cty::object::<&str>([]));
    assert_eq!(network.closed.get(), Some(&true));
    assert_eq!(network.cidrs.get(), Some(&BTreeSet::from(["10.0.0.0/8".to_owned()])));
    assert_eq!(network.sizes.get(), Some(&BTreeMap::new()));
    let size = network.size.get().unwrap();
    // The literal says one attribute, and the struct's own default the other.
    assert_eq!((size.min.get(), size.max.get()), (Some(&0), Some(&3)));
    assert_eq!(size.max.path(), AttributePath::default().attribute("size").attribute("max"));
    assert!(network.more.is_null());
    assert_eq!(network.effect.get(), Some(&Effect::NoExecute));
}

#[test]
fn what_was_set_or_is_not_known_yet_keeps_its_value_and_only_what_is_left_out_within_is_filled_in() {
    let number = |number: i64| Cty::Number(Number::from(number));
    let given = Cty::object([("max", number(9))]);
    let network = filled(&Cty::object([
        ("closed", Cty::unknown()),
        ("size", given.clone()),
        ("sizes", Cty::Map(BTreeMap::from([("a".to_owned(), given.clone())]))),
        ("more", given),
    ]));
    assert!(network.closed.is_pending());
    let sizes = [network.size.get().unwrap(), &network.sizes.get().unwrap()["a"], network.more.get().unwrap()];
    assert!(sizes.iter().all(|size| (size.min.get(), size.max.get()) == (Some(&0), Some(&9))));
}
