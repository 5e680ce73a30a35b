//! Decides about EKS tokens as EKS does: the API server asks this webhook with a TokenReview.
//!
//! A token is a presigned `GetCallerIdentity`. EKS lets STS check the signature with the cluster's name as a signed
//! header; here the secret of every access key is known, so the signature is checked on the spot.

mod signature;

use self::signature::{Presigned, Secret};
use crate::kubernetes::server::Server;
use anyhow::Result;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// What EKS takes: a token is good for a quarter of an hour after it was signed, whatever it says itself.
pub(super) const EKS_LIFETIME: Duration = Duration::from_mins(15);

/// Which tokens the API server accepts, and what became of those it was shown.
///
/// The API server remembers an accepted token for about ten seconds and does not ask again.
#[derive(Debug)]
pub struct TokenRules {
    server: Server,
    state: Arc<Mutex<State>>,
}

/// A token as a good client signs it for a cluster, this long ago, with the emulator's usual key.
pub fn eks_token(cluster: &str, ago: Duration) -> Result<String> {
    let signed = now().saturating_sub(ago);
    let url = signature::presign(cluster, signed, &Secret(DEFAULT_SECRET)).map_err(anyhow::Error::msg)?;
    Ok(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(url)))
}

/// Since 1970; before that no certificate would be valid either.
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[derive(Debug)]
struct State {
    cluster: String,
    lifetime: Duration,
    /// Lifetimes of the tokens of access keys; of a key that is not here it is `lifetime`.
    lifetimes: BTreeMap<String, Duration>,
    /// Groups of the users of access keys; a key that is not here has [`MASTERS`].
    groups: BTreeMap<String, Vec<String>>,
    /// Secrets of access keys; a key that is not here has [`DEFAULT_SECRET`].
    secrets: BTreeMap<String, String>,
    accepted: usize,
    refusals: Vec<String>,
}

const PREFIX: &str = "k8s-aws-v1.";
/// The secret that the emulator's environment sets.
const DEFAULT_SECRET: &str = "test";
/// The group that may do anything.
const MASTERS: &str = "system:masters";

impl TokenRules {
    /// A webhook that accepts tokens for this cluster.
    pub(super) fn start(cluster: &str, lifetime: Duration) -> Result<Self> {
        let state = Arc::new(Mutex::new(State {
            cluster: cluster.to_owned(),
            lifetime,
            lifetimes: BTreeMap::new(),
            groups: BTreeMap::new(),
            secrets: BTreeMap::new(),
            accepted: 0,
            refusals: Vec::new(),
        }));
        let judging = Arc::clone(&state);
        let server = Server::start("token-webhook", None, move |question| {
            let asked = serde_json::from_slice(&question.body).unwrap_or_default();
            ("application/json", lock(&judging).answer(&asked, now()).to_string())
        })?;
        Ok(Self { server, state })
    }

    /// Where the webhook listens.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    /// Accept only tokens that were signed for this cluster.
    pub fn set_cluster(&self, name: &str) {
        name.clone_into(&mut self.lock().cluster);
    }

    /// How old a token of this access key may be; as old as any unless set.
    pub fn set_lifetime(&self, access_key: &str, lifetime: Duration) {
        self.lock().lifetimes.insert(access_key.to_owned(), lifetime);
    }

    /// The groups of the user of this access key; `system:masters` unless set.
    pub fn set_groups(&self, access_key: &str, groups: &[&str]) {
        let groups = groups.iter().map(|&group| group.to_owned()).collect();
        self.lock().groups.insert(access_key.to_owned(), groups);
    }

    /// The secret of one access key, where it is not the emulator's usual one.
    pub fn set_secret(&self, access_key: &str, secret: &str) {
        self.lock().secrets.insert(access_key.to_owned(), secret.to_owned());
    }

    /// How many reviews ended well.
    pub fn accepted(&self) -> usize {
        self.lock().accepted
    }

