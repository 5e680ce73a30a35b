//! Data sources: with an account, without credentials, and while the provider is not known yet.

use crate::support::{Stage, errors};
use anyhow::Result;
use serde_json::{Value, json};

const ACCELERATORS: &str = r#"
data "mlplat_accelerators" "big" {
  product           = "H200"
  accelerator_count = 8
}

output "zones" {
  value = { for kind in data.mlplat_accelerators.big.instance_types : kind.name => kind.zones }
}
"#;

fn zones(stage: &Stage) -> Result<Value> {
    Ok(serde_json::from_str(&stage.workspace.run(&["output", "-json", "zones"])?.ok()?.stdout)?)
}

#[test]
fn instance_types_are_listed_with_the_zones_that_offer_them() -> Result<()> {
    let stage = Stage::empty()?;
    stage.workspace.configure(ACCELERATORS)?;
    stage.workspace.apply()?.ok()?;
    assert_eq!(zones(&stage)?["p5en.48xlarge"], json!(["us-east-1a", "us-east-1c"]));
    let journal = stage.account.proxy().take_journal();
    assert_eq!((journal.len(), journal.count("ec2.DescribeInstanceTypeOfferings")), (1, 1), "{journal}");

    let narrowed = ACCELERATORS.replace("= 8", "= 8\n  zones = [\"us-east-1b\"]");
    stage.workspace.configure(&narrowed)?;
    stage.workspace.apply()?.ok()?;
    assert_eq!(zones(&stage)?["p5en.48xlarge"], Value::Null);
    Ok(())
}

#[test]
fn without_credentials_the_catalogue_is_told_all_the_same() -> Result<()> {
    let mut stage = Stage::empty()?;
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
        stage.workspace.unset_env(name);
    }
    stage.workspace.configure(ACCELERATORS)?;
    let warned = stage.workspace.apply()?.ok()?;
    assert_eq!(zones(&stage)?["p5en.48xlarge"], Value::Null);
    assert!(warned.says("Cannot tell in which zones instance types are offered"), "{}", warned.stdout);
    assert!(warned.says("look_up_zones = false"), "{}", warned.stdout);

    stage.workspace.configure(&ACCELERATORS.replace("= 8", "= 8\n  look_up_zones = false"))?;
    let silent = stage.workspace.plan()?.no_changes()?;
    assert!(!silent.says("in which zones"), "{}", silent.stdout);

    stage.workspace.configure(&ACCELERATORS.replace("= 8", "= 8\n  zones = [\"us-east-1b\"]"))?;
    assert_snapshot!("accelerators_without_credentials", errors(&stage.workspace.plan()?.failed()?));
    assert!(stage.account.proxy().journal().is_empty());
    Ok(())
}

#[test]
fn nothing_is_read_from_an_account_that_is_not_known_yet() -> Result<()> {
    let stage = Stage::with_cluster()?;
    let provider = "resource \"terraform_data\" \"region\" {\n  input = \"us-east-1\"\n}\nprovider \"mlplat\" {\n  region = terraform_data.region.output\n}\n";
    let cluster = "data \"mlplat_cluster\" \"main\" {\n  name = \"ml-prod\"\n}\n";
    stage.workspace.configure(&format!("{provider}{cluster}"))?;
    assert_snapshot!("cluster_of_an_unknown_region", errors(&stage.workspace.plan()?.failed()?));
    assert!(stage.account.proxy().journal().is_empty());
    let after = cluster.replace("\"ml-prod\"\n", "\"ml-prod\"\n  depends_on = [terraform_data.region]\n");
    stage.workspace.configure(&format!("{provider}{after}"))?;
    stage.workspace.apply()?.ok()?;
    stage.workspace.plan()?.no_changes()?;
    Ok(())
}
