//! Asks at plan time whether LimitRanges make pods request what a Kueue queue has no quota of.

use std::collections::BTreeSet;

use converge::{Finding, Severity};
use futures::{FutureExt, StreamExt, stream};
use serde_json::Value as Json;

use super::{
    address::encode,
    call::{Reply, Request},
    connection::ClusterClient,
    fault::Deed,
};
use crate::components::kube::uncovered;

/// The label that every namespace has, with its name.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";
/// How many namespaces are asked about at once.
const AT_ONCE: usize = 8;

/// What is found in the namespaces that a ClusterQueue names. Silence where they cannot be looked at.
pub(super) async fn findings(client: &ClusterClient, queue: &Json) -> Vec<Finding> {
    let covered = covered(queue);
    let looks: Vec<_> = namespaces(queue).into_iter().map(|namespace| requested(client, namespace).boxed()).collect();
    let found: Vec<_> = stream::iter(looks).buffered(AT_ONCE).collect().await;
    let told =
        found.into_iter().flatten().filter_map(|(namespace, requested)| uncovered(namespace, &requested, &covered));
    told.map(|(summary, detail)| Finding { severity: Severity::Warning, at: "manifest".into(), summary, detail })
        .collect()
}

fn covered(queue: &Json) -> BTreeSet<&str> {
    let groups = queue.pointer("/spec/resourceGroups").and_then(Json::as_array).into_iter().flatten();
    let resources = groups.filter_map(|group| group.get("coveredResources")?.as_array()).flatten();
    resources.filter_map(Json::as_str).collect()
}

fn namespaces(queue: &Json) -> Vec<&str> {
    let requirements = queue.pointer("/spec/namespaceSelector/matchExpressions").and_then(Json::as_array);
    let by_name = |requirement: &&Json| {
        let text = |field| requirement.get(field).and_then(Json::as_str);
        (text("key"), text("operator")) == (Some(NAMESPACE_NAME), Some("In"))
    };
    let values = requirements.into_iter().flatten().filter(by_name).filter_map(|one| one.get("values")?.as_array());
    values.flatten().filter_map(Json::as_str).collect()
}

async fn requested<'n>(client: &ClusterClient, namespace: &'n str) -> Option<(&'n str, BTreeSet<String>)> {
    let path = format!("/api/v1/namespaces/{}/limitranges", encode(namespace));
    let deed = Deed {
        action: "kubernetes:list limitranges".to_owned(),
        object: format!("Namespace {namespace:?}"),
        is_write: false,
    };
    match client.ask(&deed, &Request::get(path)).await {
        Ok(Reply::Done(answer)) => Some((namespace, added(&answer.body))),
        Ok(Reply::Refused { .. }) | Err(_) => None,
    }
}

// The API server has filled in what follows from maxima.
fn added(ranges: &Json) -> BTreeSet<String> {
    let ranges = ranges.get("items").and_then(Json::as_array).into_iter().flatten();
    let limits = ranges.filter_map(|range| range.pointer("/spec/limits")?.as_array()).flatten();
    let of_containers = limits.filter(|limit| limit.get("type").and_then(Json::as_str) == Some("Container"));
    let amounts = of_containers.flat_map(|limit| [limit.get("default"), limit.get("defaultRequest")]);
    amounts.flatten().filter_map(Json::as_object).flat_map(|amounts| amounts.keys().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::drivers::kube::testing::{Asked, Server};

    fn queue(names: &Json) -> Json {
        json!({ "spec": {
            "namespaceSelector": { "matchExpressions": [{ "key": NAMESPACE_NAME, "operator": "In", "values": names }] },
            "resourceGroups": [{ "coveredResources": ["nvidia.com/gpu"] }],
        } })
    }

    #[tokio::test]
    async fn limit_ranges_of_the_named_namespaces_are_looked_at_where_they_may_be() {
        let answer = |asked: &Asked| match asked.line.as_str() {
            "GET /api/v1/namespaces/a/limitranges" => (
                200,
                json!({ "items": [{ "spec": { "limits": [
                    { "type": "Container", "default": { "ephemeral-storage": "1Gi" }, "max": { "nvidia.com/gpu": "1" } },
                    { "type": "Pod", "max": { "example.com/dongle": "1" } },
                ] } }] }),
            ),
            "GET /api/v1/namespaces/b/limitranges" => (403, json!({ "reason": "Forbidden" })),
            _ => (200, json!({ "items": [] })),
        };
        let server = Server::start(answer).await;
        let client = ClusterClient::of(&server.url, None).await;
        let found = findings(&client, &queue(&json!(["a", "b", "c"]))).await;
        let told: Vec<_> = found.iter().map(|finding| (finding.severity, finding.summary.as_str())).collect();
        let summary = "Containers in namespace \"a\" get \"ephemeral-storage\" from a LimitRange, and the queue has \
                       no quota of it";
        assert_eq!(told, [(Severity::Warning, summary)]);
        assert_eq!(server.lines().len(), 3);
    }
}
