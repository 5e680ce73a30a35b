//! The life of a tenant: made, changed, left alone, imported, destroyed; alone and with a model server in it.

use crate::support::{LIMIT, SERVICE, TENANT, errors, scene, tenancy};
use anyhow::{Context, Result};
use insta::assert_snapshot;
use serde_json::json;

/// Everything that a tenant can have without custom resources; quantities and lists in spellings that a server changes.
const EVERYTHING: &[(&str, &str)] = &[
    ("team", "\"alpha\""),
    (
        "quota",
        "{ gpus = 8, cpu = \"64000m\", memory = \"262144Mi\", storage = \"2Ti\", persistent_volume_claims = 10, pods = 100 }",
    ),
    ("container", "{ default = { cpu = \"1000m\", memory = \"2Gi\" }, max = { cpu = \"32\", memory = \"128Gi\" } }"),
    ("pod_security", "\"baseline\""),
    ("pod_security_version", "\"v1.35\""),
    (
        "network",
        "{ ingress_from_namespaces = [\"monitoring\", \"ingress-nginx\"], allow_gang_traffic = true, egress_cidrs = [\"10.0.0.0/8\"] }",
    ),
    ("trusted_registries", "[\"quay.io\", \"ghcr.io/acme/\"]"),
    (
        "data_access",
        "[{ bucket_arn = \"arn:aws:s3:::acme-models\", prefix = \"models/\", service_account = \"trainer\" }]",
    ),
    ("members", "[{ group = \"researchers\", role = \"edit\" }, { user = \"Ann@acme.com\", role = \"view\" }]"),
    ("labels", "{ data = \"public\" }"),
    ("tags", "{ data = \"public\" }"),
];

/// Attributes with other values, and which objects that concerns.
const CHANGES: &[(&str, &str)] = &[
    ("team", "\"beta\""),
    ("quota", "{ gpus = 4, cpu = \"64\", memory = \"256Gi\" }"),
    ("container", "{ max = { memory = \"64Gi\" } }"),
    ("pod_security", "\"restricted\""),
    ("pod_security_version", "\"v1.36\""),
    ("network", "{ allow_gang_traffic = false, service_cidrs = [\"10.0.0.0/24\"] }"),
    ("network", "{ isolation = \"none\" }"),
    ("trusted_registries", "[\"quay.io\"]"),
    ("trusted_registries", "[]"),
    ("data_access", "[{ bucket_arn = \"arn:aws:s3:::acme-models\", mode = \"write\", service_account = \"trainer\" }]"),
    ("tags", "{ data = \"secret\" }"),
    ("data_access", "[]"),
    ("members", "[{ group = \"researchers\", role = \"admin\" }]"),
    ("labels", "{}"),
];

#[test]
fn a_tenant_is_made_through_eks_left_alone_and_destroyed() -> Result<()> {
    tenancy("team-life", |stage| {
        let stage = stage.with_tenant(&attributes(EVERYTHING))?;
        stage.settled()?;
        let reads = stage.api.take_journal();
        assert!(reads.writes().is_empty(), "{reads}");
        let counts: Vec<_> = reads.counts().into_iter().map(|(name, count)| format!("{name} {count}")).collect();
        assert_snapshot!("tenant_reads", counts.join("\n"));
        let objects: Vec<_> = stage.objects()?.into_iter().collect();
        assert_snapshot!("tenant_objects", objects.join("\n"));
        stage.destroy_with_namespace()
    })
}

#[test]
fn each_attribute_of_a_tenant_changes_its_own_objects_alone() -> Result<()> {
    tenancy("changed", |stage| {
        let stage = stage.with_tenant(&attributes(EVERYTHING))?;
        let mut table = Vec::new();
        let mut now: Vec<_> = EVERYTHING.to_vec();
        for &(attribute, value) in CHANGES {
            for entry in now.iter_mut().filter(|(name, _)| *name == attribute) {
                entry.1 = value;
            }
            stage.account.proxy().take_journal();
            stage.workspace.configure(&stage.tenant(&attributes(&now)))?;
            let writes = stage.apply_and_tell_writes().with_context(|| format!("{attribute} = {value}"))?;
            let journal = stage.account.proxy().take_journal();
            table.push(format!("{attribute} = {value}\n    {} {}", writes.join(" "), journal.writes().join(" ")));
        }
        assert_snapshot!("tenant_changes", table.join("\n"));
        stage.destroy_with_namespace()
    })
}

