//! A bucket and a GPU pool: create, change, drift, repair, destroy.

use std::fs;

use acceptance_tests::{Account, Inventory, Workspace};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Life;

/// From nothing to nothing in this account.
pub(super) fn live(life: &mut Life<'_>, account: &Account) -> Result<()> {
    life.plan("terraform plan")?;
    life.change("terraform apply", Workspace::apply)?;
    life.nothing_to_do("terraform plan again: nothing to do")?;

    life.steps.step("Raise the pool's maximum in main.tf from 4 to 6", || raise_maximum(life.workspace))?;
    life.plan("terraform plan: one attribute changes")?;
    life.change("terraform apply", Workspace::apply)?;

    life.drift("Change both behind terraform's back", || drift(account))?;
    life.destroy(account)
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

fn of_kind<'i>(found: &'i Inventory, kind: &str) -> Result<(&'i str, &'i Value)> {
    let mut names = found.iter().filter_map(|(key, value)| Some((key.strip_prefix(kind)?, value)));
    names.next().with_context(|| format!("there is no {kind}… in the account"))
}
