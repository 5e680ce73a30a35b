//! Calls to the API server that a test makes behind terraform's back: objects, drift by another field manager, waits.
//!
//! Not a Kubernetes library: targets are written out by the test, objects are JSON. They go past the fault proxy.

use crate::http::{self, Reply};
use anyhow::{Context, Result, bail};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    pki_types::{CertificateDer, ServerName},
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use super::certificates::Identity;

/// How often a wait looks.
const PAUSE: Duration = Duration::from_millis(50);
/// How long a server that is busy starting something is asked again.
const BUSY_LIMIT: Duration = Duration::from_secs(20);

/// One user at one API server.
#[derive(Clone, Debug)]
pub struct Client {
    host: String,
    tls: Arc<ClientConfig>,
    token: Option<String>,
    kinds: Arc<Mutex<BTreeMap<String, Kind>>>,
}

/// How a kind is addressed.
#[derive(Clone, Debug)]
struct Kind {
    plural: String,
    namespaced: bool,
}

/// How the client proves who it is.
pub(super) enum Credential<'c> {
    Certificate(&'c Identity),
    Token(&'c str),
}

impl Client {
    /// A client of `https://host:port`.
    pub(super) fn new(endpoint: &str, ca: CertificateDer<'static>, credential: &Credential<'_>) -> Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(ca)?;
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots);
        let (tls, token) = match credential {
            Credential::Certificate(identity) => {
                (config.with_client_auth_cert(vec![identity.certificate()], identity.key())?, None)
            }
            Credential::Token(token) => (config.with_no_client_auth(), Some((*token).to_owned())),
        };
        let host = endpoint.strip_prefix("https://").context("only https:// is spoken here")?.to_owned();
        Ok(Self { host, tls: Arc::new(tls), token, kinds: Arc::default() })
    }

    /// The same user with another token.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    /// Any request; the reply is returned whatever its status.
    pub fn send(&self, method: &str, target: &str, kind: &str, body: &[u8]) -> Result<Reply> {
        let name = ServerName::try_from("localhost")?;
        let connection = ClientConnection::new(Arc::clone(&self.tls), name)?;
        let mut stream = StreamOwned::new(connection, http::connect(&self.host)?);
        let bearer = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let mut headers = vec![("Content-Type", kind), ("Accept", "application/json")];
        headers.extend(bearer.as_deref().map(|bearer| ("Authorization", bearer)));
        http::exchange(&mut stream, (method, self.host.as_str(), target), &headers, body)
            .with_context(|| format!("{method} {target}"))
    }

    /// An object or a list.
    pub fn get(&self, target: &str) -> Result<Value> {
        self.call("GET", target, JSON, "")
    }

    /// An object or a list, none where there is none.
    pub fn find(&self, target: &str) -> Result<Option<Value>> {
        let reply = self.patiently("GET", target, JSON, "")?;
        if reply.status == 404 { Ok(None) } else { checked(reply, "GET", target).map(Some) }
    }

    /// The items of a list.
    pub fn list(&self, target: &str) -> Result<Vec<Value>> {
        match self.get(target)?["items"].take() {
            Value::Array(items) => Ok(items),
            _ => bail!("{target} is no list"),
        }
    }

    /// Create an object; what the server made of it.
    pub fn create(&self, object: &Value) -> Result<Value> {
        let target = self.collection(object)?;
        self.call("POST", &target, JSON, &object.to_string())
    }

    /// Server-side apply as this field manager, with force.
    pub fn apply(&self, manager: &str, object: &Value) -> Result<Value> {
        let target = format!("{}?fieldManager={manager}&force=true", self.target(object)?);
        self.call("PATCH", &target, "application/apply-patch+yaml", &object.to_string())
    }

    /// Apply every document of a YAML text in turn, as this field manager.
    pub fn apply_yaml(&self, manager: &str, text: &str) -> Result<Vec<Value>> {
        documents(text)?.iter().map(|object| self.apply(manager, object)).collect()
    }

    /// A JSON merge patch as this field manager; the target may end in `/status` or `/scale`.
    pub fn patch(&self, manager: &str, target: &str, patch: &Value) -> Result<Value> {
        let target = format!("{target}?fieldManager={manager}");
        self.call("PATCH", &target, "application/merge-patch+json", &patch.to_string())
    }

    /// Delete an object, its dependents after it; one that is gone is as good.
    pub fn delete(&self, target: &str) -> Result<()> {
        let reply = self.patiently("DELETE", target, JSON, "")?;
        if reply.status == 404 { Ok(()) } else { checked(reply, "DELETE", target).map(drop) }
    }

    /// Look until an object is there and as wanted; an error shows what was there last.
    pub fn wait(&self, target: &str, limit: Duration, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        let mut seen = Value::Null;
        let found = poll(limit, || {
            seen = self.find(target)?.unwrap_or_default();
            Ok((!seen.is_null() && wanted(&seen)).then(|| seen.clone()))
        })?;
        found.with_context(|| format!("{target} was not as wanted within {limit:?}: {seen:#}"))
    }

    /// Look until an object is gone.
    pub fn wait_gone(&self, target: &str, limit: Duration) -> Result<()> {
        let found = poll(limit, || Ok(self.find(target)?.is_none().then_some(())))?;
        found.with_context(|| format!("{target} was still there after {limit:?}"))
    }

    /// Where an object lives, by its kind, namespace and name.
    pub fn target(&self, object: &Value) -> Result<String> {
        let name = object["metadata"]["name"].as_str().context("an object without a name")?;
        Ok(format!("{}/{name}", self.collection(object)?))
    }

    /// Where objects of this kind and namespace live.
    fn collection(&self, object: &Value) -> Result<String> {
        let (version, kind) = (object["apiVersion"].as_str(), object["kind"].as_str());
        let (version, kind) = version.zip(kind).context("an object without apiVersion and kind")?;
        let base = if version.contains('/') { format!("/apis/{version}") } else { format!("/api/{version}") };
        let Kind { plural, namespaced } = self.kind(&base, kind)?;
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or("default");
        Ok(if namespaced { format!("{base}/namespaces/{namespace}/{plural}") } else { format!("{base}/{plural}") })
    }

    /// Discovery, remembered.
    fn kind(&self, base: &str, wanted: &str) -> Result<Kind> {
        let key = format!("{base} {wanted}");
        if let Some(known) = self.kinds.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(known.clone());
        }
        let served = self.get(base)?;
        let resources = served["resources"].as_array().map(Vec::as_slice).unwrap_or_default();
        let plain = |name: &&str| !name.contains('/');
        let found = resources.iter().filter(|resource| resource["kind"] == wanted).find_map(|resource| {
            let plural = resource["name"].as_str().filter(plain)?.to_owned();
            Some(Kind { plural, namespaced: resource["namespaced"] == true })
        });
        let found = found.with_context(|| format!("the server has no {wanted} in {base}"))?;
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner).insert(key, found.clone());
        Ok(found)
    }

    fn call(&self, method: &str, target: &str, kind: &str, body: &str) -> Result<Value> {
        checked(self.patiently(method, target, kind, body)?, method, target)
    }

    /// A custom resource that has just been defined answers 429 for a moment: ask again.
    fn patiently(&self, method: &str, target: &str, kind: &str, body: &str) -> Result<Reply> {
        let started = Instant::now();
        loop {
            let reply = self.send(method, target, kind, body.as_bytes())?;
            if reply.status != 429 || started.elapsed() > BUSY_LIMIT {
                return Ok(reply);
            }
            thread::sleep(PAUSE);
        }
    }
}

