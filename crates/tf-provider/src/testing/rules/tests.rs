//! The rules, one case a line.

use std::{collections::BTreeMap, sync::Arc};

use super::{apply, object, plan, proposed::proposed_new, refined, replace};
use crate::{Attribute, Block, Cty, NestedBlock, Nesting, Refinements, Shape, Type};
use value::AttributePath;

fn attribute(name: &str, flags: &str, shape: Shape) -> Attribute {
    Attribute {
        name: name.to_owned(),
        shape,
        description: String::new(),
        default: None,
        choices: Vec::new(),
        required: false,
        optional: flags.contains('o'),
        computed: flags.contains('c'),
        sensitive: flags.contains('s'),
        write_only: flags.contains('w'),
        deprecated: None,
        replaces: false,
    }
}

fn block(attributes: Vec<Attribute>) -> Block {
    Block { attributes, ..Block::default() }
}

/// A block with one attribute `a`.
fn one(flags: &str, shape: Shape) -> Block {
    block(vec![attribute("a", flags, shape)])
}

fn string() -> Shape {
    Shape::Plain(Type::String)
}

/// Objects with an optional `o` and a computed `c`.
fn nested(nesting: Nesting) -> Shape {
    Shape::Nested(nesting, vec![attribute("o", "o", string()), attribute("c", "c", string())])
}

fn a(value: impl Into<Cty>) -> Cty {
    Cty::object([("a", value.into())])
}

fn oc(o: impl Into<Cty>, c: impl Into<Cty>) -> Cty {
    Cty::object([("o", o.into()), ("c", c.into())])
}

