//! Asks at plan time whether the storage classes are there from which pods get their volumes: of one that is not there
//! no volume comes, and pods wait for it without end.

use converge::{Finding, Place, Severity};
use serde_json::Value as Json;

use super::{
    address::encode,
    apply::Wish,
    call::{Reply, Request},
    fault::Deed,
    nodes::SPEC,
    place::MANIFEST,
};

const CLASS: &str = "ephemeral/volumeClaimTemplate/spec/storageClassName";

/// What is found of the volumes that pods of the object bring. Silence where the classes cannot be looked at.
pub(super) async fn findings(wish: &Wish<'_>) -> Vec<Finding> {
    let volumes = wish.object.pointer(&format!("{SPEC}/volumes")).and_then(Json::as_array).into_iter().flatten();
    let mut findings = Vec::new();
    for (at, volume) in volumes.enumerate() {
        let Some(class) = volume.pointer(&format!("/{CLASS}")).and_then(Json::as_str) else { continue };
        if !class.is_empty() && is_missing(wish, class).await {
            findings.push(missing(class, Place::within(MANIFEST, format!("{SPEC}/volumes/{at}/{CLASS}"))));
        }
    }
    findings
}

async fn is_missing(wish: &Wish<'_>, class: &str) -> bool {
    let deed =
        Deed { action: "kubernetes:get storageclasses".to_owned(), object: wish.address.words(), is_write: false };
    let path = format!("/apis/storage.k8s.io/v1/storageclasses/{}", encode(class));
    let reply = wish.client.ask(&deed, &Request::get(path)).await;
    matches!(reply, Ok(Reply::Refused { status, .. }) if status.reason == "NotFound")
}

fn missing(class: &str, at: Place) -> Finding {
    Finding {
        severity: Severity::Warning,
        at,
        summary: format!("The storage class {class:?} is not there"),
        detail:
            "Pods would wait for a volume of it.\n\nName one that is there (`kubectl get storageclasses`), or make it \
                 first. Nothing is amiss where it is made in this run."
                .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        components::kube::Deployment,
        drivers::kube::{
            address::{Address, Type},
            connection::ClusterClient,
            testing::{Asked, Server},
        },
    };

    async fn ask(class: &str, answer: (u16, Json)) -> (Vec<Finding>, usize) {
        let server = Server::start(move |_: &Asked| answer.clone()).await;
        let client = ClusterClient::of(&server.url, None).await;
        let volume = json!({ "ephemeral": { "volumeClaimTemplate": { "spec": { "storageClassName": class } } } });
        let volumes = json!([{ "emptyDir": {} }, volume]);
        let object = json!({ "spec": { "template": { "spec": { "volumes": volumes } } } });
        let address = Address { of: Type::of::<Deployment>(), version: "v1", namespace: Some("ml"), name: "llm" };
        let found = findings(&Wish { client: &client, address, object: &object }).await;
        (found, server.lines().len())
    }

    #[tokio::test]
    async fn a_storage_class_that_is_not_there_is_told_at_its_place() {
        let absent = || (404, json!({ "reason": "NotFound", "details": { "name": "gp9" } }));
        let (found, _) = ask("gp9", absent()).await;
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(finding.at, Place::within(MANIFEST, format!("{SPEC}/volumes/1/{CLASS}")));
        assert!(finding.summary.contains("gp9") && finding.severity == Severity::Warning);
        assert_eq!(ask("gp3", (200, json!({}))).await, (Vec::new(), 1));
        assert_eq!(ask("gp3", (403, json!({ "reason": "Forbidden" }))).await, (Vec::new(), 1));
        assert_eq!(ask("", absent()).await, (Vec::new(), 0), "the default class is the server's to choose");
    }
}
