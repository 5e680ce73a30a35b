//! What is said before Kueue says it, and what is said when Kueue is not there or has a reason of its own.

use crate::support::{KUEUE, QUEUE, errors, quota, scene, target};
use acceptance_tests::Rule;
use anyhow::{Result, ensure};
use insta::assert_snapshot;
use serde_json::json;

#[test]
fn a_plan_tells_everything_that_kueue_would_refuse_and_what_would_never_run() -> Result<()> {
    scene("refused", |scene| {
        let quota =
            "{ \"nvidia.com/gpu\" = { nominal = \"-1\", borrowing_limit = 2 }, \"requests.cpu\" = { nominal = 1 } }";
        let flavors = format!(
            "{{ name = \"gpu\", quota = {quota}, taints = [{{ key = \"a b\", effect = \"NoSchedule\" }}], tolerations = \
             [{{ operator = \"Equal\" }}] }}, {{ name = \"gpu\", existing = true, node_labels = {{ a = \"b\" }}, quota = \
             {{ \"nvidia.com/gpu\" = {{ nominal = 1 }} }} }}"
        );
        let attributes = "  preemption = { reclaim_within_cohort = \"Never\", borrow_within_cohort = {} }\n  namespaces = \
                          { kube-system = \"gpu\" }\n  priorities = { high = 3000000000 }";
        scene.workspace.configure(&scene.queue_of(&flavors, attributes))?;
        assert_snapshot!("refused", errors(&scene.workspace.plan()?.failed()?));
        Ok(())
    })
}

#[test]
fn kueue_may_come_in_the_same_run_and_is_missed_at_the_apply() -> Result<()> {
    scene("uninstalled", |scene| {
        scene.workspace.configure(&scene.queue(1, ""))?;
        scene.api.add_rule(Rule::on("discovery.apis").error(404, "NotFound", "the server could not find it"));
        let plan = scene.plan()?;
        ensure!(plan.contains("Plan: 1 to add"), "{plan}");
        assert_snapshot!("uninstalled", errors(&scene.workspace.apply()?.failed()?));
        assert_eq!(scene.api.journal().writes(), Vec::<&str>::new());
        scene.api.clear_rules();
        scene.apply()?;
        scene.destroy()
    })
}

#[test]
fn a_queue_that_kueue_does_not_serve_shows_why() -> Result<()> {
    scene("inactive", |scene| {
        let flavor = format!("{{ name = \"inactive-gpu\", existing = true, quota = {} }}", quota("1"));
        let queue = scene.queue_of(&flavor, "  timeouts {\n    create = \"2s\"\n  }");
        scene.workspace.configure(&queue)?;
        assert_snapshot!("inactive", errors(&scene.workspace.apply()?.failed()?));
        let state = scene.workspace.attributes(QUEUE)?["components"]["cluster_queue"]["state"].clone();
        assert_eq!(
            state,
            "waiting: not active: FlavorNotFound: Can't admit new workloads: references missing ResourceFlavor(s): inactive-gpu"
        );
        // What is missing comes; the queue was made before, so nothing has to be made again.
        let flavor = json!({
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "ResourceFlavor",
            "metadata": {"name": "inactive-gpu"},
        });
        scene.client().apply("somebody", &flavor)?;
        scene.workspace.untaint(QUEUE)?.ok()?;
        scene.workspace.apply()?.ok()?;
        scene.settled()?;
        assert_eq!(scene.workspace.attributes(QUEUE)?["components"]["cluster_queue"]["state"], "ready");
        scene.destroy()?;
        scene.client().delete(&target("resourceflavors", "inactive-gpu"))
    })
}

#[test]
fn what_belongs_to_another_is_not_taken() -> Result<()> {
    scene("foreign", |scene| {
        let flavor = json!({
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "ResourceFlavor",
            "metadata": {"name": "foreign-gpu"},
        });
        scene.client().apply("somebody", &flavor)?;
        scene.workspace.configure(&scene.queue(1, ""))?;
        assert_snapshot!("foreign", errors(&scene.workspace.apply()?.failed()?));
        scene.workspace.configure(&scene.queue(1, "  adopt = \"if_unmanaged\""))?;
        scene.apply()?;
        scene.destroy()
    })
}

