//! What cannot be done to a volume that is there, told before it is done.

use converge::{Ledger, Node, Plan};
use serde_json::Value as Json;
use tf_provider::{Diagnostic, Diagnostics};

use super::{
    SharedFilesystem, Volume,
    volumes::{Keys, access_mode},
};

/// What of a volume its access point has, which cannot be changed.
const FIXED: [&str; 3] = ["path", "uid", "gid"];

/// The engine would replace what holds the data rather than leave a change undone, so this says no before.
pub(super) fn explain(filesystem: &SharedFilesystem, plan: &Plan, ledger: &Ledger, complaints: &mut Diagnostics) {
    for volume in filesystem.volumes.get().into_iter().flatten() {
        let Some(keys) = volume.keys() else { continue };
        let changed = changed(plan, ledger, (&keys, volume));
        if changed.is_empty() {
            continue;
        }
        let [namespace, name] = [&volume.namespace, &volume.name].map(|name| name.get().map_or("", String::as_str));
        let told = Diagnostic::error(
            &filesystem.volumes.path(),
            format!("The volume \"{namespace}/{name}\" cannot become another one in place"),
            format!(
                "Neither EFS nor Kubernetes changes {} of what is there, and pods may have it mounted.",
                changed.join(", ")
            ),
        );
        complaints.push(told.advise(
            "Give the changed volume another name, move the pods to its claim, and take the old one away afterwards. \
             The files stay where they are in either case.",
        ));
    }
}

fn changed(plan: &Plan, ledger: &Ledger, (keys, volume): (&Keys, &Volume)) -> Vec<String> {
    let mut changed: Vec<String> = FIXED
        .iter()
        .filter(|field| differs(plan, ledger, &keys.access_point, &format!("/{field}")))
        .map(|field| format!("`{field}`"))
        .collect();
    // Of a volume whose access point changes too, the manifest is not known yet.
    let applied = ledger.entries.get(&keys.claim).filter(|_| !is_elsewhere(plan, ledger, &keys.claim));
    let applied = applied.and_then(|entry| entry.document.get("manifest")?.pointer("/spec/accessModes/0")?.as_str());
    let wanted = access_mode(volume.read_only.get().copied().unwrap_or_default());
    if !volume.read_only.is_pending() && applied.is_some_and(|applied| applied != wanted) {
        changed.push("`read_only`".to_owned());
    }
    changed
}

// Whether a field that was applied is to be another one.
fn differs(plan: &Plan, ledger: &Ledger, key: &str, pointer: &str) -> bool {
    let wanted = plan.graph.nodes().get(key).map(|node| Json::Object(node.known_document()));
    let applied = ledger.entries.get(key).map(|entry| Json::Object(entry.document.clone()));
    let Some((wanted, applied)) = wanted.zip(applied) else { return false };
    let both = wanted.pointer(pointer).zip(applied.pointer(pointer));
    both.is_some_and(|(wanted, applied)| wanted != applied)
}

// In another cluster a volume is made anew.
fn is_elsewhere(plan: &Plan, ledger: &Ledger, key: &str) -> bool {
    let wanted = plan.graph.nodes().get(key).map(Node::known_document);
    let applied = ledger.entries.get(key).map(|entry| &entry.document);
    wanted.zip(applied).is_some_and(|(wanted, applied)| wanted.get("cluster") != applied.get("cluster"))
}
