//! The names under which device plug-ins offer accelerators to pods, and what is counted of them.

/// Whole devices, parts of them other than by MIG, and devices that are shared.
const NAMES: [&str; 11] = [
    "amd.com/gpu",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "aws.amazon.com/neurondevice",
    "google.com/tpu",
    "gpu.intel.com/i915",
    "gpu.intel.com/xe",
    "habana.ai/gaudi",
    "nvidia.com/gpu",
    "nvidia.com/gpu.shared",
    "nvidia.com/pgpu",
];

/// Profiles of NVIDIA's Multi-Instance GPU, from the A30 to the B300. Each is a resource of its own under the strategy
/// `mixed`; those with the media engines end in `.me`.
const PROFILES: [&str; 54] = [
    "1g.5gb",
    "1g.5gb.me",
    "1g.6gb",
    "1g.6gb.me",
    "1g.10gb",
    "1g.10gb.me",
    "1g.12gb",
    "1g.12gb.me",
    "1g.18gb",
    "1g.18gb.me",
    "1g.20gb",
    "1g.23gb",
    "1g.23gb.me",
    "1g.24gb",
    "1g.24gb.me",
    "1g.34gb",
    "1g.34gb.me",
    "1g.35gb",
    "1g.45gb",
    "1g.47gb",
    "1g.67gb",
    "2g.10gb",
    "2g.12gb",
    "2g.12gb.me",
    "2g.20gb",
    "2g.24gb",
    "2g.35gb",
    "2g.45gb",
    "2g.47gb",
    "2g.48gb",
    "2g.67gb",
    "3g.20gb",
    "3g.40gb",
    "3g.48gb",
    "3g.71gb",
    "3g.90gb",
    "3g.95gb",
    "3g.135gb",
    "4g.20gb",
    "4g.24gb",
    "4g.40gb",
    "4g.48gb",
    "4g.71gb",
    "4g.90gb",
    "4g.95gb",
    "4g.96gb",
    "4g.135gb",
    "7g.40gb",
    "7g.80gb",
    "7g.96gb",
    "7g.141gb",
    "7g.180gb",
    "7g.189gb",
    "7g.269gb",
];

/// Devices that are asked for by ResourceClaims are counted by the claim.
const CLAIMS: &str = "count/resourceclaims.resource.k8s.io";
const DEVICE_CLASS: &str = ".deviceclass.resource.k8s.io/devices";

/// Under what a ResourceQuota counts a resource: its requests. What names objects or the devices of a class is counted
/// as it is.
pub fn quota_key(name: &str) -> String {
    let is_key = name.starts_with("count/") || name.ends_with(DEVICE_CLASS);
    if is_key { name.to_owned() } else { format!("requests.{name}") }
}

/// What a ResourceQuota counts of all accelerators that are known here.
pub fn accelerator_quota_keys() -> impl Iterator<Item = String> {
    let profiles = PROFILES.iter().map(|profile| format!("nvidia.com/mig-{profile}"));
    NAMES.iter().copied().chain([CLAIMS]).map(str::to_owned).chain(profiles).map(|name| quota_key(&name))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn requests_are_counted_and_what_is_a_key_already_is_left() {
        assert_eq!(quota_key("nvidia.com/mig-1g.10gb"), "requests.nvidia.com/mig-1g.10gb");
        for key in [CLAIMS, "gpu.nvidia.com.deviceclass.resource.k8s.io/devices"] {
            assert_eq!(quota_key(key), key);
        }
    }

    #[test]
    fn every_name_is_there_once() {
        let keys: Vec<_> = accelerator_quota_keys().collect();
        assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
        assert!(keys.contains(&"requests.nvidia.com/mig-1g.5gb.me".to_owned()));
        for vendor in [crate::catalog::Vendor::Nvidia, crate::catalog::Vendor::Neuron] {
            assert!(keys.contains(&format!("requests.{}", vendor.resource_name())));
        }
    }
}
