//! `cargo xtask demo`: the life of two stacks, from nothing to nothing: a bucket and a GPU pool on an emulated AWS,
//! then a platform with a team's place, a queue and a model server on a real Kubernetes API server.

mod account;
mod platform;

use std::path::Path;

use acceptance_tests::{Account, Sandbox, Terraform, Workspace, kubernetes, snapshot, workspace::Output};
use anyhow::{Result, ensure};

use crate::{checkout, only_flags, stack, steps::Steps};

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    only_flags(arguments, &[])?;
    let mut steps = Steps::start();
    let terraform = steps.step("Look for terraform or tofu", Terraform::find)?;
    println!("{terraform}");
    let provider = steps.step("Build the provider", || checkout::provider("dev"))?;
    let mut sandbox = steps.step("Start an emulated AWS on loopback", Sandbox::start)?;
    println!("account {} at {}", sandbox.account().id(), sandbox.emulator().url());
    let workspace = workspace(&sandbox, terraform, &provider, "quickstart")?;
    account::live(&mut Life { steps: &mut steps, workspace: &workspace }, sandbox.account())?;

    let lacking = kubernetes::lacking();
    if lacking.is_none() {
        steps.step("Start a Kubernetes control plane with Kueue on loopback", || sandbox.add_kubernetes().map(drop))?;
        let workspace = self::workspace(&sandbox, terraform, &provider, "platform")?;
        platform::live(&mut Life { steps: &mut steps, workspace: &workspace }, &sandbox)?;
    }
    steps.finish("Nothing is left, and what was there before is there still.");
    if let Some(reason) = lacking {
        println!(
            "\nLeft out: the tenant, the queue and the model server of examples/stacks/platform, because {reason}."
        );
    }
    Ok(())
}

/// A workspace in the sandbox with the files of an example stack.
fn workspace(sandbox: &Sandbox, terraform: &Terraform, provider: &Path, name: &str) -> Result<Workspace> {
    let mut workspace = Workspace::with(terraform.clone(), sandbox.account().proxy().url())?;
    workspace.use_provider(provider)?;
    for (name, value) in sandbox.environment() {
        workspace.set_env(&name, &value);
    }
    stack::copy(name, &workspace)?;
    Ok(workspace)
}

/// What happens to one stack.
struct Life<'a> {
    steps: &'a mut Steps,
    workspace: &'a Workspace,
}

// === impl Life ===

impl Life<'_> {
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

    /// Let something be changed by others; the plan names it, and apply repairs it.
    fn drift(&mut self, what: &str, change: impl FnOnce() -> Result<Vec<String>>) -> Result<()> {
        let drift = self.steps.step(what, change)?;
        println!("{}", drift.join("\n"));
        let plan = self.plan("terraform plan: it names the objects that drifted")?;
        ensure!(plan.says("drifted"), "the plan does not tell of the drift");
        self.change("terraform apply: it repairs these and no other", Workspace::apply)?;
        self.nothing_to_do("terraform plan again: nothing to do")
    }

    fn destroy(&mut self, account: &Account) -> Result<()> {
        self.change("terraform destroy", Workspace::destroy)?;
        self.steps.step("What is left in the account", || nothing_left(account))
    }
}

// What terraform said, without the warning that the provider is overridden, which every command repeats.
fn without_warning(output: &Output) -> String {
    let both = format!("{}\n{}", output.stdout, output.stderr);
    snapshot::without_override(&both).trim().to_owned()
}

fn nothing_left(account: &Account) -> Result<()> {
    let (left, missing) = (account.leftovers()?, account.missing()?);
    ensure!(left.is_empty(), "left over: {left:#?}");
    ensure!(missing.is_empty(), "destroyed although it was not ours: {missing:?}");
    println!("nothing that was not there before");
    Ok(())
}
