//! What EFS or Kubernetes would refuse, and what would be slow.

use std::collections::BTreeSet;

use tf_provider::Diagnostics;
use value::Value;

use super::{SharedFilesystem, ThroughputMode, Volume, marks};
use crate::resources::{
    arn,
    kubernetes::{NameRule, name_fault},
    tags,
};

/// The creation token has 64; the rest is for the names of volumes and of the security group.
const LONGEST_NAME: usize = 40;
const DAYS: [u32; 9] = [1, 7, 14, 30, 60, 90, 180, 270, 365];
const MOST_MIBPS: u32 = 3414;
const LONGEST_PATH: usize = 100;
const DEEPEST_PATH: usize = 4;
/// AWS allows 50 tags; the rest is for the provider's own.
const MOST_TAGS: usize = 40;

/// Measured once with elastic throughput, client and mount target in one zone: 894 GiB in 43 minutes.
const MEASURED_MIBPS: f64 = 894.0 * 1024.0 / (43.0 * 60.0);
/// Starts of pods that take longer are worth a warning.
const SLOW_MINUTES: f64 = 10.0;

pub(super) fn check(filesystem: &SharedFilesystem, complaints: &mut Diagnostics) {
    check_name(&filesystem.name, complaints);
    check_ids(&filesystem.subnet_ids, "subnet", "subnet-", complaints);
    check_ids(&filesystem.client_security_group_ids, "security group", "sg-", complaints);
    check_presence(filesystem, complaints);
    check_throughput(filesystem, complaints);
    check_days(&filesystem.transition_to_ia_after_days, complaints);
    check_key(&filesystem.kms_key_arn, complaints);
    check_volumes(filesystem, complaints);
    tags::check(&filesystem.tags, complaints);
}

fn check_name(name: &Value<String>, complaints: &mut Diagnostics) {
    let Some(text) = name.get() else { return };
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_fine = text.starts_with(is_inner)
        && text.ends_with(is_inner)
        && text.len() <= LONGEST_NAME
        && text.chars().all(|c| is_inner(c) || c == '-')
        && !text.starts_with("fs-");
    if !is_fine {
        complaints.error(
            name,
            format!("The file system's name {text:?} cannot be used"),
            format!(
                "Its volumes in Kubernetes are named after it.\n\nUse 1 to {LONGEST_NAME} lower-case letters, digits \
                 and hyphens, with a letter or digit at both ends; it may not begin with \"fs-\", as ids do."
            ),
        );
    }
}

fn check_ids(ids: &Value<BTreeSet<String>>, noun: &str, prefix: &str, complaints: &mut Diagnostics) {
    for id in ids.get().into_iter().flatten() {
        let is_fine = id
            .strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
        if !is_fine {
            complaints.error(
                ids,
                format!("{id:?} is not the id of a {noun}"),
                format!("Such an id begins with {prefix:?}.\n\nGive the id, not a name or an ARN."),
            );
        }
    }
}

fn check_presence(filesystem: &SharedFilesystem, complaints: &mut Diagnostics) {
    if filesystem.subnet_ids.get().is_some_and(BTreeSet::is_empty) {
        complaints.error(
            &filesystem.subnet_ids,
            "The file system has no subnet",
            "Without a mount target nobody can reach it.\n\nGive a subnet in each zone that clients are in.",
        );
    }
    if filesystem.client_security_group_ids.get().is_some_and(BTreeSet::is_empty) {
        complaints.warn(
            &filesystem.client_security_group_ids,
            "Nobody may mount the file system",
            "Its mount targets let no traffic in.\n\nGive the security group of the nodes.",
        );
    }
}

fn check_throughput(filesystem: &SharedFilesystem, complaints: &mut Diagnostics) {
    let Some(throughput) = filesystem.throughput.get() else { return };
    if throughput.mode.is_pending() || throughput.mibps.is_pending() {
        return;
    }
    let is_provisioned = throughput.mode.get() == Some(&ThroughputMode::Provisioned);
    match throughput.mibps.get() {
        None if is_provisioned => complaints.error(
            &throughput.mode,
            "Provisioned throughput has no amount",
            "With `mode = \"provisioned\"` EFS has to be told how much.\n\nSet `mibps`.",
        ),
        Some(_) if !is_provisioned => complaints.error(
            &throughput.mibps,
            "An amount of throughput has no effect in this mode",
            "Only provisioned throughput has one.\n\nSet `mode = \"provisioned\"`, or leave `mibps` out.",
        ),
        Some(mibps) if !(1..=MOST_MIBPS).contains(mibps) => complaints.error(
            &throughput.mibps,
            format!("EFS does not provision {mibps} MiB a second"),
            format!("It takes 1 to {MOST_MIBPS}.\n\nGive less, or use `mode = \"elastic\"`, which goes higher."),
        ),
        _ => {}
    }
}

fn check_days(days: &Value<u32>, complaints: &mut Diagnostics) {
    if let Some(number) = days.get().filter(|number| !DAYS.contains(number)) {
        let choices = DAYS.map(|days| days.to_string()).join(", ");
        complaints.error(
            days,
            format!("Files cannot move to Infrequent Access after {number} days"),
            format!("EFS has fixed numbers of days.\n\nUse one of {choices}."),
        );
    }
}

