//! What the pages say.

use super::{attributes::schema_sections, page::prose, sentences};
use crate::{Attribute, Block, Nesting, Shape, Type};

fn attribute(name: &str, shape: Shape) -> Attribute {
    Attribute {
        name: name.to_owned(),
        shape,
        description: format!("Text of {name}."),
        default: None,
        choices: Vec::new(),
        required: false,
        optional: true,
        computed: false,
        sensitive: false,
        write_only: false,
        deprecated: None,
        replaces: false,
    }
}

fn sections(attributes: Vec<Attribute>) -> String {
    schema_sections(&Block { attributes, ..Block::default() })
}

#[test]
fn an_attribute_tells_its_type_choices_default_and_what_changing_it_does() {
    let mode = Attribute {
        choices: vec!["a".into(), "b".into()],
        default: Some("\"a\"".into()),
        replaces: true,
        ..attribute("mode", Shape::Plain(Type::String))
    };
    assert_eq!(
        sections(vec![mode]),
        "## Schema\n\n### Optional\n\n- `mode` (string) Text of mode.\n  One of `a`, `b`.\n  Default: `\"a\"`.\n  \
         **Changing it replaces the resource.**\n"
    );
}

#[test]
fn nested_objects_have_sections_that_are_linked_by_their_anchor() {
    let inner = attribute("inner", Shape::Nested(Nesting::List, vec![attribute("leaf", Shape::Plain(Type::Bool))]));
    let text = sections(vec![attribute("outer", Shape::Nested(Nesting::Single, vec![inner]))]);
    for link in ["schema-outer", "schema-outer-inner"] {
        assert!(text.contains(&format!("(#{link})")), "{text}");
        assert!(text.contains(&format!("<a id=\"{link}\"></a>")), "{text}");
    }
    assert!(text.contains("- `leaf` (bool) Text of leaf."), "{text}");
}

#[test]
fn attributes_are_grouped_by_who_sets_them() {
    let plain = |name| attribute(name, Shape::Plain(Type::String));
    let required = Attribute { required: true, optional: false, ..plain("r") };
    let computed = Attribute { computed: true, optional: false, ..plain("c") };
    let text = sections(vec![computed, plain("o"), required]);
    let place = |needle: &str| text.find(needle).expect("the heading is there");
    assert!(place("### Required") < place("- `r`") && place("- `r`") < place("### Optional"), "{text}");
    assert!(place("- `o`") < place("### Read-only") && place("### Read-only") < place("- `c`"), "{text}");
}

#[test]
fn each_sentence_has_its_line() {
    assert_eq!(
        sentences("One thing, e.g. `x`. Another\nthing. `y` too."),
        ["One thing, e.g. `x`.", "Another thing.", "`y` too."]
    );
    assert_eq!(prose("A\n`b`. C."), "A `b`.\nC.");
    assert_eq!(prose("A. B.\n\n- a list. Stays\n- as it is"), "A.\nB.\n\n- a list. Stays\n- as it is");
}
