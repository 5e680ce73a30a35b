//! A tenant's way to data and to secrets.

use crate::support::{LIMIT, LONG_AGO, Stage, TENANT, errors, tenancy};
use acceptance_tests::{Rule, http::decode, kubernetes::Crds};
use anyhow::{Context, Result, ensure};
use insta::assert_snapshot;
use serde_json::{Value, json};

const DATA: &str = "  data_access = [
    { bucket_arn = \"arn:aws:s3:::acme-models\", prefix = \"models/\", service_account = \"server\" },
    { bucket_arn = \"arn:aws:s3:::acme-runs\", prefix = \"alpha/\", mode = \"write\" },
  ]";

#[test]
fn credentials_are_there_before_any_pod_can_be() -> Result<()> {
    tenancy("pod-identity", |stage| {
        stage.workspace.configure(&stage.tenant(DATA))?;
        stage.account.proxy().add_rule(Rule::on("eks.CreatePodIdentityAssociation").nth(2).access_denied());
        stage.workspace.apply()?.failed()?;
        ensure!(stage.client().find(&stage.own_target())?.is_none(), "pods can start without credentials");
        stage.account.proxy().clear_rules();
        stage.apply()?;
        let arns = &stage.workspace.attributes(TENANT)?["role_arns"];
        let associations = associations(&stage)?;
        assert_eq!(
            associations,
            [("default".to_owned(), arns["default"].clone()), ("server".to_owned(), arns["server"].clone())]
        );
        let name = "mlplat-ml-prod.pod-identity.server";
        let trust = &trust(&stage, name)?["Statement"][0];
        assert_eq!(trust["Principal"], json!({"Service": "pods.eks.amazonaws.com"}));
        assert_eq!(trust["Condition"]["StringEquals"]["aws:RequestTag/kubernetes-namespace"], "pod-identity");
        let policy = policy(&stage, name)?;
        assert!(policy.contains("arn:aws:s3:::acme-models/models/*"), "{policy}");
        assert!(!policy.contains("acme-runs") && !policy.contains("PutObject"), "{policy}");
        stage.destroy_with_namespace()
    })
}

#[test]
fn service_accounts_carry_their_role_where_tokens_are_trusted_instead() -> Result<()> {
    tenancy("irsa", |stage| {
        let provider = "arn:aws:iam::123456789012:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/0A1B";
        let irsa = format!("{DATA}\n  access_method = \"irsa\"\n  oidc_provider_arn = \"{provider}\"");
        let stage = stage.with_tenant(DATA)?;
        // From one method to the other the roles stay, and the pods' way to them changes.
        let before = stage.workspace.attributes(TENANT)?["role_arns"].clone();
        stage.workspace.configure(&stage.tenant(&irsa))?;
        stage.apply()?;
        assert_eq!(stage.workspace.attributes(TENANT)?["role_arns"], before);
        assert_eq!(associations(&stage)?, []);
        for account in ["default", "server"] {
            let object = stage.object(&format!("serviceaccounts/{account}"))?;
            assert_eq!(object["metadata"]["annotations"]["eks.amazonaws.com/role-arn"], before[account]);
            let trust = &trust(&stage, &format!("mlplat-ml-prod.irsa.{account}"))?["Statement"][0];
            assert_eq!(trust["Principal"], json!({"Federated": provider}));
            let subject = &trust["Condition"]["StringEquals"]["oidc.eks.us-east-1.amazonaws.com/id/0A1B:sub"];
            assert_eq!(*subject, format!("system:serviceaccount:irsa:{account}"));
        }
        stage.destroy_with_namespace()
    })
}

#[test]
fn a_secret_comes_through_the_operator_and_without_it_the_operator_is_named() -> Result<()> {
    const SECRET: &str =
        "  external_secrets = [{ name = \"hf\", store = \"aws\", key = \"prod/hf\", property = \"token\" }]";
    const TARGET: &str = "/apis/external-secrets.io/v1/namespaces/secrets/externalsecrets/hf";
    tenancy("secrets", |stage| {
        stage.workspace.configure(&stage.tenant(SECRET))?;
        assert_snapshot!("operator_missing", errors(&stage.workspace.apply()?.failed()?));
        stage.cluster.install(&[Crds::ExternalSecrets])?;
        // As if the copy had been asked for long ago.
        stage.api.add_rule(Rule::on("get.externalsecrets").patch_json("metadata.managedFields", json!([])));
        let applying = stage.workspace.start(&["apply", "-no-color", "-input=false", "-auto-approve"])?;
        stage.client().wait(TARGET, LIMIT, |_| true)?;
        let says = |status: &str, reason: &str, message: &str| -> Result<()> {
            let condition = json!({
                "type": "Ready", "status": status, "reason": reason, "message": message, "lastTransitionTime": LONG_AGO,
            });
            let patch = json!({"status": {"conditions": [condition]}});
            stage.client().patch("external-secrets", &format!("{TARGET}/status"), &patch).map(drop)
        };
        says("False", "SecretSyncedError", "could not get secret data from provider")?;
        assert_snapshot!("store_missing", errors(&applying.wait()?.failed()?));
        stage.api.clear_rules();
        says("True", "SecretSynced", "secret synced")?;
        stage.workspace.untaint(TENANT)?.ok()?;
        stage.apply()?;
        let secret = stage.client().get(TARGET)?;
        assert_eq!(secret["spec"]["data"][0]["remoteRef"]["key"], "prod/hf");
        assert_eq!(secret["spec"]["secretStoreRef"], json!({"kind": "ClusterSecretStore", "name": "aws"}));
        // A copy that fails later is shown.
        says("False", "SecretSyncedError", "could not get secret data from provider")?;
        let plan = stage.workspace.plan()?;
        assert!(plan.says("could not get secret data from provider"), "{}", plan.stdout);
        says("True", "SecretSynced", "secret synced")?;
        stage.destroy_with_namespace()
    })
}

/// Service account and role of each association in the namespace, sorted.
fn associations(stage: &Stage) -> Result<Vec<(String, Value)>> {
    let aws = stage.account.aws();
    let at = "/clusters/ml-prod/pod-identity-associations";
    let all = aws.rest("eks", "GET", &format!("{at}?namespace={}", stage.namespace), &Value::Null)?;
    let mut found = Vec::new();
    for association in all["associations"].as_array().context("no list")? {
        let id = association["associationId"].as_str().context("no id")?;
        let one = aws.rest("eks", "GET", &format!("{at}/{id}"), &Value::Null)?["association"].take();
        found.push((one["serviceAccount"].as_str().unwrap_or_default().to_owned(), one["roleArn"].clone()));
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(found)
}

/// The trust policy of a role.
fn trust(stage: &Stage, name: &str) -> Result<Value> {
    let reply = stage.account.aws().query("iam", "GetRole", &[("RoleName", name)])?.ok()?;
    let text = reply.element("AssumeRolePolicyDocument").context("no trust policy")?;
    Ok(serde_json::from_str(&decode(text))?)
}

/// The policy of a role.
fn policy(stage: &Stage, name: &str) -> Result<String> {
    let parameters = [("RoleName", name), ("PolicyName", "data-access")];
    let reply = stage.account.aws().query("iam", "GetRolePolicy", &parameters)?.ok()?;
    reply.element("PolicyDocument").map(decode).context("no policy")
}
