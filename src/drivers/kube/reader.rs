//! Reads objects. Those of one kind that are asked for together are answered by one list of what is ours; what the
//! list does not have is asked for by name before it is called missing: its label may have been taken off, or lists
//! be forbidden.
//!
//! Not a cache: an answer comes from a call that began after its question.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use converge::{Cx, Fault};
use serde_json::Value as Json;

use super::{
    address::{Address, Type, encode},
    call::{JSON, METADATA, METADATA_LIST, Reply, Request},
    connection::ClusterClient,
    fault::Deed,
};
use crate::{components::kube::OWNER_LABEL, drivers::gather::Gather};

/// Questions that are being gathered, by kind and version.
#[derive(Default)]
pub(super) struct Reader {
    objects: Gathers<Json>,
    /// By path.
    pages: Gathers<Arc<Json>>,
}

type Gathers<A> = Mutex<HashMap<String, Arc<Gather<A>>>>;

/// How much of an object is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    Whole,
    /// Its metadata, so that its content never leaves the server.
    Metadata,
}

/// As many names are gathered into one list.
const MOST: usize = 1000;
/// As many objects come in one page.
const PAGE: usize = 500;

// === impl Reader ===

impl Reader {
    /// The object; none where it is absent, be it that its kind is.
    pub(super) async fn read(
        cx: &Cx,
        client: &Arc<ClusterClient>,
        address: &Address<'_>,
        extent: Extent,
    ) -> Result<Option<Json>, Fault> {
        let (of, version) = (address.of, address.version);
        let gather = gather(&client.reader.objects, of.list_path(version, None));
        let asking = Arc::clone(client);
        let listed =
            gather.ask(cx, &address.id(), move |ids| list(Arc::clone(&asking), of, version, ids, extent)).await?;
        match listed {
            Some(object) => Ok(Some(object)),
            None => get(client, address, extent).await,
        }
    }

    /// What is at a path, whatever it is, in one answer for all who ask at once; none where there is none for us.
    pub(super) async fn page(cx: &Cx, client: &Arc<ClusterClient>, path: &str) -> Option<Arc<Json>> {
        let asking = Arc::clone(client);
        let answers = move |paths: BTreeSet<String>| {
            let client = Arc::clone(&asking);
            async move {
                let mut answers = BTreeMap::new();
                for path in paths {
                    let deed = Deed { action: "kubernetes:list".to_owned(), object: path.clone(), is_write: false };
                    let answer = client.done(&deed, &Request::get(path.clone())).await;
                    answers.extend(answer.ok().map(|answer| (path, Arc::new(answer.body))));
                }
                Ok(answers)
            }
        };
        gather(&client.reader.pages, path.to_owned()).ask(cx, path, answers).await.ok().flatten()
    }
}

fn gather<A: Clone + Send + 'static>(known: &Gathers<A>, path: String) -> Arc<Gather<A>> {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(known.entry(path).or_insert_with(|| Arc::new(Gather::new(MOST))))
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reader")
    }
}

/// One object by its name.
pub(super) async fn get(client: &ClusterClient, address: &Address<'_>, extent: Extent) -> Result<Option<Json>, Fault> {
    let deed =
        Deed { action: format!("kubernetes:get {}", address.of.plural()), object: address.words(), is_write: false };
    let accept = if extent == Extent::Whole { JSON } else { METADATA };
    match client.ask(&deed, &Request::get(address.path()).accepting(accept)).await? {
        Reply::Refused { http: 404, .. } => {
            client.discovery.forget(address.of.group).await;
            Ok(None)
        }
        reply => Ok(Some(reply.done(&deed)?.body)),
    }
}

// The objects of ours among which those asked for should be, by id.
async fn list(
    client: Arc<ClusterClient>,
    of: Type,
    version: &'static str,
    ids: BTreeSet<String>,
    extent: Extent,
) -> Result<BTreeMap<String, Json>, Fault> {
    let mut found = BTreeMap::new();
    // One is got by its name, for less.
    if ids.len() < 2 {
        return Ok(found);
    }
    let namespaces: BTreeSet<_> = ids.iter().filter_map(|id| Some(id.split_once('/')?.0)).collect();
    let one = match namespaces.iter().next() {
        Some(namespace) if namespaces.len() == 1 => Some(*namespace),
        _ => None,
    };
    let is_allowed = pages(&client, of, of.list_path(version, one), extent, &mut found).await?;
    if !is_allowed && namespaces.len() > 1 {
        for namespace in namespaces {
            pages(&client, of, of.list_path(version, Some(namespace)), extent, &mut found).await?;
        }
    }
    found.retain(|id, _| ids.contains(id));
    Ok(found)
}

// False where listing is not allowed here.
async fn pages(
    client: &ClusterClient,
    of: Type,
    path: String,
    extent: Extent,
    found: &mut BTreeMap<String, Json>,
) -> Result<bool, Fault> {
    let plural = of.plural();
    let deed = Deed { action: format!("kubernetes:list {plural}"), object: plural, is_write: false };
    let accept = if extent == Extent::Whole { JSON } else { METADATA_LIST };
    let first = format!("{path}?labelSelector={}&limit={PAGE}", encode(OWNER_LABEL));
    let mut next = first.clone();
    loop {
        let answer = match client.ask(&deed, &Request::get(next).accepting(accept)).await? {
            Reply::Refused { http: 403, .. } => return Ok(false),
            // The kind is not there, or a page took too long to be asked for: the rest is asked for by name.
            Reply::Refused { http: 404 | 410, .. } => return Ok(true),
            reply => reply.done(&deed)?,
        };
        let mut page = answer.body;
        let items = page.get_mut("items").map(Json::take);
        for item in items.as_ref().and_then(Json::as_array).into_iter().flatten() {
            found.insert(id_of(item), item.clone());
        }
        match page.pointer("/metadata/continue").and_then(Json::as_str) {
            Some(token) if !token.is_empty() => next = format!("{first}&continue={}", encode(token)),
            _ => return Ok(true),
        }
    }
}