fn map(entries: &[(&str, Cty)]) -> Cty {
    Cty::Map(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

#[test]
fn a_proposal_is_configuration_where_it_is_set_and_prior_where_only_the_provider_may_set_it() {
    let unknown = Cty::unknown;
    let table = [
        ("o", string(), a("old"), a("new"), a("new")),
        ("o", string(), a("old"), a(Cty::Null), a(Cty::Null)),
        ("oc", string(), a("old"), a(Cty::Null), a("old")),
        ("c", string(), a("old"), a(Cty::Null), a("old")),
        ("c", string(), Cty::Null, a(Cty::Null), a(Cty::Null)),
        ("ow", string(), a(Cty::Null), a("secret"), a("secret")),
        ("o", nested(Nesting::Single), a(oc("x", "y")), a(oc("z", Cty::Null)), a(oc("z", "y"))),
        ("o", nested(Nesting::Single), a(oc("x", "y")), a(unknown()), a(unknown())),
        // What the configuration once gave does not come back when it is taken out; what was computed does.
        ("oc", nested(Nesting::Single), a(oc("x", "y")), a(Cty::Null), a(Cty::Null)),
        ("oc", nested(Nesting::Single), a(oc(Cty::Null, "y")), a(Cty::Null), a(oc(Cty::Null, "y"))),
        (
            "o",
            nested(Nesting::List),
            a(Cty::List(vec![oc("x", "1"), oc("y", "2")])),
            a(Cty::List(vec![oc("y", Cty::Null)])),
            a(Cty::List(vec![oc("y", "1")])),
        ),
        (
            "o",
            nested(Nesting::Map),
            a(map(&[("x", oc("x", "1")), ("y", oc("y", "2"))])),
            a(map(&[("y", oc("z", Cty::Null)), ("n", oc("n", Cty::Null))])),
            a(map(&[("y", oc("z", "2")), ("n", oc("n", Cty::Null))])),
        ),
        (
            "o",
            nested(Nesting::Set),
            a(Cty::Set(vec![oc("x", "1"), oc("y", "2")])),
            a(Cty::Set(vec![oc("y", Cty::Null), oc("z", Cty::Null)])),
            a(Cty::Set(vec![oc("y", "2"), oc("z", Cty::Null)])),
        ),
    ];
    for (flags, shape, prior, config, expected) in table {
        let proposed = proposed_new(&one(flags, shape), &prior, &config);
        assert_eq!(proposed, expected, "{flags} {prior:?} {config:?}");
    }
}

#[test]
fn a_proposed_block_is_there_as_configured() {
    let timeouts = NestedBlock { name: "timeouts".into(), block: one("o", string()) };
    let block = Block { blocks: vec![timeouts], ..Block::default() };
    let with = |value: Cty| Cty::object([("timeouts", value)]);
    for config in [Cty::Null, a("1h"), Cty::unknown()] {
        assert_eq!(proposed_new(&block, &with(a("2h")), &with(config.clone())), with(config));
    }
    assert_eq!(proposed_new(&block, &with(a("2h")), &Cty::Null), Cty::Null);
}

#[test]
fn a_plan_follows_the_configuration() {
    let unknown = Cty::unknown;
    let list = |items: &[Cty]| a(Cty::List(items.to_vec()));
    let set = |items: &[Cty]| a(Cty::Set(items.to_vec()));
    let table = [
        // flags, shape, prior, config, planned, whether it is right
        ("o", string(), a("p"), a("c"), a("c"), true),
        ("o", string(), a("p"), a("c"), a("p"), true),
        ("o", string(), a("p"), a("c"), a("x"), false),
        ("o", string(), a("p"), a("c"), a(unknown()), false),
        ("o", string(), a("p"), a("c"), a(Cty::Null), false),
        ("o", string(), a("p"), a(Cty::Null), a("p"), false),
        ("o", string(), a("p"), a(unknown()), a("x"), false),
        ("oc", string(), a("p"), a(unknown()), a("p"), true),
        ("oc", string(), a("p"), a(unknown()), a("x"), false),
        ("oc", string(), a("p"), a(Cty::Null), a("x"), true),
        ("oc", string(), a("p"), a(Cty::Null), a(unknown()), true),
        ("c", string(), a("p"), a(Cty::Null), a("x"), true),
        ("ow", string(), a(Cty::Null), a("s"), a(Cty::Null), true),
        ("ow", string(), a(Cty::Null), a("s"), a("s"), false),
        ("o", nested(Nesting::Single), a(Cty::Null), a(oc("x", Cty::Null)), a(oc("x", unknown())), true),
        ("o", nested(Nesting::Single), a(Cty::Null), a(oc("x", Cty::Null)), a(oc("y", unknown())), false),
        ("o", nested(Nesting::Single), a(Cty::Null), a(oc("x", Cty::Null)), a(unknown()), false),
        ("o", nested(Nesting::List), a(Cty::Null), list(&[oc("x", Cty::Null)]), list(&[oc("x", "1")]), true),
        ("o", nested(Nesting::List), a(Cty::Null), list(&[oc("x", Cty::Null)]), list(&[]), false),
        ("o", nested(Nesting::Set), a(Cty::Null), set(&[oc("x", Cty::Null)]), set(&[oc("x", unknown())]), true),
        ("o", nested(Nesting::Set), a(Cty::Null), set(&[oc("x", Cty::Null)]), set(&[]), false),
        (
            "o",
            nested(Nesting::Map),
            a(Cty::Null),
            a(map(&[("k", oc("x", Cty::Null))])),
            a(map(&[("k", oc("x", "1"))])),
            true,
        ),
        (
            "o",
            nested(Nesting::Map),
            a(Cty::Null),
            a(map(&[("k", oc("x", Cty::Null))])),
            a(map(&[("other", oc("x", "1"))])),
            false,
        ),
    ];
    for (flags, shape, prior, config, planned, right) in table {
        let change = plan::Change { prior: &prior, config: &config, planned: &planned };
        let complaints = plan::check(&one(flags, shape), change);
        assert_eq!(complaints.is_empty(), right, "{flags} {prior:?} {config:?} {planned:?}: {complaints:?}");
    }
}

#[test]
fn a_complaint_shows_no_secret() {
    let (prior, config, planned) = (a(Cty::Null), a("old-secret"), a("new-secret"));
    let block = one("os", string());
    let change = plan::Change { prior: &prior, config: &config, planned: &planned };
    let complaints = [plan::check(&block, change), apply::check(&block, &config, &planned)].concat();
    assert_eq!(complaints.len(), 2);
    assert!(complaints.iter().all(|text| !text.contains("-secret")), "{complaints:?}");
}

#[test]
fn a_result_is_what_was_planned() {
    let set = |items: &[&str]| a(Cty::Set(items.iter().map(|item| Cty::from(*item)).collect()));
    let unknown_set = |items: &[&str]| {
        let known = items.iter().map(|item| Cty::from(*item));
        a(Cty::Set(known.chain([Cty::unknown()]).collect()))
    };
    let list = |items: &[&str]| a(Cty::List(items.iter().map(|item| Cty::from(*item)).collect()));
    let any = |ty: Type, value: Cty| a(Cty::Dynamic(Box::new(ty), Box::new(value)));
    let table = [
        (a("x"), a("x"), true),
        (a("x"), a("y"), false),
        (a("x"), a(Cty::Null), false),
        (a(Cty::Null), a("x"), false),
        (a(Cty::unknown()), a(Cty::Null), true),
        (Cty::Null, a("x"), false),
        (a("x"), Cty::Null, false),
        (list(&["x"]), list(&["x", "y"]), false),
        (set(&["x", "y"]), set(&["y", "x"]), true),
        (set(&["x"]), set(&["y"]), false),
        (unknown_set(&["x"]), set(&["x", "y"]), true),
        (unknown_set(&["x"]), set(&["x"]), true),
        (unknown_set(&["x"]), set(&["x", "y", "z"]), false),
        (any(Type::Dynamic, Cty::unknown()), any(Type::String, "x".into()), true),
        (any(Type::String, "x".into()), any(Type::String, "y".into()), false),
        (a(oc(Cty::unknown(), "c")), a(oc("x", "c")), true),
        (a(oc(Cty::unknown(), "c")), a(oc("x", "d")), false),
    ];
    for (planned, actual, right) in table {
        let complaints = apply::check(&one("o", string()), &planned, &actual);
        assert_eq!(complaints.is_empty(), right, "{planned:?} {actual:?}: {complaints:?}");
    }
}

#[test]
fn what_was_promised_of_an_unknown_value_is_kept() {
    let not_null = b"\x81\x01\xc2".as_slice();
    let prefix = b"\x81\x02\xa3id-".as_slice();
    let at_least_two = b"\x81\x03\x92\x02\xc3".as_slice();
    let below_two_and_a_half = b"\x81\x04\x92\xa32.5\xc2".as_slice();
    let one_element = b"\x82\x05\x01\x06\x01".as_slice();
    let table = [
        (not_null, Cty::from("x"), true),
        (not_null, Cty::Null, false),
        (prefix, Cty::from("id-1"), true),
        (prefix, Cty::from("1"), false),
        (at_least_two, Cty::from(2), true),
        (at_least_two, Cty::from(1), false),
        (below_two_and_a_half, Cty::from(2), true),
        (below_two_and_a_half, Cty::from(3), false),
        (one_element, Cty::List(vec![Cty::Null]), true),
        (one_element, Cty::Set(Vec::new()), false),
        (b"\xff".as_slice(), Cty::Null, true),
        (b"\xff\xff".as_slice(), Cty::Null, false),
    ];
    for (payload, value, kept) in table {
        let complaints = refined::check(&Refinements(Arc::from(payload)), &value);
        assert_eq!(complaints.is_empty(), kept, "{payload:x?} {value:?}: {complaints:?}");
    }
}

#[test]
fn a_replacement_needs_a_change_of_something_that_is_there() {
    let path = AttributePath::new("a");
    let deeper = path.attribute("o");
    let table = [
        (&path, a("x"), a("x"), 0, 0),
        (&path, a("x"), a("y"), 1, 0),
        (&path, a("x"), a(Cty::unknown()), 1, 0),
        (&deeper, a(Cty::Null), a(oc("x", "y")), 1, 0),
        (&deeper, a(Cty::Null), a(Cty::Null), 0, 1),
    ];
    for (path, prior, planned, effective, complaints) in table {
        let found = replace::effective(std::slice::from_ref(path), &prior, &planned);
        assert_eq!((found.0.len(), found.1.len()), (effective, complaints), "{path} {prior:?} {planned:?}");
    }
}

#[test]
fn what_is_not_known_is_found_and_saved_as_null() {
    let value = a(Cty::List(vec![oc("x", Cty::unknown()), Cty::Map(BTreeMap::new())]));
    assert_eq!(object::unknown(&value), ["a[0].c: is not known"]);
    assert!(object::unknown_as_null(value).is_wholly_known());
}
