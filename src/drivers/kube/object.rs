//! The driver of every kind of Kubernetes object.

use std::{
    collections::{BTreeMap, BTreeSet},
    marker::PhantomData,
    sync::Arc,
};

use converge::{
    Action, Changes, Creation, Cx, Driver, Fault, Finding, Observed, Owner, Ownership, Readiness, Severity, Step,
};
use http::Method;
use serde_json::{Value as Json, json};

use super::{
    address::{Address, Type},
    admission,
    apply::{Claim, Wish, content},
    call::{JSON, Reply, Request},
    connection::{ClusterClient, Clusters},
    coverage, diagnosis, discovery,
    fault::Deed,
    mark,
    meaning::ours,
    preflight,
    reader::{Extent, Reader},
    storage, translate,
};
use crate::components::kube::{Kind, Object, ObjectOutputs};

/// Makes objects of kind `K` as wanted.
pub(super) struct KubeDriver<K> {
    clusters: Arc<Clusters>,
    kind: PhantomData<fn() -> K>,
}

/// What a call needs to know of an object's place.
struct Place<'a> {
    client: Arc<ClusterClient>,
    address: Address<'a>,
}

// === impl KubeDriver ===

impl<K: Kind> KubeDriver<K> {
    pub(super) fn new(clusters: &Arc<Clusters>) -> Self {
        Self { clusters: Arc::clone(clusters), kind: PhantomData }
    }

    /// None where the cluster has no version of the kind that we know.
    async fn place<'s>(&self, spec: &'s Object<K>) -> Result<Option<Place<'s>>, Fault> {
        let of = Type::of::<K>();
        let client = self.clusters.client(spec.cluster.as_deref()).await?;
        let Some(version) = client.discovery.version(&client, of).await? else { return Ok(None) };
        let namespace = spec.namespace.as_deref().filter(|_| of.is_namespaced);
        Ok(Some(Place { client, address: Address { of, version, namespace, name: &spec.name } }))
    }

    async fn place_to_write<'s>(&self, spec: &'s Object<K>) -> Result<Place<'s>, Fault> {
        let words = format!("{} {:?}", K::KIND, spec.name);
        self.place(spec).await?.ok_or_else(|| discovery::not_installed(Type::of::<K>(), &words))
    }
}

impl<K: Kind> Driver<Object<K>> for KubeDriver<K> {
    const ACTIONS: &'static [&'static str] = super::ACTIONS;

    async fn observe(&self, cx: &Cx, spec: &Object<K>) -> Result<Option<Observed<Object<K>>>, Fault> {
        // Without a name the path would be that of all objects.
        if spec.name.is_empty() {
            return Ok(None);
        }
        let Some(place) = self.place(spec).await? else { return Ok(None) };
        let found = Reader::read(cx, &place.client, &place.address, Extent::Whole).await?;
        let Some(mut live) = found else { return Ok(None) };
        translate::up(K::KIND, place.address.version, &mut live);
        let owns_replicas = spec.manifest.pointer("/spec/replicas").is_some();
        let seen = diagnosis::of(&place.client, &place.address, &live, owns_replicas).await?;
        if let Readiness::Waiting(state) = &seen.readiness {
            tracing::info!(object = place.address.words(), state, "waiting");
        }
        Ok(Some(Observed {
            ownership: mark::ownership(&live, spec.adopt.as_deref()),
            readiness: seen.readiness,
            outputs: outputs(&place.address, &live, &seen.pod_reasons),
            spec: self::found(spec, &live),
        }))
    }

    async fn create(&self, _cx: &Cx, spec: &Object<K>, creation: &Creation<'_, Object<K>>) -> Result<(), Fault> {
        let place = self.place_to_write(spec).await?;
        let object = document(&place.address, spec, creation.owner);
        Wish { client: &place.client, address: place.address, object: &object }.create().await
    }

    async fn update(&self, _cx: &Cx, spec: &Object<K>, changes: &Changes<'_, Object<K>>) -> Result<(), Fault> {
        let place = self.place_to_write(spec).await?;
        let object = document(&place.address, spec, changes.owner);
        let applied = changes.applied.as_ref().map(|applied| document(&place.address, applied, changes.owner));
        let claim = match &applied {
            _ if changes.found.ownership == Ownership::Adoptable || spec.adopt.as_deref() == Some("always") => {
                Claim::All
            }
            Some(applied) => Claim::Applied(applied),
            None => Claim::Nothing,
        };
        let wish = Wish { client: &place.client, address: place.address, object: &object };
        if let (Some(live), true) = (changes.found.outputs.replicas, gives_up_replicas(spec, changes)) {
            wish.hand_over_replicas(live).await?;
        }
        wish.update(claim, &gone(&changes.removed_keys)).await
    }

    async fn delete(&self, _cx: &Cx, spec: &Object<K>, found: &Observed<Object<K>>) -> Result<(), Fault> {
        let Some(place) = self.place(spec).await? else { return Ok(()) };
        if is_the_clusters(&place.address) {
            let object = json!({
                "apiVersion": place.address.of.api_version(place.address.version),
                "kind": K::KIND,
                "metadata": { "name": place.address.name, "namespace": place.address.namespace },
            });
            return Wish { client: &place.client, address: place.address, object: &object }.release().await;
        }
        delete(&place.client, &place.address, &found.outputs.uid).await
    }

    async fn preflight(&self, cx: &Cx, spec: &Object<K>, step: &Step) -> Vec<Finding> {
        // What is not known yet is absent here.
        if spec.name.is_empty() || !spec.manifest.is_object() || (K::NAMESPACED && spec.namespace.is_none()) {
            return Vec::new();
        }
        let asked = async {
            let Some(place) = self.place(spec).await.ok()? else {
                return Some(vec![preflight::unknown(Type::of::<K>())]);
            };
            let object = document(&place.address, spec, &Owner(String::new()));
            let wish = Wish { client: &place.client, address: place.address, object: &object };
            let is_new = step.action == Action::Create;
            let (mut findings, of_pods, of_nodes, of_storage) = futures::join!(
                preflight::dry_run(&wish, is_new, spec.adopt.as_deref()),
                admission::findings(&wish, is_new),
                preflight::nodes(cx, &place.client, &wish),
                storage::findings(&wish)
            );
            // Of an object that is not taken there are no pods.
            if findings.iter().all(|finding| finding.severity == Severity::Warning) {
                findings.extend(of_pods);
            }
            findings.extend(of_nodes);
            findings.extend(of_storage);
            if K::KIND == "ClusterQueue" {
                findings.extend(coverage::findings(&place.client, &spec.manifest).await);
            }
            Some(findings)
        };
        Box::pin(preflight::soon(cx, asked)).await.flatten().unwrap_or_default()
    }
}

