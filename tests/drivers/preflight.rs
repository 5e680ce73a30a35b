//! What is found at plan time of a node group to be made, from what the API really answers.

use std::collections::BTreeSet;

use acceptance_tests::{Cluster, Rule};
use aws_sdk_ec2::Client;
use converge::{Action, Severity, Step};
use mlplat::{components::aws::NodeGroup, drivers::aws::offerings};

use crate::world::{World, document, run_with_cluster};

fn group(cluster: &Cluster) -> NodeGroup {
    NodeGroup {
        cluster: cluster.name.clone(),
        name: "gpu".to_owned(),
        subnet_ids: cluster.subnet_ids.iter().cloned().collect(),
        instance_types: vec!["g5.xlarge".to_owned()],
        node_role_arn: cluster.node_role_arn.clone(),
        ..NodeGroup::default()
    }
}

async fn found(world: &World, spec: &NodeGroup, action: Action) -> Vec<String> {
    let driver = world.subject::<NodeGroup>().driver;
    let step = Step { action, fields: BTreeSet::new() };
    let findings = driver.preflight(&world.cx, &document(spec), &step).await;
    let word = |severity| if severity == Severity::Error { "error" } else { "warning" };
    findings
        .iter()
        .map(|finding| format!("{} {}: {}", word(finding.severity), finding.at.field, finding.summary))
        .collect()
}

async fn subnet(client: &Client, network: &str, block: &str, zone: &str) -> String {
    let request = client.create_subnet().vpc_id(network).cidr_block(block).availability_zone(zone);
    let made = request.send().await.expect("a subnet is made");
    made.subnet.and_then(|subnet| subnet.subnet_id).expect("it has an id")
}

#[test]
fn nothing_is_found_of_a_group_that_can_be_made() {
    run_with_cluster(async |world, cluster| {
        assert_eq!(found(world, &group(&cluster), Action::Create).await, [""; 0]);
        let calls = world.account.proxy().take_journal();
        let asked: BTreeSet<&str> = calls.reads().into_iter().collect();
        let questions = [
            "ec2.DescribeInstanceTypeOfferings",
            "ec2.DescribeSubnets",
            "eks.DescribeCluster",
            "iam.GetRole",
            "iam.ListAttachedRolePolicies",
            "iam.ListRolePolicies",
        ];
        assert_eq!((asked, calls.len()), (BTreeSet::from(questions), questions.len()));
        // Nothing that is asked about can change while the group stays.
        assert_eq!(found(world, &group(&cluster), Action::Update).await, [""; 0]);
        assert!(world.account.proxy().journal().is_empty());
    });
}

#[test]
fn subnets_that_will_not_do_are_found() {
    run_with_cluster(async |world, cluster| {
        let client = world.aws.ec2().await.expect("a client");
        let network = client.create_vpc().cidr_block("10.9.0.0/16").send().await.expect("a network is made");
        let network = network.vpc.and_then(|vpc| vpc.vpc_id).expect("it has an id");
        let foreign = subnet(client, &network, "10.9.0.0/20", "us-east-1a").await;
        let poor = subnet(client, &cluster.vpc_id, "10.42.240.0/20", "us-east-1e").await;
        let absent = "subnet-0123456789abcdef0".to_owned();
        let mut spec = group(&cluster);
        spec.subnet_ids.extend([foreign, poor, absent]);
        assert_eq!(
            found(world, &spec, Action::Roll).await,
            [
                "error subnet_ids: The subnet \"subnet-0123456789abcdef0\" is not there",
                "error subnet_ids: Subnets of the pool are not in the cluster's network",
                "error subnet_ids: g5.xlarge is not offered in us-east-1e",
            ]
        );
    });
}

#[test]
fn a_role_that_nodes_cannot_use_is_found() {
    run_with_cluster(async |world, cluster| {
        let role = |arn: &str| NodeGroup { node_role_arn: arn.to_owned(), ..group(&cluster) };
        let absent = "arn:aws:iam::123456789012:role/absent";
        let told = |arn: &str, what: &str| vec![format!("warning node_role_arn: The node role {arn:?} {what}")];
        assert_eq!(found(world, &role(absent), Action::Create).await, told(absent, "is not there"));
        let other = &cluster.cluster_role_arn;
        assert_eq!(found(world, &role(other), Action::Create).await, told(other, "does not trust EC2"));
        let client = world.aws.iam().await.expect("a client");
        let name = cluster.node_role_arn.rsplit('/').next().expect("a name");
        let detach = client.detach_role_policy().role_name(name);
        let worker = detach.policy_arn("arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy");
        worker.send().await.expect("the policy is detached");
        let bare = &cluster.node_role_arn;
        assert_eq!(found(world, &role(bare), Action::Create).await, told(bare, "may not let nodes join"));
    });
}

#[test]
fn what_may_not_be_asked_is_no_finding() {
    run_with_cluster(async |world, cluster| {
        world.account.proxy().add_rule(Rule::any().access_denied());
        let spec = NodeGroup { instance_types: vec!["p6.none".to_owned()], ..group(&cluster) };
        assert_eq!(found(world, &spec, Action::Create).await, [""; 0]);
    });
}

#[test]
fn the_zones_of_instance_types_are_told_by_one_call() {
    run_with_cluster(async |world, _| {
        let types = ["g5.xlarge", "p5en.48xlarge", "p6.none"].map(str::to_owned);
        let found = offerings(&world.aws, &BTreeSet::from(types)).await.expect("told");
        let zones = |name: &str| found[name].iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!(zones("g5.xlarge"), ["us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d", "us-east-1f"]);
        assert_eq!(zones("p5en.48xlarge"), ["us-east-1a", "us-east-1c"]);
        assert_eq!(zones("p6.none"), [""; 0]);
        assert_eq!(world.account.proxy().journal().len(), 1);
    });
}
