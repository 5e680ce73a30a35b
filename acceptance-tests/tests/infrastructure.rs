//! The test infrastructure's own tests: emulator, proxy, terraform runs. None of them needs the provider.

use acceptance_tests::{
    Emulator, REGION, Rule, Sandbox, Terraform, Workspace, aws::Aws, command::run, emulator, localstack::LocalStack,
};
use anyhow::Result;
use serde_json::{Value, json};
use std::{
    process::Command,
    time::{Duration, Instant},
};

#[test]
fn the_emulator_keeps_its_promises() -> Result<()> {
    let emulator = Emulator::shared()?;
    let mut tests = Command::new(emulator::python()?);
    tests.args(["-m", "unittest", "test_emulator"]).current_dir(emulator::source_dir());
    run(tests.env("EMULATOR_URL", emulator.url())).map(drop)
}

#[test]
fn accounts_are_worlds_of_their_own() -> Result<()> {
    let emulator = Emulator::shared()?;
    let (mut one, mut two) = (emulator.account()?, emulator.account()?);
    let cluster = one.seed_cluster()?;
    assert_eq!((cluster.name.as_str(), cluster.subnet_ids.len()), ("ml-prod", 3));
    assert!(two.inventory()?.is_empty());
    two.seed_cluster()?;
    for account in [&one, &two] {
        client(account.proxy().url()).s3("PUT", "/the-same-name", "")?;
        let left = account.leftovers()?;
        assert_eq!(left.keys().collect::<Vec<_>>(), ["s3:bucket/the-same-name"]);
    }
    client(one.proxy().url()).s3("DELETE", "/the-same-name", "")?;
    assert!(one.leftovers()?.is_empty() && one.missing()?.is_empty());
    assert!(!two.leftovers()?.is_empty());
    two.forget()?;
    assert!(two.inventory()?.is_empty());
    Ok(())
}

#[test]
fn a_sandbox_has_a_cluster_and_tells_its_environment() -> Result<()> {
    let sandbox = Sandbox::start()?;
    let environment = sandbox.environment();
    assert_eq!(environment["TF_VAR_cluster"], "ml-prod");
    let identity = client(&environment["AWS_ENDPOINT_URL"]).query("sts", "GetCallerIdentity", &[])?;
    assert_eq!(identity.element("Account"), Some(sandbox.account().id()));
    Ok(())
}

#[test]
fn calls_are_counted_by_service_and_operation() -> Result<()> {
    let mut account = Emulator::shared()?.account()?;
    account.seed_cluster()?;
    let (proxy, aws) = (account.proxy(), client(account.proxy().url()));
    aws.s3("PUT", "/bucket-a", "")?;
    aws.s3("GET", "/bucket-a?versioning", "")?;
    aws.query("iam", "ListRoles", &[])?;
    aws.rest("eks", "GET", "/clusters/ml-prod", &Value::Null)?;
    let journal = proxy.take_journal();
    assert_eq!(journal.writes(), ["s3.CreateBucket"]);
    assert_eq!(journal.reads(), ["s3.GetBucketVersioning", "iam.ListRoles", "eks.DescribeCluster"]);
    assert!(journal.entries().iter().all(|entry| entry.status == Some(200)), "{journal}");
    assert!(proxy.journal().is_empty());
    Ok(())
}

#[test]
fn an_error_has_the_shape_of_its_service_and_hits_only_the_chosen_call() -> Result<()> {
    let account = Emulator::shared()?.account()?;
    let (proxy, aws) = (account.proxy(), client(account.proxy().url()));
    proxy.add_rule(Rule::on("s3.*").nth(2).throttle());
    proxy.add_rule(Rule::on("iam.*").access_denied());
    proxy.add_rule(Rule::on("eks.ListClusters").error(409, "ResourceInUseException", "boom & <bust>"));
    aws.s3("GET", "/", "")?;
    assert!(failure(aws.s3("GET", "/", "")).contains("<Code>SlowDown</Code>"));
    aws.s3("GET", "/", "")?;
    let denied = failure(aws.query("iam", "ListRoles", &[]));
    assert!(denied.contains("403") && denied.contains("<Code>AccessDenied</Code>"), "{denied}");
    let in_use = failure(aws.rest("eks", "GET", "/clusters", &Value::Null));
    assert!(in_use.contains("409") && in_use.contains("boom & <bust>"), "{in_use}");
    assert_eq!(proxy.hits(), 3);
    Ok(())
}

#[test]
fn a_dropped_connection_leaves_the_effect_it_should() -> Result<()> {
    let account = Emulator::shared()?.account()?;
    let (proxy, aws) = (account.proxy(), client(account.proxy().url()));
    proxy.add_rule(Rule::writes().nth(1).drop_before());
    proxy.add_rule(Rule::writes().nth(2).drop_after());
    assert!(aws.s3("PUT", "/bucket-before", "").is_err());
    assert!(aws.s3("PUT", "/bucket-after", "").is_err());
    let found = account.inventory()?;
    assert_eq!(found.keys().collect::<Vec<_>>(), ["s3:bucket/bucket-after"]);
    Ok(())
}

#[test]
fn a_cut_answer_announces_more_than_it_has() -> Result<()> {
    let account = Emulator::shared()?.account()?;
    account.proxy().add_rule(Rule::any().truncate());
    let whole = account.aws().query("iam", "ListPolicies", &[])?.body;
    let cut = client(account.proxy().url()).query("iam", "ListPolicies", &[]);
    assert!(cut.map_or(true, |reply| reply.body.len() < whole.len()));
    Ok(())
}