/// Whether the cluster makes the object again as soon as it is deleted; what is ours of it can only be let go. The
/// tokens of pods that run would not survive a deletion either.
fn is_the_clusters(address: &Address<'_>) -> bool {
    address.of.kind == "ServiceAccount" && address.name == "default"
}

/// Deletes the object that was seen, not one that has taken its place.
pub(super) async fn delete(client: &ClusterClient, address: &Address<'_>, uid: &str) -> Result<(), Fault> {
    let deed =
        Deed { action: format!("kubernetes:delete {}", address.of.plural()), object: address.words(), is_write: true };
    // Gone only when its pods are: what comes after may need the room.
    let propagation = if address.of.kind == "Deployment" { "Foreground" } else { "Background" };
    let mut options = json!({ "apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation });
    if let Some(options) = options.as_object_mut().filter(|_| !uid.is_empty()) {
        options.insert("preconditions".to_owned(), json!({ "uid": uid }));
    }
    let request = Request::new(Method::DELETE, address.path()).with(JSON, options);
    match client.ask(&deed, &request).await? {
        Reply::Refused { http: 404, .. } => Ok(()),
        reply => reply.done(&deed).map(drop),
    }
}

/// The object as it is sent.
fn document<K: Kind>(address: &Address<'_>, spec: &Object<K>, owner: &Owner) -> Json {
    let (mut labels, mut annotations) = (spec.labels.clone(), spec.annotations.clone());
    mark::put(owner, &mut labels, &mut annotations);
    let mut object = json!({
        "apiVersion": address.of.api_version(address.version),
        "kind": address.of.kind,
        "metadata": { "name": address.name, "labels": labels, "annotations": annotations },
    });
    if let (Some(namespace), Some(metadata)) =
        (address.namespace, object.get_mut("metadata").and_then(Json::as_object_mut))
    {
        metadata.insert("namespace".to_owned(), json!(namespace));
    }
    if let (Some(object), Json::Object(content)) = (object.as_object_mut(), content(&spec.manifest)) {
        object.extend(content);
    }
    translate::down(address.of.kind, address.version, &mut object);
    object
}

fn found<K: Kind>(spec: &Object<K>, live: &Json) -> Object<K> {
    let content = content(live);
    // Not all of its fields are visible here.
    let mut found = Object::default();
    found.cluster.clone_from(&spec.cluster);
    found.namespace.clone_from(&spec.namespace);
    found.name.clone_from(&spec.name);
    found.labels = mark::ours(live, "labels", &spec.labels);
    found.annotations = mark::ours(live, "annotations", &spec.annotations);
    found.manifest = if spec.manifest.is_null() { content } else { ours(K::KIND, &spec.manifest, &content) };
    found.adopt.clone_from(&spec.adopt);
    found
}

fn outputs(address: &Address<'_>, live: &Json, pod_reasons: &[String]) -> ObjectOutputs {
    let mut status = live.get("status").cloned().unwrap_or_else(|| json!({}));
    if let Some(status) = status.as_object_mut().filter(|_| !pod_reasons.is_empty()) {
        status.insert("podReasons".to_owned(), json!(pod_reasons));
    }
    ObjectOutputs {
        id: address.id(),
        uid: live.pointer("/metadata/uid").and_then(Json::as_str).unwrap_or_default().to_owned(),
        status,
        replicas: live.pointer("/spec/replicas").and_then(Json::as_i64),
    }
}

fn gives_up_replicas<K: Kind>(spec: &Object<K>, changes: &Changes<'_, Object<K>>) -> bool {
    let has_replicas = |object: &Object<K>| object.manifest.pointer("/spec/replicas").is_some();
    changes.applied.as_ref().is_some_and(has_replicas) && !has_replicas(spec)
}

/// The keys of labels and annotations that were ours and are to go.
pub(super) fn gone(removed: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<(String, String)> {
    let of = |(field, keys): (&String, &BTreeSet<String>)| {
        keys.iter().map(|key| (field.clone(), key.clone())).collect::<Vec<_>>()
    };
    removed.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::kube::{ClusterQueue, Deployment, Labels, OWNER_ANNOTATION, OWNER_LABEL};

    fn spec<K: Kind>(manifest: Json) -> Object<K> {
        let mut spec = Object::default();
        spec.namespace = Some("ml".into());
        spec.name = "x".into();
        spec.labels = Labels::from([("team".to_owned(), "a".to_owned())]);
        spec.manifest = manifest;
        spec
    }

    fn address<'a>(of: Type, version: &'static str, namespace: Option<&'a str>) -> Address<'a> {
        Address { of, version, namespace, name: "x" }
    }

    #[test]
    fn an_object_is_sent_with_its_mark_and_nothing_that_was_read() {
        let spec = spec::<Deployment>(json!({ "spec": { "paused": true }, "status": { "replicas": 3 } }));
        let sent = document(&address(Type::of::<Deployment>(), "v1", Some("ml")), &spec, &Owner("o".into()));
        assert_eq!(sent["apiVersion"], "apps/v1");
        assert_eq!(sent["metadata"]["namespace"], "ml");
        assert_eq!(sent["metadata"]["annotations"][OWNER_ANNOTATION], "o");
        assert!(sent["metadata"]["labels"][OWNER_LABEL].is_string() && sent.get("status").is_none());
        assert_eq!(sent["spec"], json!({ "paused": true }));
    }

    #[test]
    fn an_older_server_is_spoken_to_in_its_words() {
        let spec = spec::<ClusterQueue>(json!({ "spec": { "cohortName": "all" } }));
        let sent = document(&address(Type::of::<ClusterQueue>(), "v1beta1", None), &spec, &Owner("o".into()));
        assert_eq!((&sent["apiVersion"], &sent["spec"]["cohort"]), (&json!("kueue.x-k8s.io/v1beta1"), &json!("all")));
    }

    #[test]
    fn what_is_found_is_what_we_wrote() {
        let spec = spec::<Deployment>(json!({ "spec": { "paused": false } }));
        let live = json!({
            "metadata": { "labels": { "team": "a", "theirs": "b" }, "uid": "u" },
            "spec": { "replicas": 5, "strategy": { "type": "RollingUpdate" } },
            "status": { "replicas": 5 },
        });
        let found = found(&spec, &live);
        assert_eq!(found.manifest, spec.manifest);
        assert_eq!(found.labels.len(), 2, "a key of another is left to the engine to skip");
        let outputs = outputs(&address(Type::of::<Deployment>(), "v1", Some("ml")), &live, &["why".into()]);
        assert_eq!((outputs.id.as_str(), outputs.uid.as_str(), outputs.replicas), ("ml/x", "u", Some(5)));
        assert_eq!(outputs.status, json!({ "replicas": 5, "podReasons": ["why"] }));
    }
}
