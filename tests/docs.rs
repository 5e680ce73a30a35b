//! The reference in docs/ is what the schemas say. `MLPLAT_UPDATE=1` (or `cargo xtask docs`) writes it anew.

use std::{
    collections::BTreeMap,
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

use mlplat::provider::Provider;
use tf_provider::docs::Reference;

/// The folders that hold nothing but generated pages.
const GENERATED: [&str; 3] = ["resources", "data-sources", "functions"];

/// What stands above the actions.
const PERMISSIONS: &str = "\
---
page_title: \"Permissions\"
subcategory: \"\"
description: |-
  What the provider may have to do: IAM actions by the kind of object, and a role in the cluster.
---

# Permissions

The `components` of a resource tell which kinds of objects it is made of.
For each kind, the credentials need the actions below.
`data.mlplat_cluster` needs `eks:DescribeCluster`.
A pool passes the role of its nodes to EKS, which needs `iam:PassRole` on that role.

## Actions by kind
";

/// What stands above the role in the cluster.
const IN_THE_CLUSTER: &str = "
## In the cluster

The identity that Terraform runs as needs the role below, bound to it or to a group of it.
On EKS an access entry gives a group to an IAM role:

```shell
aws eks create-access-entry --cluster-name ml-prod --principal-arn arn:aws:iam::123456789012:role/terraform \\
  --kubernetes-groups mlplat
kubectl create clusterrolebinding mlplat --clusterrole mlplat --group mlplat
```

The groups of APIs that are not installed can be left out.
Rules that begin with \"Tells\" serve messages: without them the provider tells less, and what it makes is the same.
";

#[test]
fn the_reference_is_what_the_schemas_say() {
    let docs = root().join("docs");
    let pages = pages();
    let stale: Vec<String> = pages
        .iter()
        .filter(|(path, page)| fs::read_to_string(docs.join(path)).ok().as_ref() != Some(page))
        .map(|(path, _)| path.clone())
        .chain(orphans(&docs, &pages))
        .collect();
    if is_update() {
        write(&docs, &pages, &stale).unwrap();
    } else {
        assert!(stale.is_empty(), "stale below docs/: {stale:?}. Run `cargo xtask docs` and commit what it writes.");
    }
}

fn pages() -> BTreeMap<String, String> {
    let provider = Provider::new();
    let examples = root().join("examples");
    let reference = Reference {
        provider: &provider,
        name: "mlplat",
        title: "Machine-learning platforms",
        subcategory: &subcategory,
        example: &|path| fs::read_to_string(examples.join(path)).ok(),
    };
    let mut pages = reference.pages();
    pages.insert("guides/permissions.md".to_owned(), permissions());
    pages
}

// The IAM actions that the drivers name themselves.
fn permissions() -> String {
    let mut page = PERMISSIONS.to_owned();
    for (kind, actions) in mlplat::drivers::aws::actions() {
        let _ = write!(page, "\n### `{kind}`\n\n```text\n{}\n```\n", actions.join("\n"));
    }
    let _ = write!(page, "{IN_THE_CLUSTER}\n```yaml\n{}```\n", mlplat::drivers::kube::cluster_role("mlplat"));
    page
}

// The groups of the navigation; a type that is in none stands at the top.
fn subcategory(type_name: &str) -> &'static str {
    match type_name {
        "mlplat_gpu_pool" | "mlplat_accelerators" => "Compute",
        "mlplat_model_bucket" | "mlplat_shared_filesystem" => "Storage",
        "mlplat_cluster" => "Cluster",
        _ => "",
    }
}

fn orphans(docs: &Path, pages: &BTreeMap<String, String>) -> Vec<String> {
    let files = |folder: &'static str| {
        let entries = fs::read_dir(docs.join(folder)).into_iter().flatten().flatten();
        entries.map(move |entry| format!("{folder}/{}", entry.file_name().to_string_lossy()))
    };
    GENERATED.into_iter().flat_map(files).filter(|path| !pages.contains_key(path)).collect()
}

fn write(docs: &Path, pages: &BTreeMap<String, String>, stale: &[String]) -> io::Result<()> {
    for folder in GENERATED {
        fs::create_dir_all(docs.join(folder))?;
    }
    for path in stale {
        match pages.get(path) {
            Some(page) => fs::write(docs.join(path), page)?,
            None => fs::remove_file(docs.join(path))?,
        }
    }
    Ok(())
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[expect(clippy::disallowed_methods, reason = "a test's switch, read here only")]
fn is_update() -> bool {
    std::env::var_os("MLPLAT_UPDATE").is_some()
}
