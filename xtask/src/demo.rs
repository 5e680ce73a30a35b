//! `cargo xtask demo`: the life of a bucket and a GPU pool on an emulated AWS, from nothing to nothing.

use std::fs;

use acceptance_tests::{Account, Inventory, Sandbox, Terraform, Workspace, snapshot, workspace::Output};
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::{checkout, only_flags, stack, steps::Steps};

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    only_flags(arguments, &[])?;
    let mut steps = Steps::start();
    let terraform = steps.step("Look for terraform or tofu", Terraform::find)?;
    println!("{terraform}");
    let provider = steps.step("Build the provider", || checkout::build_provider("dev"))?;
    let sandbox = steps.step("Start an emulated AWS on loopback", Sandbox::start)?;
    println!("account {} at {}", sandbox.account().id(), sandbox.emulator().url());
    let mut workspace = Workspace::with(terraform.clone(), sandbox.account().proxy().url())?;
    workspace.use_provider(&provider)?;
    for (name, value) in sandbox.environment() {
        workspace.set_env(&name, &value);
    }
    stack::copy("quickstart", &workspace)?;

    let life = Life { steps, account: sandbox.account(), workspace: &workspace };
    life.live()?.finish("Nothing is left, and what was there before is there still.");
    Ok(())
}

struct Life<'a> {
    steps: Steps,
    account: &'a Account,
    workspace: &'a Workspace,
}

// === impl Life ===

impl Life<'_> {
    fn live(mut self) -> Result<Steps> {
        self.plan("terraform plan")?;
        self.change("terraform apply", Workspace::apply)?;
        self.nothing_to_do("terraform plan again: nothing to do")?;

        self.steps.step("Raise the pool's maximum in main.tf from 4 to 6", || raise_maximum(self.workspace))?;
        self.plan("terraform plan: one attribute changes")?;
        self.change("terraform apply", Workspace::apply)?;

        let drift = self.steps.step("Change both behind terraform's back", || drift(self.account))?;
        println!("{}", drift.join("\n"));
        let plan = self.plan("terraform plan: it names the objects that drifted")?;
        ensure!(plan.says("drifted"), "the plan does not tell of the drift");
        self.change("terraform apply: it repairs these and no other", Workspace::apply)?;
        self.nothing_to_do("terraform plan again: nothing to do")?;

        self.change("terraform destroy", Workspace::destroy)?;
        self.steps.step("What is left in the account", || nothing_left(self.account))?;
        Ok(self.steps)
    }

    fn plan(&mut self, what: &str) -> Result<Output> {
        let output = self.steps.step(what, || self.workspace.plan()?.ok())?;
        println!("{}", without_warning(&output));
        Ok(output)
    }

    // The plan was shown before; it ends with the line that sums it up.
    fn change(&mut self, what: &str, run: impl Fn(&Workspace) -> Result<Output>) -> Result<()> {
        let output = self.steps.step(what, || run(self.workspace)?.ok())?;
        let text = without_warning(&output);
        println!("{}", text.find("\nPlan: ").map_or(text.as_str(), |end| &text[end + 1..]));
        Ok(())
    }

    fn nothing_to_do(&mut self, what: &str) -> Result<()> {
        let output = self.steps.step(what, || self.workspace.plan()?.no_changes())?;
        println!("{}", without_warning(&output));
        Ok(())
    }
}

fn raise_maximum(workspace: &Workspace) -> Result<()> {
    let text = fs::read_to_string(workspace.path().join("main.tf"))?;
    let raised = text.replace("max = 4", "max = 6");
    ensure!(raised != text, "the stack has no `max = 4`");
    workspace.configure(&raised)
}

// A console user suspends the bucket's versions; another one lets the pool grow beyond what was agreed.
fn drift(account: &Account) -> Result<Vec<String>> {
    let (aws, found) = (account.aws(), account.leftovers()?);
    let bucket = of_kind(&found, "s3:bucket/")?.0;
    let body = "<VersioningConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Status>Suspended</Status>\
                </VersioningConfiguration>";
    aws.s3("PUT", &format!("/{bucket}?versioning"), body)?;

    let (group, details) = of_kind(&found, "eks:nodegroup/")?;
    let (cluster, name) = group.split_once('/').context("a node group belongs to a cluster")?;
    let size = |key: &str| details["scaling_config"][key].as_u64().context("a node group has sizes");
    let most = size("maxSize")? + 7;
    let sizes = json!({"minSize": size("minSize")?, "maxSize": most, "desiredSize": size("desiredSize")?});
    let target = format!("/clusters/{cluster}/node-groups/{name}/update-config");
    let request = json!({"scalingConfig": sizes, "clientRequestToken": "demo"});
    aws.rest("eks", "POST", &target, &request)?;
    Ok(vec![
        format!("s3:PutBucketVersioning: the versions of {bucket} are suspended"),
        format!("eks:UpdateNodegroupConfig: {name} may now grow to {most} nodes"),
    ])
}

// What terraform said, without the warning that the provider is overridden, which every command repeats.
fn without_warning(output: &Output) -> String {
    let both = format!("{}\n{}", output.stdout, output.stderr);
    snapshot::without_override(&both).trim().to_owned()
}

fn of_kind<'i>(found: &'i Inventory, kind: &str) -> Result<(&'i str, &'i Value)> {
    let mut names = found.iter().filter_map(|(key, value)| Some((key.strip_prefix(kind)?, value)));
    names.next().with_context(|| format!("there is no {kind}… in the account"))
}

fn nothing_left(account: &Account) -> Result<()> {
    let (left, missing) = (account.leftovers()?, account.missing()?);
    if !left.is_empty() {
        bail!("left over: {left:#?}");
    }
    ensure!(missing.is_empty(), "destroyed although it was not ours: {missing:?}");
    println!("nothing that was not there before");
    Ok(())
}