/// `namespace/name`, or the name of what has no namespace.
pub(super) fn id_of(object: &Json) -> String {
    let text = |pointer| object.pointer(pointer).and_then(Json::as_str);
    let name = text("/metadata/name").unwrap_or_default();
    text("/metadata/namespace").map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        components::kube::Service,
        drivers::kube::testing::{Asked, Server},
    };

    fn service(id: &str) -> Json {
        let (namespace, name) = id.split_once('/').unwrap();
        json!({ "metadata": { "namespace": namespace, "name": name } })
    }

    // Which of the ids asked for together are found, and the calls that it took.
    async fn check(
        ids: &[&str],
        answer: impl Fn(&Asked) -> (u16, Json) + Send + Sync + 'static,
        found: &[bool],
        lines: &[&str],
    ) {
        let server = Server::start(answer).await;
        let (client, cx) = (ClusterClient::of(&server.url, None).await, Cx::default());
        let reads = ids.iter().map(|id| {
            let (client, cx) = (&client, &cx);
            async move {
                let (namespace, name) = id.split_once('/').unwrap();
                let of = Type::of::<Service>();
                let address = Address { of, version: "v1", namespace: Some(namespace), name };
                Reader::read(cx, client, &address, Extent::Whole).await.unwrap().is_some()
            }
        });
        assert_eq!(futures::future::join_all(reads).await, found);
        let mut asked = server.lines();
        asked.sort();
        assert_eq!(asked, lines);
    }

    #[tokio::test]
    async fn a_page_that_many_ask_for_at_once_is_got_once() {
        let answer = |asked: &Asked| {
            let is_nodes = asked.line.starts_with("GET /api/v1/nodes?");
            if is_nodes { (200, json!({ "items": [] })) } else { (403, json!({ "reason": "Forbidden" })) }
        };
        let server = Server::start(answer).await;
        let (client, cx) = (ClusterClient::of(&server.url, None).await, Cx::default());
        let page = |path| Reader::page(&cx, &client, path);
        let nodes = "/api/v1/nodes?limit=500";
        let (one, two, hidden) = tokio::join!(page(nodes), page(nodes), page("/api/v1/pods"));
        assert!(one.is_some() && one == two && hidden.is_none());
        let mut lines = server.lines();
        lines.sort();
        assert_eq!(lines, ["GET /api/v1/nodes", "GET /api/v1/pods"]);
        assert!(page(nodes).await.is_some());
        assert_eq!(server.lines().len(), 3, "a later question is a call of its own");
    }

    fn absent() -> (u16, Json) {
        (404, json!({ "reason": "NotFound", "details": { "name": "x" } }))
    }

    #[tokio::test]
    async fn one_object_is_got_by_its_name() {
        check(&["a/x"], |_| (200, service("a/x")), &[true], &["GET /api/v1/namespaces/a/services/x"]).await;
    }

    #[tokio::test]
    async fn objects_asked_for_together_are_one_list() {
        let all = |_: &Asked| (200, json!({ "items": [service("a/x"), service("a/y"), service("a/z")] }));
        check(&["a/x", "a/y"], all, &[true, true], &["GET /api/v1/namespaces/a/services"]).await;
        let all = |_: &Asked| (200, json!({ "items": [service("a/x"), service("b/x")] }));
        check(&["a/x", "b/x"], all, &[true, true], &["GET /api/v1/services"]).await;
    }

    #[tokio::test]
    async fn what_the_list_lacks_is_asked_for_by_name() {
        let answer = |asked: &Asked| match asked.line.as_str() {
            "GET /api/v1/namespaces/a/services/stripped" => (200, service("a/stripped")),
            "GET /api/v1/namespaces/a/services/gone" => absent(),
            _ => (200, json!({ "items": [service("a/x")] })),
        };
        let lines = [
            "GET /api/v1/namespaces/a/services",
            "GET /api/v1/namespaces/a/services/gone",
            "GET /api/v1/namespaces/a/services/stripped",
        ];
        check(&["a/x", "a/stripped", "a/gone"], answer, &[true, true, false], &lines).await;
    }

    #[tokio::test]
    async fn where_lists_are_forbidden_names_do() {
        let answer = |asked: &Asked| match asked.line.as_str() {
            line if line.contains("/services/") => (200, service("a/x")),
            _ => (403, json!({ "reason": "Forbidden" })),
        };
        let lines = [
            "GET /api/v1/namespaces/a/services",
            "GET /api/v1/namespaces/a/services/x",
            "GET /api/v1/namespaces/b/services",
            "GET /api/v1/namespaces/b/services/x",
            "GET /api/v1/services",
        ];
        check(&["a/x", "b/x"], answer, &[true, true], &lines).await;
    }

    #[tokio::test]
    async fn a_long_list_is_read_page_by_page() {
        let answer = |asked: &Asked| {
            if asked.line.contains("continue=more") {
                (200, json!({ "items": [service("a/y")] }))
            } else {
                (200, json!({ "metadata": { "continue": "more" }, "items": [service("a/x")] }))
            }
        };
        let lines = ["GET /api/v1/namespaces/a/services", "GET /api/v1/namespaces/a/services"];
        check(&["a/x", "a/y"], answer, &[true, true], &lines).await;
    }
}