#[test]
fn an_import_by_id_gives_a_tenants_attributes_back() -> Result<()> {
    tenancy("team-import", |stage| {
        for all in [attributes(EVERYTHING), String::new()] {
            stage.workspace.configure(&stage.tenant(&all))?;
            stage.apply()?;
            let before = stage.workspace.attributes(TENANT)?;
            stage.workspace.run(&["state", "rm", TENANT])?.ok()?;
            stage.workspace.import(TENANT, "ml-prod/team-import")?.ok()?;
            stage.settled()?;
            let mut after = stage.workspace.attributes(TENANT)?;
            after["adopt"] = before["adopt"].clone();
            assert_eq!(after, before);
        }
        stage.workspace.run(&["state", "rm", TENANT])?.ok()?;
        let wrong = stage.workspace.import(TENANT, "team-import")?.failed()?;
        assert_snapshot!("tenant_import_wrong", errors(&wrong));
        stage.workspace.import(TENANT, "ml-prod/team-import")?.ok()?;
        stage.destroy_with_namespace()
    })
}

#[test]
fn a_namespace_that_is_there_already_is_taken_over_only_on_request() -> Result<()> {
    tenancy("team-taken", |stage| {
        stage.cluster.namespace("team-taken")?;
        stage.workspace.configure(&stage.tenant(""))?;
        assert_snapshot!("tenant_adopt_never", errors(&stage.workspace.apply()?.failed()?));
        stage.workspace.configure(&stage.tenant("  adopt = \"if_unmanaged\""))?;
        stage.apply()?;
        stage.destroy_with_namespace()
    })
}

#[test]
fn a_field_of_a_tenant_that_somebody_else_manages_is_a_conflict_that_names_both() -> Result<()> {
    tenancy("team-managed", |stage| {
        let stage = stage.with_tenant("  quota = { gpus = 2 }")?;
        let quota = json!({
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "mlplat", "namespace": "team-managed"},
            "spec": {"hard": {"requests.cpu": "4"}},
        });
        stage.client().apply("kustomize-controller", &quota)?;
        stage.settled()?;
        stage.workspace.configure(&stage.tenant("  quota = { gpus = 2, cpu = \"8\" }"))?;
        assert_snapshot!("tenant_conflict", errors(&stage.workspace.apply()?.failed()?));
        stage.workspace.configure(&stage.tenant("  quota = { gpus = 2, cpu = \"8\" }\n  adopt = \"always\""))?;
        stage.apply()?;
        stage.destroy_with_namespace()
    })
}

fn attributes(pairs: &[(&str, &str)]) -> String {
    pairs.iter().map(|(name, value)| format!("  {name} = {value}\n")).collect()
}

#[test]
fn a_tenant_and_a_service_in_it_are_made_and_destroyed_in_one_run() -> Result<()> {
    scene("tenancy", |stage| {
        let rules = "  quota = { gpus = 2, memory = \"512Gi\" }\n  container = { default = { cpu = \"1\", memory = \"1Gi\" } \
                     }\n  trusted_registries = [\"registry.test/vllm\"]";
        let tenant = stage.tenant(rules).replace("\"team\"", "\"alpha\"").replace("\"tenancy\"", "\"team-alpha\"");
        let service = stage.service("").replace("namespace = \"tenancy\"", "namespace = mlplat_tenant.alpha.name");
        stage.workspace.configure(&format!("{tenant}{service}"))?;
        let plan = stage.plan()?;
        assert!(plan.contains("Plan: 2 to add"), "{plan}");
        stage.apply()?;
        assert_eq!(stage.workspace.attributes(SERVICE)?["ready_replicas"], 1);
        let namespace = stage.client().get("/api/v1/namespaces/team-alpha")?;
        assert_eq!(namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], "restricted");
        // What the tenant gives to containers that say nothing would kill a model server.
        let pods = stage.client().list("/api/v1/namespaces/team-alpha/pods")?;
        let [pod] = pods.as_slice() else { panic!("{pods:#?}") };
        let limits = &pod["spec"]["containers"][0]["resources"]["limits"];
        assert!(
            limits["memory"].is_string() && limits["memory"] != "1Gi" && limits["nvidia.com/gpu"] == "1",
            "{limits}"
        );
        stage.destroy()?;
        stage.client().wait_gone("/api/v1/namespaces/team-alpha", LIMIT)
    })
}
