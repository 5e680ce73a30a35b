//! Field paths as the API server writes them in conflicts: `.spec.containers[name="main"].image`.

use serde_json::Value as Json;

/// Whether a document has the field. Keys may hold dots and stand in the path without quotes, so the longest key
/// that fits is taken.
pub(super) fn holds(document: &Json, path: &str) -> bool {
    match document {
        _ if path.is_empty() => true,
        Json::Object(map) => {
            let Some(rest) = path.strip_prefix('.') else { return false };
            let fits =
                |key: &str| rest.strip_prefix(key).filter(|tail| tail.is_empty() || tail.starts_with(['.', '[']));
            map.iter().filter_map(|(key, value)| Some((value, fits(key)?))).any(|(value, tail)| holds(value, tail))
        }
        Json::Array(items) => {
            let Some((selector, tail)) = selector(path) else { return false };
            items.iter().enumerate().any(|(index, item)| selects(selector, index, item) && holds(item, tail))
        }
        _ => false,
    }
}

// `[…]` and what comes behind it; brackets within quotes do not count.
fn selector(path: &str) -> Option<(&str, &str)> {
    let inner = path.strip_prefix('[')?;
    let (mut is_quoted, mut is_escaped) = (false, false);
    let end = inner.find(|c: char| {
        let is_end = c == ']' && !is_quoted;
        is_quoted ^= c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    })?;
    let (selector, rest) = inner.split_at_checked(end)?;
    Some((selector, rest.strip_prefix(']')?))
}

// `name="main",protocol="TCP"` by keys, `="Deny"` by value, `3` by position.
fn selects(selector: &str, index: usize, item: &Json) -> bool {
    if let Some(value) = selector.strip_prefix('=') {
        return says(item, value);
    }
    if let Ok(position) = selector.parse::<usize>() {
        return position == index;
    }
    // A key that the element does not say has its default: never told apart by that alone.
    selector.split(',').all(|pair| match pair.split_once('=') {
        Some((key, value)) => item.get(key).is_none_or(|found| says(found, value)),
        None => false,
    })
}

// Values stand in paths as JSON.
fn says(found: &Json, value: &str) -> bool {
    serde_json::from_str::<Json>(value).is_ok_and(|value| value == *found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_found_by_name_key_value_and_position() {
        let document = json!({
            "metadata": { "labels": { "app.kubernetes.io/name": "x" } },
            "spec": {
                "replicas": 2,
                "containers": [{ "name": "main", "image": "i", "ports": [{ "containerPort": 80 }] }],
                "validationActions": ["Deny"],
                "rules": [{ "host": "a" }],
            },
        });
        for path in [
            ".spec.replicas",
            ".metadata.labels.app.kubernetes.io/name",
            r#".spec.containers[name="main"].image"#,
            r#".spec.containers[name="main"].ports[containerPort=80,protocol="TCP"].containerPort"#,
            r#".spec.validationActions[="Deny"]"#,
            ".spec.rules[0].host",
        ] {
            assert!(holds(&document, path), "{path}");
        }
        for path in [
            ".spec.paused",
            ".metadata.labels.app.kubernetes.io/version",
            r#".spec.containers[name="side]car"].image"#,
            r#".spec.containers[name="main"].command"#,
            r#".spec.validationActions[="Warn"]"#,
            ".spec.rules[1].host",
            "spec",
            ".spec.containers[name",
        ] {
            assert!(!holds(&document, path), "{path}");
        }
    }
}