fn check_key(key: &Value<String>, complaints: &mut Diagnostics) {
    let is_fine = |text: &&String| arn::is_kms_key(text) && text.contains(":key/");
    if let Some(text) = key.get().filter(|text| !is_fine(text)) {
        complaints.error(
            key,
            "The KMS key is not given by its ARN",
            format!(
                "{text:?} is not the ARN of a key. EFS names a key by its ARN whatever it was told, so an alias would \
                 look changed.\n\nGive the key's ARN, such as \"arn:aws:kms:us-east-1:123456789012:key/…\"."
            ),
        );
    }
}

fn check_volumes(filesystem: &SharedFilesystem, complaints: &mut Diagnostics) {
    let Some(volumes) = filesystem.volumes.get() else { return };
    let mut ids = BTreeSet::new();
    for id in marks::ids(volumes) {
        if !ids.insert(id.clone()) {
            complaints.error(
                &filesystem.volumes,
                format!("There are two volumes {id:?}"),
                "A namespace has one claim of a name.\n\nGive one of them another name.",
            );
        }
    }
    for volume in volumes {
        check_volume(filesystem, volume, complaints);
    }
    let users = filesystem.tags.get().map_or(0, std::collections::BTreeMap::len);
    if users <= MOST_TAGS && users + volumes.len() > MOST_TAGS {
        complaints.error(
            &filesystem.volumes,
            format!("Too many volumes: {}", volumes.len()),
            format!(
                "The file system remembers each in a tag, of which AWS allows 50.\n\nHave at most {MOST_TAGS} tags and \
                 volumes together; make another file system for the rest."
            ),
        );
    }
}

fn check_volume(filesystem: &SharedFilesystem, volume: &Volume, complaints: &mut Diagnostics) {
    check_volume_name(volume, complaints);
    if let Some(reason) = volume.path.get().and_then(|path| path_fault(path)) {
        let path = volume.path.get().map_or("", String::as_str);
        complaints.error(&volume.path, format!("The path {path:?} cannot be used"), reason);
    }
    if volume.size_gib.get() == Some(&0) {
        let advice = "Kubernetes has no volume without size.\n\nGive about what the files will take, at least 1.";
        complaints.error(&volume.size_gib, "The volume has no size", advice);
    }
    check_load_time(filesystem, volume, complaints);
}

fn check_volume_name(volume: &Volume, complaints: &mut Diagnostics) {
    let parts = [(&volume.namespace, "namespace", NameRule::Label(63)), (&volume.name, "claim", NameRule::Subdomain)];
    for (at, noun, rule) in parts {
        if let Some((name, reason)) = at.get().and_then(|name| Some((name, name_fault(name, rule)?))) {
            complaints.error(at, format!("The {noun} name {name:?} cannot be used"), reason);
        }
    }
    let Some((namespace, name)) = volume.namespace.get().zip(volume.name.get()) else { return };
    let length = namespace.len() + name.len();
    if length > marks::LONGEST_VOLUME {
        complaints.error(
            &volume.name,
            "The names of a volume are too long",
            format!(
                "Namespace and name have {length} characters together, and stand in the key of a tag.\n\nUse at most {} \
                 for both.",
                marks::LONGEST_VOLUME
            ),
        );
    }
}

fn path_fault(path: &str) -> Option<String> {
    let reason = match path.strip_prefix('/') {
        None => "It does not begin with a slash.".to_owned(),
        Some("") => return None,
        Some(rest) => {
            let steps: Vec<&str> = rest.split('/').collect();
            match () {
                () if steps.iter().any(|step| step.is_empty() || step.starts_with('.')) => {
                    "A step of it is empty or begins with a dot.".to_owned()
                }
                () if steps.len() > DEEPEST_PATH => format!("It is {} deep.", steps.len()),
                () if path.len() > LONGEST_PATH => format!("It has {} characters.", path.len()),
                () if !marks::is_writable(path) => "It has a space or a special character.".to_owned(),
                () => return None,
            }
        }
    };
    Some(format!(
        "{reason}\n\nUse up to {DEEPEST_PATH} steps of letters, digits and _ . : = + - @ after a slash each, at most \
         {LONGEST_PATH} characters in all, such as \"/models\"."
    ))
}

fn check_load_time(filesystem: &SharedFilesystem, volume: &Volume, complaints: &mut Diagnostics) {
    let Some(size_gib) = volume.size_gib.get() else { return };
    let minutes = load_minutes(*size_gib, provisioned(filesystem));
    if minutes < SLOW_MINUTES {
        return;
    }
    complaints.warn(
        &volume.size_gib,
        format!("Reading {size_gib} GiB from EFS takes about {minutes:.0} minutes"),
        "A model server that reads its weights from this volume takes as long at every start: 894 GiB were measured to \
         take 43 minutes with elastic throughput in one zone.\n\nKeep large weights in a mlplat_model_bucket and let the \
         model server stream them, or keep them on the nodes' own disks. Otherwise give the server a start-up budget of \
         twice that time.",
    );
}

// Reads count a third of what is provisioned.
fn provisioned(filesystem: &SharedFilesystem) -> Option<f64> {
    let throughput = filesystem.throughput.get()?;
    let is_provisioned = throughput.mode.get() == Some(&ThroughputMode::Provisioned);
    throughput.mibps.get().filter(|_| is_provisioned).map(|mibps| f64::from(*mibps) * 3.0)
}

/// Minutes that it takes to read so much.
pub(super) fn load_minutes(size_gib: u32, provisioned_mibps: Option<f64>) -> f64 {
    let mibps =
        provisioned_mibps.filter(|mibps| *mibps >= 1.0).map_or(MEASURED_MIBPS, |mibps| mibps.min(MEASURED_MIBPS));
    f64::from(size_gib) * 1024.0 / mibps / 60.0
}
