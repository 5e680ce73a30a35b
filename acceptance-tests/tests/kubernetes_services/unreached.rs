//! Clusters, namespaces and API servers that are not there yet, or not now.

use crate::support::{SERVICE, errors, scene, tenancy};
use acceptance_tests::Rule;
use anyhow::Result;
use insta::assert_snapshot;

#[test]
fn a_plan_needs_no_cluster() -> Result<()> {
    scene("planned", |stage| {
        for (cluster, counted) in [("\"not-yet\"", 0), ("terraform_data.later.output", 0)] {
            let later = "resource \"terraform_data\" \"later\" {\n  input = \"ml-prod\"\n}\n";
            let service = stage.service("").replace("\"ml-prod\"", cluster);
            stage.workspace.configure(&format!("{later}{service}"))?;
            let plan = stage.plan()?;
            assert!(plan.contains("Plan: 2 to add"), "{plan}");
            assert_eq!(stage.api.take_journal().len(), counted);
        }
        stage.apply()?;
        stage.destroy()
    })
}

#[test]
fn a_namespace_may_come_in_the_same_run() -> Result<()> {
    scene("same-run", |stage| {
        let config = stage.service("").replace("namespace = \"same-run\"", "namespace = \"not-yet\"");
        stage.workspace.configure(&config)?;
        let plan = stage.plan()?;
        assert!(plan.contains("Plan: 1 to add"), "{plan}");
        let refused = stage.workspace.apply()?.failed()?;
        assert!(refused.says("namespaces \"not-yet\" not found"), "{}", refused.stderr);
        assert!(refused.says("Make the namespace first"), "{}", refused.stderr);
        stage.cluster.namespace("not-yet")?;
        stage.apply()?;
        stage.destroy()
    })
}

#[test]
fn an_api_server_that_is_down_stops_an_apply_and_not_the_plan_of_something_new() -> Result<()> {
    scene("down", |stage| {
        stage.workspace.configure(&stage.service(""))?;
        stage.account.lead_to_kubernetes("https://127.0.0.1:1", &stage.cluster.ca_pem())?;
        let plan = stage.plan()?;
        assert!(plan.contains("Plan: 1 to add"), "{plan}");
        // Which of the first objects is told of first is left to chance.
        let refused = stage.workspace.apply()?.failed()?;
        assert!(refused.says("no answer from the API server"), "{}", refused.stderr);
        assert!(refused.says("its endpoint may be private, or the cluster not be there yet"), "{}", refused.stderr);
        stage.account.lead_to_kubernetes(stage.api.url(), &stage.cluster.ca_pem())?;
        stage.apply()?;
        stage.account.lead_to_kubernetes("https://127.0.0.1:1", &stage.cluster.ca_pem())?;
        assert_snapshot!("down_at_refresh", errors(&stage.workspace.plan()?.failed()?));
        stage.account.lead_to_kubernetes(stage.api.url(), &stage.cluster.ca_pem())?;
        stage.settled()?;
        stage.destroy()
    })
}

#[test]
fn a_caller_whom_the_cluster_does_not_know_is_told_what_is_missing() -> Result<()> {
    scene("stranger", |stage| {
        stage.workspace.configure(&stage.service(""))?;
        stage.api.add_rule(Rule::any().error(401, "Unauthorized", "Unauthorized"));
        let refused = stage.workspace.apply()?.failed()?;
        assert!(refused.says("Unauthorized"), "{}", refused.stderr);
        assert!(refused.says("aws eks list-access-entries"), "{}", refused.stderr);
        stage.api.clear_rules();
        stage.api.add_rule(Rule::on("apply.deployments").access_denied());
        assert_snapshot!("forbidden", errors(&stage.workspace.apply()?.failed()?));
        stage.api.clear_rules();
        stage.apply()?;
        assert_eq!(stage.workspace.attributes(SERVICE)?["ready_replicas"], 1);
        stage.destroy()
    })
}

#[test]
fn a_tenant_is_planned_without_its_api_server_and_made_when_it_answers() -> Result<()> {
    const DATA: &str = "  data_access = [{ bucket_arn = \"arn:aws:s3:::acme-models\" }]";
    tenancy("tenant-down", |stage| {
        stage.workspace.configure(&stage.tenant(DATA))?;
        stage.account.lead_to_kubernetes("https://127.0.0.1:1", &stage.cluster.ca_pem())?;
        let plan = stage.plan()?;
        assert!(plan.contains("Plan: 1 to add"), "{plan}");
        assert_snapshot!("tenant_down_at_apply", errors(&stage.workspace.apply()?.failed()?));
        stage.account.lead_to_kubernetes(stage.api.url(), &stage.cluster.ca_pem())?;
        stage.apply()?;
        stage.account.lead_to_kubernetes("https://127.0.0.1:1", &stage.cluster.ca_pem())?;
        assert_snapshot!("tenant_down_at_refresh", errors(&stage.workspace.plan()?.failed()?));
        let refused = stage.workspace.destroy()?.failed()?;
        assert!(refused.says("no answer from the API server"), "{}", refused.stderr);
        stage.account.lead_to_kubernetes(stage.api.url(), &stage.cluster.ca_pem())?;
        stage.settled()?;
        stage.destroy_with_namespace()
    })
}
