//! Policy documents (bucket policies, trust policies) in one normal form, so that two spellings of one meaning are
//! equal.
//!
//! Not a policy evaluator: it removes freedom of spelling and nothing else. The normal form is itself a valid policy
//! of the same meaning, and normalising it again changes nothing.

use serde_json::{Map, Value as Json};

/// The normal form: statements sorted by Sid, a list of one written as its element, lists sorted and without
/// repetitions, account roots written as the account's id, the values of conditions as strings.
pub fn normalize(policy: Json) -> Json {
    let Json::Object(mut policy) = policy else { return policy };
    if let Some(statement) = policy.remove("Statement") {
        let statements = match statement {
            Json::Array(statements) => statements,
            one => vec![one],
        };
        let mut statements: Vec<_> = statements.into_iter().map(statement_form).collect();
        statements.sort_by_cached_key(|statement| (sid(statement), statement.to_string()));
        policy.insert("Statement".to_owned(), Json::Array(statements));
    }
    Json::Object(policy)
}

/// `found` as the API has it, in the words of `wanted` where both mean the same.
pub fn as_spelled(found: Json, wanted: &Json) -> Json {
    let found = normalize(found);
    if found == normalize(wanted.clone()) { wanted.clone() } else { found }
}

fn statement_form(statement: Json) -> Json {
    let Json::Object(statement) = statement else { return statement };
    let fields = statement.into_iter().map(|(field, value)| {
        let value = match field.as_str() {
            "Principal" | "NotPrincipal" => principal(value),
            "Condition" => condition(value),
            _ => list(value, &|item| item),
        };
        (field, value)
    });
    Json::Object(fields.collect())
}

fn principal(value: Json) -> Json {
    let Json::Object(kinds) = value else { return value };
    let kinds: Map<_, _> = kinds.into_iter().map(|(kind, who)| (kind, list(who, &account))).collect();
    if kinds.len() == 1 && kinds.get("AWS").and_then(Json::as_str) == Some("*") {
        return Json::from("*");
    }
    Json::Object(kinds)
}

// The API answers `arn:aws:iam::111122223333:root` to `111122223333`.
fn account(who: Json) -> Json {
    let id = who.as_str().and_then(|arn| {
        let mut parts = arn.splitn(6, ':');
        let head = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let (id, rest) = (parts.next()?, parts.next()?);
        let is_root = head.0 == "arn" && head.2 == "iam" && head.3.is_empty() && rest == "root";
        is_root.then(|| Json::from(id))
    });
    id.unwrap_or(who)
}

fn condition(value: Json) -> Json {
    each(value, &|keys| each(keys, &|values| list(values, &as_string)))
}

fn each(value: Json, form: &dyn Fn(Json) -> Json) -> Json {
    match value {
        Json::Object(map) => Json::Object(map.into_iter().map(|(key, value)| (key, form(value))).collect()),
        other => other,
    }
}

fn as_string(value: Json) -> Json {
    match value {
        Json::Bool(_) | Json::Number(_) => Json::from(value.to_string()),
        other => other,
    }
}

fn list(value: Json, form: &dyn Fn(Json) -> Json) -> Json {
    let Json::Array(items) = value else { return form(value) };
    let mut items: Vec<_> = items.into_iter().map(form).collect();
    items.sort_by_cached_key(Json::to_string);
    items.dedup();
    match <[Json; 1]>::try_from(items) {
        Ok([one]) => one,
        Err(items) => Json::Array(items),
    }
}

fn sid(statement: &Json) -> String {
    statement.get("Sid").and_then(Json::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn two_spellings_of_one_policy_are_equal() {
        let ours = json!({"Version": "2012-10-17", "Statement": [
            {"Sid": "Read", "Effect": "Allow", "Principal": {"AWS": ["111122223333", "arn:aws:iam::1:role/a"]},
             "Action": ["s3:ListBucket", "s3:GetObject"], "Resource": ["arn:aws:s3:::b"]},
            {"Sid": "Deny", "Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": ["b", "a"],
             "Condition": {"Bool": {"aws:SecureTransport": false}}},
        ]});
        let theirs = json!({"Statement": [
            {"Sid": "Deny", "Effect": "Deny", "Principal": {"AWS": "*"}, "Action": ["s3:*"], "Resource": ["a", "b", "a"],
             "Condition": {"Bool": {"aws:SecureTransport": ["false"]}}},
            {"Sid": "Read", "Effect": "Allow",
             "Principal": {"AWS": ["arn:aws:iam::1:role/a", "arn:aws:iam::111122223333:root"]},
             "Action": ["s3:GetObject", "s3:ListBucket"], "Resource": "arn:aws:s3:::b"},
        ], "Version": "2012-10-17"});
        assert_eq!(normalize(ours.clone()), normalize(theirs.clone()));
        assert_eq!(as_spelled(theirs, &ours), ours);
    }

    #[test]
    fn a_different_policy_is_not_respelled() {
        let ours = json!({"Statement": [{"Effect": "Deny", "Action": "s3:*"}]});
        let theirs = json!({"Statement": {"Effect": "Allow", "Action": ["s3:*"]}});
        assert_eq!(as_spelled(theirs, &ours), json!({"Statement": [{"Effect": "Allow", "Action": "s3:*"}]}));
    }

    #[test]
    fn the_normal_form_is_a_fixed_point() {
        let policy = json!({"Statement": {"Principal": {"AWS": ["*"], "Service": ["b", "a"]}, "NotAction": ["x"],
            "Condition": {"StringLike": {"k": ["b", "a", 1]}}}});
        let once = normalize(policy);
        assert_eq!(normalize(once.clone()), once);
        assert_eq!(normalize(json!("text")), json!("text"));
    }
}
