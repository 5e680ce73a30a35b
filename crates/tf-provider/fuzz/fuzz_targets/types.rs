//! The types that the bytes are read as.

use tf_provider::{Type, codec::type_from_json};

const TYPES: &[&str] = &[
    r#""dynamic""#,
    r#""number""#,
    r#"["list","string"]"#,
    r#"["map",["set","number"]]"#,
    r#"["tuple",["bool","dynamic",["list","dynamic"]]]"#,
    r#"["object",{"a":"string","b":["object",{"c":["set",["object",{"d":"number"}]]}],"e":"dynamic"}]"#,
];

/// The first byte picks the type of the rest.
pub fn pick(data: &[u8]) -> Option<(Type, &[u8])> {
    let (first, rest) = data.split_first()?;
    let json = TYPES[usize::from(*first) % TYPES.len()];
    Some((type_from_json(json.as_bytes()).expect("the table holds types"), rest))
}