const JSON: &str = "application/json";

fn checked(reply: Reply, method: &str, target: &str) -> Result<Value> {
    reply.ok().with_context(|| format!("{method} {target}"))?.json()
}

/// Try until there is an answer; none when the time is over.
pub fn poll<T>(limit: Duration, mut attempt: impl FnMut() -> Result<Option<T>>) -> Result<Option<T>> {
    let started = Instant::now();
    loop {
        if let Some(answer) = attempt()? {
            return Ok(Some(answer));
        }
        if started.elapsed() > limit {
            return Ok(None);
        }
        thread::sleep(PAUSE);
    }
}

/// The objects of a YAML text; empty documents do not count.
pub fn documents(text: &str) -> Result<Vec<Value>> {
    let mut documents = vec![String::new()];
    for line in text.lines() {
        match documents.last_mut() {
            Some(document) if line.trim_end() != "---" => document.extend([line, "\n"]),
            _ => documents.push(String::new()),
        }
    }
    let is_content = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let filled = documents.iter().filter(|document| document.lines().any(is_content));
    filled.map(|document| serde_saphyr::from_str(document).context("not YAML")).collect()
}

#[cfg(test)]
mod tests {
    use super::documents;
    use serde_json::json;

    #[test]
    fn a_yaml_text_may_hold_several_objects_and_empty_documents() {
        let text = "# licence\n---\nkind: A\nspec: {n: 1}\n---\n# nothing\n---\nkind: B\n";
        assert_eq!(documents(text).unwrap(), [json!({"kind": "A", "spec": {"n": 1}}), json!({"kind": "B"})]);
    }
}
