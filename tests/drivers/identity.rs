//! Roles of service accounts, their policies and Pod Identity associations keep the contract too.

use mlplat::components::aws::{
    IRSA, IamRolePolicy, POD_IDENTITY, PodIdentityAssociation, ServiceAccountRole, policy::normalize,
};
use serde_json::json;

use crate::world::{run, run_with_cluster, tags};

const PROVIDER: &str = "arn:aws:iam::123456789012:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/0A1B";

fn role(name: &str) -> ServiceAccountRole {
    ServiceAccountRole {
        name: name.to_owned(),
        description: "Data access".to_owned(),
        method: POD_IDENTITY.to_owned(),
        cluster: Some("ml-prod".to_owned()),
        namespace: "team-alpha".to_owned(),
        service_account: "trainer".to_owned(),
        tags: tags(&[("team", "a"), ("old", "1")]),
        ..ServiceAccountRole::default()
    }
}

#[test]
fn a_role_of_a_service_account_keeps_the_contract_and_changes_its_method_in_place() {
    run(async |world| {
        let other = ServiceAccountRole {
            service_account: "server".to_owned(),
            tags: tags(&[("team", "b")]),
            ..role("contract-account-role")
        };
        let irsa = ServiceAccountRole {
            method: IRSA.to_owned(),
            oidc_provider_arn: Some(PROVIDER.to_owned()),
            cluster: None,
            ..other.clone()
        };
        world.holds(&[role("contract-account-role"), other, irsa]).await;
    });
}

#[test]
fn a_role_finds_the_provider_of_its_cluster() {
    run_with_cluster(async |world, cluster| {
        let irsa = ServiceAccountRole {
            method: IRSA.to_owned(),
            cluster: Some(cluster.name.clone()),
            ..role("contract-irsa-role")
        };
        let other = ServiceAccountRole { service_account: "server".to_owned(), ..irsa.clone() };
        world.holds(&[irsa, other]).await;
    });
}

#[test]
fn a_policy_of_a_role_keeps_the_contract() {
    run(async |world| {
        world.with(&role("contract-policy-role")).await;
        let policy = |actions: &[&str]| IamRolePolicy {
            role: "contract-policy-role".to_owned(),
            name: "data-access".to_owned(),
            document: normalize(json!({ "Version": "2012-10-17", "Statement": [
                { "Sid": "Objects1", "Effect": "Allow", "Action": actions, "Resource": "arn:aws:s3:::acme/models/*" },
            ] })),
        };
        world.holds(&[policy(&["s3:GetObject"]), policy(&["s3:GetObject", "s3:PutObject"])]).await;
    });
}

#[test]
fn an_association_keeps_the_contract() {
    run_with_cluster(async |world, cluster| {
        let association = |role: &str, pairs: &[(&str, &str)]| PodIdentityAssociation {
            cluster: cluster.name.clone(),
            namespace: "team-alpha".to_owned(),
            service_account: "trainer".to_owned(),
            role_arn: format!("arn:aws:iam::123456789012:role/{role}"),
            tags: tags(pairs),
        };
        let first = association("one", &[("team", "a"), ("old", "1")]);
        world.holds(&[first, association("other", &[("team", "b")])]).await;
    });
}
