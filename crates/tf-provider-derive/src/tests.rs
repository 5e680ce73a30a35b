//! What each macro says of a struct that is wrong.

use proc_macro2::TokenStream;
use syn::DeriveInput;

use crate::{attributes, choice, component, errors::Errors, outputs};

fn mistakes(expand: fn(&DeriveInput, &mut Errors) -> TokenStream, code: &str) -> Vec<String> {
    let input = syn::parse_str(code).expect("the code of a test can be read");
    let mut errors = Errors::default();
    expand(&input, &mut errors);
    errors.messages()
}

#[test]
fn all_mistakes_of_a_struct_are_told_at_once() {
    let code = r#"
        struct Pool {
            /// Its name.
            #[attribute(requird)]
            name: Value<String>,
            #[attribute(required, default = "1", name = "Size")]
            size: u32,
            /// A note.
            #[attribute(sensitive = "yes", sensitive, sensitive, default = 3)]
            note: Value<String>,
        }
    "#;
    assert_eq!(
        mistakes(attributes::expand, code),
        [
            "a doc comment is missing: it is the documentation users read",
            "unknown flag `requird`; did you mean `required`?",
            "a doc comment is missing: it is the documentation users read",
            "the name of an attribute is made of a-z, 0-9 and _, and starts with a letter",
            "`required` and `default` exclude each other",
            "the type of an attribute is a `Value<…>`, since it may be null or unknown",
            "`sensitive` stands alone, without a value",
            "`sensitive` stands here twice",
            "`default` needs a text: `default = \"…\"`",
        ]
    );
}

#[test]
fn a_default_that_is_no_literal_is_refused() {
    let code = r#"
        /// A pool.
        struct Pool {
            /// Its size.
            #[attribute(default = "{ min = 1, zones = [\"a\", \"b\"], spot = false }")]
            size: Value<Size>,
            /// Its disk.
            #[attribute(default = "by purpose")]
            disk: Value<String>,
        }
    "#;
    assert_eq!(
        mistakes(attributes::expand, code),
        [
            "this is no literal of HCL: expected one of: string literal, integer literal, boolean literal, square brackets, \
             curly braces; leave it out and describe it in the text"
        ]
    );
}

#[test]
fn what_core_would_refuse_in_a_schema_is_refused_where_it_is_written() {
    let code = r"
        /// A status.
        #[attributes(computd)]
        #[attributes(computed)]
        struct Status {
            /// Its state.
            #[attribute(required)]
            state: Value<String>,
            /// Its token.
            #[attribute(write_only, computed)]
            token: Value<String>,
        }
    ";
    assert_eq!(
        mistakes(attributes::expand, code),
        [
            "unknown flag `computd`; did you mean `computed`?",
            "`required` does not go with `#[attributes(computed)]` on the struct",
            "`write_only` and `computed` exclude each other",
        ]
    );
}

#[test]
fn a_choice_is_made_of_different_words() {
    let code = r#"
        enum Effect {
            NoSchedule,
            #[choice(name = "no_schedule")]
            Other,
            Held(u32),
        }
    "#;
    assert_eq!(
        mistakes(choice::expand, code),
        ["a variant of a choice is a word and holds nothing", "two variants share the word \"no_schedule\""]
    );
    assert_eq!(mistakes(choice::expand, "struct Effect;"), ["only an enum can be a choice"]);
    assert_eq!(mistakes(choice::expand, "enum Effect {}"), ["a choice needs something to choose from"]);
}

#[test]
fn a_component_says_what_it_is_and_keeps_its_names() {
    let code = r#"
        #[component(slots, colour = "red")]
        struct Role {
            #[serde(rename = "Name")]
            #[component(identity, merged)]
            name: String,
        }
    "#;
    assert_eq!(
        mistakes(component::expand, code),
        [
            "unknown flag `colour`; known are `kind`, `noun`, `outputs`, `holds_data`, `slots`, `part`",
            "add `#[serde(default)]`: an import knows only the fields of the identity",
            "a field has the same name in the document as in the struct",
            "`identity` and `merged` exclude each other",
            "`slots` needs a field `slot: Option<String>`, which the engine fills",
            "add `#[component(kind = \"…\")]`: the name that ledgers store, such as \"aws_iam_role\"",
            "add `#[component(noun = \"…\")]`: the kind in words for messages, such as \"IAM role\"",
        ]
    );
    assert_eq!(
        mistakes(outputs::expand, "struct Out { #[output(volatil)] arn: String }"),
        ["unknown flag `volatil`; did you mean `volatile`?"]
    );
    assert_eq!(
        mistakes(outputs::expand, "struct Out { #[output(volatile, moved_by = \"max\")] size: u32 }"),
        ["`volatile` and `moved_by` exclude each other"]
    );
    assert_eq!(mistakes(outputs::expand, "struct Out(u32);"), ["the fields need names"]);
}