#[test]
fn quota_beyond_a_pool_and_resources_of_a_limit_range_are_warned_of() -> Result<()> {
    scene("beside", |scene| {
        let pool = "data \"mlplat_cluster\" \"main\" {\n  name = \"ml-prod\"\n}\nresource \"mlplat_gpu_pool\" \
                    \"training\" {\n  cluster        = \"ml-prod\"\n  name           = \"training\"\n  instance_types \
                    = [\"p5.48xlarge\"]\n  subnet_ids     = data.mlplat_cluster.main.subnet_ids\n  size           = { \
                    min = 0, max = 2 }\n}\n";
        let tenant = "resource \"mlplat_tenant\" \"alpha\" {\n  cluster = \"ml-prod\"\n  name    = \"beside-alpha\"\n  \
                      container = { default = { ephemeral_storage = \"10Gi\" } }\n}\n";
        let queue = |gpus: u32| {
            let flavor = format!(
                "{{ name = \"beside-gpu\", node_labels = mlplat_gpu_pool.training.node_selector, quota = {} }}",
                quota(&gpus.to_string())
            );
            scene.queue_of(&flavor, "  namespaces = { (mlplat_tenant.alpha.name) = \"gpu\" }")
        };
        scene.workspace.configure(&format!("{pool}{tenant}{}", queue(17)))?;
        assert_snapshot!("beside", errors(&scene.workspace.plan()?.ok()?));
        scene
            .workspace
            .configure(&format!("{tenant}{}", queue(16).replace("mlplat_gpu_pool.training.node_selector", "{}")))?;
        scene.workspace.apply()?.ok()?;
        // The namespace is there now. Without its tenant in the configuration the cluster tells what it does.
        let queue = queue(16)
            .replace("mlplat_gpu_pool.training.node_selector", "{}")
            .replace("(mlplat_tenant.alpha.name)", "beside-alpha");
        let changed = queue.replace("cpu = { nominal = 64 }", "cpu = { nominal = 65 }");
        scene.workspace.configure(&changed)?;
        let plan = scene.workspace.run(&["plan", "-no-color", "-target", QUEUE])?.ok()?;
        ensure!(plan.says("get \"ephemeral-storage\" from a LimitRange"), "{}{}", plan.stdout, plan.stderr);
        scene.workspace.configure(&format!("{tenant}{queue}"))?;
        scene.destroy()
    })
}

#[test]
fn what_the_cluster_refuses_is_told_at_plan() -> Result<()> {
    scene("policed", |scene| {
        // A policy of the cluster's own, beside Kueue's webhooks, which the checks mirror.
        let policy = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": "policed"},
            "spec": {
                "matchConstraints": {"resourceRules": [{
                    "apiGroups": ["kueue.x-k8s.io"], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"],
                    "resources": ["clusterqueues"],
                }]},
                "matchConditions": [{"name": "policed", "expression": "object.metadata.name == 'policed'"}],
                "validations": [{"expression": "has(object.spec.cohortName)", "message": "every queue is in a cohort"}],
            },
        });
        let binding = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": "policed"},
            "spec": {"policyName": "policed", "validationActions": ["Deny"]},
        });
        for object in [&policy, &binding] {
            scene.client().apply("mlplat-test", object)?;
        }
        scene.workspace.configure(&scene.queue(1, ""))?;
        // A new policy is in force after a moment.
        let refused = (0..50).find_map(|_| scene.workspace.plan().ok()?.failed().ok());
        ensure!(refused.is_some_and(|plan| plan.says("every queue is in a cohort")), "the policy is not told of");
        scene.workspace.configure(&scene.queue(1, "  cohort = \"policed\""))?;
        scene.apply()?;
        scene.destroy()?;
        let policies = "/apis/admissionregistration.k8s.io/v1";
        scene.client().delete(&format!("{policies}/validatingadmissionpolicybindings/policed"))?;
        scene.client().delete(&format!("{policies}/validatingadmissionpolicies/policed"))?;
        scene.client().find(&format!("{KUEUE}/clusterqueues/policed")).map(drop)
    })
}