    /// Why tokens were refused, in order.
    pub fn refusals(&self) -> Vec<String> {
        self.lock().refusals.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    /// Judge a token and keep the verdict: its access key, or why not.
    fn review(&mut self, token: &str, now: Duration) -> Result<String, String> {
        let verdict = self.judge(token, now);
        match &verdict {
            Ok(_) => self.accepted += 1,
            Err(reason) => self.refusals.push(reason.clone()),
        }
        verdict
    }

    fn judge(&self, token: &str, now: Duration) -> Result<String, String> {
        let encoded = token.strip_prefix(PREFIX).ok_or("no EKS token")?;
        let bytes = URL_SAFE_NO_PAD.decode(encoded).map_err(|_| "not unpadded URL-safe base64")?;
        let url = String::from_utf8(bytes).map_err(|_| "not a URL")?;
        let request = Presigned::parse(&url)?;
        request.check_form()?;
        let key = request.access_key()?;
        request.check_age(now, self.lifetimes.get(&key).copied().unwrap_or(self.lifetime))?;
        let secret = self.secrets.get(&key).map_or(DEFAULT_SECRET, String::as_str);
        request.check_signature(&Secret(secret), &self.cluster)?;
        Ok(key)
    }

    fn answer(&mut self, review: &Value, now: Duration) -> Value {
        let token = review["spec"]["token"].as_str().unwrap_or_default().to_owned();
        let status = match self.review(&token, now) {
            Ok(key) => {
                let username = format!("arn:aws:iam::123456789012:user/{key}");
                let groups = self.groups.get(&key).cloned().unwrap_or_else(|| vec![MASTERS.to_owned()]);
                json!({"authenticated": true, "user": {"username": username, "uid": username, "groups": groups}})
            }
            Err(reason) => json!({"authenticated": false, "error": reason}),
        };
        json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "status": status})
    }
}

/// A panic elsewhere does not make the state wrong.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> State {
        State {
            cluster: "ml-prod".to_owned(),
            lifetime: EKS_LIFETIME,
            lifetimes: BTreeMap::new(),
            groups: BTreeMap::new(),
            secrets: BTreeMap::new(),
            accepted: 0,
            refusals: Vec::new(),
        }
    }

    #[test]
    fn a_fresh_token_for_this_cluster_is_accepted() {
        let (mut state, token) = (state(), eks_token("ml-prod", Duration::from_mins(14)).unwrap());
        assert_eq!(state.review(&token, now()).unwrap(), "test");
        assert_eq!(state.accepted, 1);
    }

    #[test]
    fn every_other_token_is_refused_with_its_reason() {
        let mut state = state();
        let url = |from: &str, to: &str| {
            let good = signature::presign("ml-prod", now(), &Secret(DEFAULT_SECRET)).unwrap();
            format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(good.replace(from, to)))
        };
        for (token, reason) in [
            ("secret".to_owned(), "no EKS token"),
            (format!("{PREFIX}=="), "base64"),
            (eks_token("ml-test", Duration::ZERO).unwrap(), "for cluster \"ml-prod\""),
            (eks_token("ml-prod", Duration::from_mins(16)).unwrap(), "960 s ago"),
            (url("sts.us-east-1.amazonaws.com", "example.com"), "not STS"),
            (url("GetCallerIdentity", "AssumeRole"), "Action"),
            (url("%3Bx-k8s-aws-id", ""), "signed headers"),
            (url("Expires=60", "Expires=3600"), "X-Amz-Expires"),
            (url("Version=2011-06-15", "Version=2011-06-16"), "signature"),
            (url("Action=", "Extra=1&Action="), "Extra"),
        ] {
            let refused = state.review(&token, now()).unwrap_err();
            assert!(refused.contains(reason), "{refused}, not {reason}");
        }
        assert_eq!((state.accepted, state.refusals.len()), (0, 10));
    }
}
