//! One account of the emulator: its proxy, what exists in it, and what a test may ask of the emulator itself.
//!
//! AWS calls of a test go through [`Account::aws`]; what is here has no counterpart in AWS.

use crate::{aws::Aws, http, proxy::Proxy};
use anyhow::{Result, bail};
use base64::Engine;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The region of every account.
pub const REGION: &str = "us-east-1";

/// One AWS account of the emulator, with its proxy and what a test may ask of the emulator itself.
#[derive(Debug)]
pub struct Account {
    id: String,
    emulator: String,
    proxy: Proxy,
    baseline: Inventory,
}

/// A cluster that was made for the test.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Cluster {
    /// Its name.
    pub name: String,
    /// Its ARN.
    pub arn: String,
    /// Its network.
    pub vpc_id: String,
    /// One private subnet in each zone.
    pub subnet_ids: Vec<String>,
    /// The zones, in the order of the subnets.
    pub zones: Vec<String>,
    /// The cluster's security group.
    pub security_group_id: String,
    /// The role of the control plane.
    pub cluster_role_arn: String,
    /// A role that nodes may use.
    pub node_role_arn: String,
    /// The OIDC issuer.
    pub oidc_issuer: String,
}

/// A failure ordered for a node group.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    /// The node group's name; none: whichever comes next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodegroup: Option<String>,
    /// The state it ends in: "CREATE_FAILED" or "DEGRADED".
    pub status: String,
    /// Its health issues: code, message and resourceIds.
    pub issues: Vec<Value>,
}

impl Failure {
    /// The next creation fails with one health issue.
    pub fn creation(code: &str, message: &str) -> Self {
        let issue = json!({"code": code, "message": message, "resourceIds": []});
        Self { nodegroup: None, status: "CREATE_FAILED".to_owned(), issues: vec![issue] }
    }
}

/// Everything that exists in an account: "s3:bucket/name" -> what matters of it.
pub type Inventory = BTreeMap<String, Value>;

impl Account {
    /// The account with this id behind this proxy, at an emulator.
    pub(crate) fn new(id: &str, emulator: &str, proxy: Proxy) -> Self {
        Self { id: id.to_owned(), emulator: emulator.to_owned(), proxy, baseline: Inventory::new() }
    }

    /// The twelve digits.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The proxy before this account.
    pub fn proxy(&self) -> &Proxy {
        &self.proxy
    }

    /// Calls past the proxy, for drift behind terraform's back.
    pub fn aws(&self) -> Aws {
        Aws::new(&self.emulator, &self.id, REGION)
    }

    /// The environment with which an AWS client ends up in this account.
    pub fn environment(&self) -> BTreeMap<String, String> {
        environment(self.proxy.url())
    }

    /// The ready cluster "ml-prod" of Kubernetes 1.36 in three zones.
    pub fn seed_cluster(&mut self) -> Result<Cluster> {
        self.seed_cluster_with(&json!({}))
    }

    /// A ready cluster; `wanted` may have name, version, zones, auto_mode, tags, endpoint and certificate_authority
    /// (base64 of PEM). What exists then is the baseline.
    pub fn seed_cluster_with(&mut self, wanted: &Value) -> Result<Cluster> {
        let cluster = serde_json::from_value(self.control("seed-cluster", wanted)?)?;
        self.baseline = self.inventory()?;
        Ok(cluster)
    }

    /// Everything that exists.
    pub fn inventory(&self) -> Result<Inventory> {
        let headers = [("x-moto-account-id", self.id.as_str())];
        let reply = http::send(&self.emulator, "GET", "/mlplat/inventory", &headers, b"")?.ok()?;
        Ok(serde_json::from_value(reply.json()?)?)
    }

    /// Take what exists now as what a destroy must leave.
    pub fn set_baseline(&mut self) -> Result<()> {
        self.baseline = self.inventory()?;
        Ok(())
    }

    /// What exists beyond the baseline, or differs from it: empty after a good destroy.
    pub fn leftovers(&self) -> Result<Inventory> {
        let mut found = self.inventory()?;
        found.retain(|key, value| self.baseline.get(key) != Some(value));
        Ok(found)
    }

    /// What of the baseline is gone: empty unless something was destroyed that was not ours.
    pub fn missing(&self) -> Result<Vec<String>> {
        let found = self.inventory()?;
        Ok(self.baseline.keys().filter(|key| !found.contains_key(*key)).cloned().collect())
    }

    /// How many polls a node group, cluster or update stays in transition; 1 unless set.
    pub fn set_polls(&self, polls: u32) -> Result<()> {
        self.control("settings", &json!({"polls": polls})).map(drop)
    }

    /// Change EC2 quotas, by code.
    pub fn set_quotas(&self, quotas: &BTreeMap<&str, f64>) -> Result<()> {
        self.control("settings", &json!({"quotas": quotas})).map(drop)
    }

    /// Let the next matching creation of a node group end badly.
    pub fn fail_next_nodegroup(&self, failure: &Failure) -> Result<()> {
        self.control("fail-nodegroup", &serde_json::to_value(failure)?).map(drop)
    }

    /// Put a node group that exists into DEGRADED with these health issues.
    pub fn degrade_nodegroup(&self, cluster: &str, nodegroup: &str, issues: &[Value]) -> Result<()> {
        let body = json!({"cluster": cluster, "nodegroup": nodegroup, "issues": issues});
        self.control("degrade-nodegroup", &body).map(drop)
    }

    /// Move the live size of a node group, as an autoscaler does.
    pub fn resize_nodegroup(&self, cluster: &str, nodegroup: &str, desired: u32) -> Result<()> {
        let body = json!({"cluster": cluster, "nodegroup": nodegroup, "desired": desired});
        self.control("resize", &body).map(drop)
    }

    /// Let a bucket name belong to another account.
    pub fn take_bucket_name(&self, name: &str) -> Result<()> {
        self.control("stranger-bucket", &json!({"name": name})).map(drop)
    }

    /// Let every EKS cluster lead to a Kubernetes API server, or to a proxy before one.
    pub fn lead_to_kubernetes(&self, endpoint: &str, ca_pem: &str) -> Result<()> {
        let ca = base64::engine::general_purpose::STANDARD.encode(ca_pem);
        self.control("kubernetes", &json!({"endpoint": endpoint, "ca": ca})).map(drop)
    }

    /// Drop everything in the account and release its memory.
    pub fn forget(&self) -> Result<()> {
        self.control("forget", &json!({})).map(drop)
    }

    fn control(&self, command: &str, body: &Value) -> Result<Value> {
        let headers = [("x-moto-account-id", self.id.as_str()), ("Content-Type", "application/json")];
        let target = format!("/mlplat/{command}");
        let reply = http::send(&self.emulator, "POST", &target, &headers, body.to_string().as_bytes())?;
        if reply.status != 200 {
            bail!("the emulator refused {command} {body}: {}", reply.body);
        }
        reply.json()
    }
}

/// The environment that points an AWS client at an endpoint with keys that mean nothing.
pub fn environment(endpoint: &str) -> BTreeMap<String, String> {
    let pairs = [
        ("AWS_ENDPOINT_URL", endpoint),
        ("AWS_REGION", REGION),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_EC2_METADATA_DISABLED", "true"),
    ];
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}