#[test]
fn an_answer_can_be_stubbed_or_patched() -> Result<()> {
    let mut account = Emulator::shared()?.account()?;
    account.seed_cluster()?;
    let (proxy, aws) = (account.proxy(), client(account.proxy().url()));
    proxy.add_rule(Rule::on("eks.ListClusters").respond_json(200, &json!({"clusters": ["stub"]})));
    proxy.add_rule(Rule::on("eks.DescribeCluster").first(1).patch_json("cluster.status", "CREATING"));
    assert_eq!(aws.rest("eks", "GET", "/clusters", &Value::Null)?["clusters"][0], "stub");
    let status = || aws.rest("eks", "GET", "/clusters/ml-prod", &Value::Null);
    assert_eq!(status()?["cluster"]["status"], "CREATING");
    assert_eq!(status()?["cluster"]["status"], "ACTIVE");
    Ok(())
}

#[test]
fn latency_is_added_and_parallel_calls_overlap() -> Result<()> {
    let account = Emulator::shared()?.account()?;
    client(account.proxy().url()).s3("GET", "/", "")?;
    account.proxy().set_latency(Duration::from_millis(300));
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| client(account.proxy().url()).s3("GET", "/", ""));
        }
    });
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(300), "{took:?}");
    assert!(account.proxy().journal().most_at_once() > 4);
    Ok(())
}

#[test]
fn a_hanging_call_ends_with_the_proxy() -> Result<()> {
    let account = Emulator::shared()?.account()?;
    account.proxy().add_rule(Rule::any().hang());
    let url = account.proxy().url().to_owned();
    let caller = std::thread::spawn(move || client(&url).s3("GET", "/", ""));
    while account.proxy().journal().is_empty() {
        std::thread::yield_now();
    }
    drop(account);
    assert!(caller.join().is_ok_and(|answer| answer.is_err()));
    Ok(())
}

/// Not a test of its own: run as a copy named like a provider, it is what the next test kills.
#[test]
fn a_caller_that_waits_for_its_answer() {
    if let Ok(url) = std::env::var("MLPLAT_CALL") {
        let _ = client(&url).s3("PUT", "/made-before-death", "");
        // Alive after the connection broke: the caller was not killed.
        std::process::exit(7);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_provider_is_killed_at_the_chosen_call() -> Result<()> {
    use std::os::unix::process::ExitStatusExt;
    let account = Emulator::shared()?.account()?;
    account.proxy().add_rule(Rule::writes().nth(1).kill_before());
    account.proxy().add_rule(Rule::writes().nth(2).kill_after());
    let dir = tempfile::tempdir()?;
    let program = dir.path().join("terraform-provider-probe");
    std::fs::copy(std::env::current_exe()?, &program)?;
    for made in [0, 1] {
        let mut caller = Command::new(&program);
        caller.args(["--exact", "a_caller_that_waits_for_its_answer"]).env("MLPLAT_CALL", account.proxy().url());
        assert_eq!(caller.output()?.status.signal(), Some(9));
        assert_eq!(account.inventory()?.len(), made);
    }
    Ok(())
}

#[test]
fn terraform_runs_in_a_workspace() -> Result<()> {
    let core = Terraform::find()?;
    let workspace = Workspace::with(core.clone(), "http://127.0.0.1:1")?;
    workspace.remove("versions.tf")?;
    workspace.configure("resource \"terraform_data\" \"a\" {\n  input = \"one\"\n}\n")?;
    workspace.run(&["init", "-no-color"])?.ok()?;
    assert_eq!(workspace.plan()?.status, 2);
    assert_eq!(workspace.plan_json()?["resource_changes"][0]["change"]["actions"], json!(["create"]));
    workspace.apply()?.ok()?;
    workspace.plan()?.no_changes()?;
    assert_eq!(workspace.attributes("terraform_data.a")?["output"], "one");
    workspace.taint("terraform_data.a")?.ok()?;
    assert!(workspace.plan()?.says("must be replaced"));
    workspace.untaint("terraform_data.a")?.ok()?;
    assert!(workspace.destroy()?.ok()?.says("1 destroyed"));
    workspace.configure("resource \"absent_thing\" \"a\" {")?;
    let broken = workspace.plan()?.failed()?;
    assert!(!broken.snapshot().contains(&workspace.path().to_string_lossy().into_owned()));
    Ok(())
}

#[test]
fn localstack_answers_where_it_can_run() {
    // Half a gigabyte to install: only where it was asked for.
    if std::env::var_os("MLPLAT_LOCALSTACK").is_none() {
        eprintln!("skipped: LocalStack is only started with MLPLAT_LOCALSTACK set");
        return;
    }
    match LocalStack::start() {
        Ok(localstack) => assert!(Aws::new(localstack.url(), "000000000000", REGION).s3("GET", "/", "").is_ok()),
        Err(reason) => eprintln!("skipped: {reason}"),
    }
}

fn client(url: &str) -> Aws {
    Aws::new(url, "ignored: the proxy names the account", REGION)
}

/// What a call said that must have failed.
fn failure<T: std::fmt::Debug>(answer: Result<T>) -> String {
    format!("{:#}", answer.expect_err("the call was expected to fail"))
}
