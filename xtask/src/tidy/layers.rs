//! The layers inside src/: a module imports only modules below it, and only the crates that its layer may know.
//!
//! Borders between crates are held by Cargo. Compare the table with ARCHITECTURE.md.

use super::{File, Findings};

/// A layer: what it is, the modules of this crate that it may use, and the crates it must not know.
struct Layer {
    module: &'static str,
    may_use: &'static [&'static str],
    must_not_know: &'static [&'static str],
}

/// Clouds, effects and the wire: what a pure layer must not know.
const EFFECTS: &[&str] = &["aws_", "tokio", "futures", "tracing", "tonic"];

const LAYERS: &[Layer] = &[
    Layer { module: "catalog", may_use: &[], must_not_know: &["aws_", "tokio", "tf_provider", "converge"] },
    Layer { module: "settings", may_use: &[], must_not_know: EFFECTS },
    Layer { module: "components", may_use: &["catalog"], must_not_know: EFFECTS },
    Layer { module: "neighbours", may_use: &[], must_not_know: EFFECTS },
    Layer { module: "composite", may_use: &["neighbours", "settings"], must_not_know: EFFECTS },
    Layer {
        module: "resources",
        may_use: &["catalog", "components", "composite", "neighbours", "settings"],
        must_not_know: EFFECTS,
    },
    Layer { module: "drivers", may_use: &["catalog", "components"], must_not_know: &["tf_provider::"] },
    Layer { module: "bridge", may_use: &["composite", "neighbours", "settings"], must_not_know: &["aws_"] },
    Layer { module: "functions", may_use: &["catalog"], must_not_know: EFFECTS },
    Layer { module: "data_sources", may_use: &["catalog"], must_not_know: &["aws_", "tokio"] },
];

pub(super) fn imports_only_lower(file: &File, findings: &mut Findings) {
    let Some(layer) = file.is_rust().then(|| layer_of(&file.path)).flatten() else { return };
    let code = without_comments(&file.text);
    for module in own_modules(&code) {
        if module != layer.module && !layer.may_use.contains(&module.as_str()) && is_module(&module) {
            findings.errors.push(format!("{}: `{}` must not use `{module}`", file.path, layer.module));
        }
    }
    for name in layer.must_not_know {
        if code.lines().any(|line| line.trim_start().starts_with("use ") && line.contains(name)) {
            findings.errors.push(format!("{}: `{}` must not know `{name}`", file.path, layer.module));
        }
    }
}

fn layer_of(path: &str) -> Option<&'static Layer> {
    let rest = path.strip_prefix("src/")?;
    // Tests may stand on anything.
    if rest.ends_with("tests.rs") || rest.ends_with("testing.rs") {
        return None;
    }
    let name = rest.split(['/', '.']).next()?;
    LAYERS.iter().find(|layer| layer.module == name)
}

fn is_module(name: &str) -> bool {
    name == "provider" || LAYERS.iter().any(|layer| layer.module == name)
}

// The modules of this crate that are named: `crate::a::b`, and each of `crate::{a::b, c}`.
fn own_modules(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (place, prefix) in code.match_indices("crate::") {
        let rest = &code[place + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(first_names(group)),
            None => found.extend(name(rest)),
        }
    }
    found
}

// The first name of each item of a group, up to the brace that closes it.
fn first_names(group: &str) -> Vec<String> {
    let (mut depth, mut item, mut items) = (0, String::new(), Vec::new());
    for character in group.chars() {
        match character {
            '}' if depth == 0 => break,
            ',' if depth == 0 => items.push(std::mem::take(&mut item)),
            _ => {
                depth += i32::from(character == '{') - i32::from(character == '}');
                item.push(character);
            }
        }
    }
    items.push(item);
    items.iter().filter_map(|item| name(item.trim())).collect()
}

fn name(text: &str) -> Option<String> {
    let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

// Code before the tests, without comments.
fn without_comments(text: &str) -> String {
    let code =
        text.lines().take_while(|line| *line != "#[cfg(test)]").filter(|line| !line.trim_start().starts_with("//"));
    code.collect::<Vec<_>>().join("\n")
}
