//! Which node image EKS offers for an instance type, and where its disks are.
//!
//! Not the lookup of a release: the image's version comes from EKS and from SSM parameters. Facts
//! from the EKS user guide, "Use EKS-optimized accelerated AMIs", September 2026.

use super::{Arch, InstanceType, Vendor};

/// Driver branch in the EKS images for NVIDIA types.
pub const EKS_NVIDIA_DRIVER_BRANCH: u16 = 580;

/// An operating system that EKS publishes accelerated node images of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ImageFamily {
    /// Amazon Linux 2023.
    Al2023,
    /// Bottlerocket.
    Bottlerocket,
}

// === impl ImageFamily ===

impl ImageFamily {
    /// Reads the name users write. The error is a sentence for them.
    pub fn parse(name: &str) -> Result<Self, String> {
        match name {
            "al2023" => Ok(Self::Al2023),
            "bottlerocket" => Ok(Self::Bottlerocket),
            "al2" | "AL2" => Err("Image family \"al2\" has ended: EKS published its last \
                Amazon Linux 2 images in November 2025, and none for Kubernetes 1.33 or later. \
                Use \"al2023\" or \"bottlerocket\"."
                .to_owned()),
            _ => Err(format!("Image family {name:?} is not known. Use \"al2023\" or \"bottlerocket\".")),
        }
    }

    /// The name users write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Al2023 => "al2023",
            Self::Bottlerocket => "bottlerocket",
        }
    }

    /// The device the image boots from.
    pub fn root_device(self) -> &'static str {
        match self {
            Self::Al2023 | Self::Bottlerocket => "/dev/xvda",
        }
    }

    /// The device that holds container images and pods' ephemeral storage: the one a pool's disk
    /// size is about. Bottlerocket keeps them off its small, read-only root.
    pub fn data_device(self) -> &'static str {
        match self {
            Self::Al2023 => "/dev/xvda",
            Self::Bottlerocket => "/dev/xvdb",
        }
    }
}

/// The EKS `amiType` for an operating system, a processor and an accelerator.
///
/// `vendor` is `None` for nodes without accelerator. The error is a sentence for users.
pub fn ami_type(family: ImageFamily, arch: Arch, vendor: Option<Vendor>) -> Result<&'static str, String> {
    use Arch::{Arm64, X86_64};
    use ImageFamily::{Al2023, Bottlerocket};
    use Vendor::{Neuron, Nvidia};
    match (family, arch, vendor) {
        (Al2023, X86_64, Some(Nvidia)) => Ok("AL2023_x86_64_NVIDIA"),
        (Al2023, Arm64, Some(Nvidia)) => Ok("AL2023_ARM_64_NVIDIA"),
        (Al2023, X86_64, Some(Neuron)) => Ok("AL2023_x86_64_NEURON"),
        (Al2023, X86_64, None) => Ok("AL2023_x86_64_STANDARD"),
        (Al2023, Arm64, None) => Ok("AL2023_ARM_64_STANDARD"),
        (Bottlerocket, X86_64, Some(Nvidia)) => Ok("BOTTLEROCKET_x86_64_NVIDIA"),
        (Bottlerocket, Arm64, Some(Nvidia)) => Ok("BOTTLEROCKET_ARM_64_NVIDIA"),
        // Bottlerocket's standard image has the Neuron driver in it.
        (Bottlerocket, X86_64, Some(Neuron) | None) => Ok("BOTTLEROCKET_x86_64"),
        (Bottlerocket, Arm64, None) => Ok("BOTTLEROCKET_ARM_64"),
        (_, Arm64, Some(Neuron)) => Err(format!("EKS has no {} image for Neuron devices on arm64.", family.name())),
    }
}

/// The EKS `amiType` for a known instance type, checked against what that image supports.
///
/// The error is a sentence for users.
pub fn ami_type_for(family: ImageFamily, kind: &InstanceType) -> Result<&'static str, String> {
    check_driver(kind)?;
    if family == ImageFamily::Bottlerocket && kind.family() == "p6e-gb200" {
        return Err(format!(
            "Bottlerocket's NVIDIA image for arm64 supports g5g only, not \"{}\". \
             Use image family \"al2023\".",
            kind.name
        ));
    }
    ami_type(family, kind.arch, Some(kind.accelerator.vendor))
}

/// Whether the driver in the EKS images is new enough for the instance type.
///
/// The error is a sentence for users.
pub fn check_driver(kind: &InstanceType) -> Result<(), String> {
    match kind.min_driver_branch {
        Some(needed) if needed > EKS_NVIDIA_DRIVER_BRANCH => Err(format!(
            "\"{}\" needs NVIDIA driver branch {needed} or later, and the EKS images have \
             {EKS_NVIDIA_DRIVER_BRANCH}: the node would join without a usable GPU. It needs an \
             image of your own, built with that driver; choose another instance type otherwise.",
            kind.name
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{find, instance_types};

    fn check(family: ImageFamily, instance_type: &str, expected: &str) {
        let kind = find(instance_type).expect("in the table");
        assert_eq!(ami_type_for(family, kind), Ok(expected), "{instance_type}");
    }

    #[test]
    fn the_image_follows_system_processor_and_accelerator() {
        check(ImageFamily::Al2023, "g5.xlarge", "AL2023_x86_64_NVIDIA");
        check(ImageFamily::Al2023, "g5g.xlarge", "AL2023_ARM_64_NVIDIA");
        check(ImageFamily::Al2023, "p6e-gb200.36xlarge", "AL2023_ARM_64_NVIDIA");
        check(ImageFamily::Al2023, "trn2.48xlarge", "AL2023_x86_64_NEURON");
        check(ImageFamily::Bottlerocket, "p5.48xlarge", "BOTTLEROCKET_x86_64_NVIDIA");
        check(ImageFamily::Bottlerocket, "g5g.xlarge", "BOTTLEROCKET_ARM_64_NVIDIA");
        check(ImageFamily::Bottlerocket, "inf2.xlarge", "BOTTLEROCKET_x86_64");
    }

    #[test]
    fn a_node_without_accelerator_gets_the_standard_image() {
        let standard = |family, arch| ami_type(family, arch, None);
        assert_eq!(standard(ImageFamily::Al2023, Arch::X86_64), Ok("AL2023_x86_64_STANDARD"));
        assert_eq!(standard(ImageFamily::Al2023, Arch::Arm64), Ok("AL2023_ARM_64_STANDARD"));
        assert_eq!(standard(ImageFamily::Bottlerocket, Arch::X86_64), Ok("BOTTLEROCKET_x86_64"));
        assert_eq!(standard(ImageFamily::Bottlerocket, Arch::Arm64), Ok("BOTTLEROCKET_ARM_64"));
    }

    #[test]
    fn what_has_no_image_is_refused_with_the_reason() {
        let neuron = ami_type(ImageFamily::Al2023, Arch::Arm64, Some(Vendor::Neuron));
        assert_eq!(neuron, Err("EKS has no al2023 image for Neuron devices on arm64.".to_owned()));
        let grace = find("p6e-gb200.36xlarge").expect("in the table");
        assert!(ami_type_for(ImageFamily::Bottlerocket, grace).is_err());
    }

    #[test]
    fn g7_is_refused_because_of_its_driver_and_nothing_else_is() {
        for kind in instance_types() {
            assert_eq!(check_driver(kind).is_err(), kind.family() == "g7", "{}", kind.name);
        }
        let complaint = find("g7.2xlarge").map(check_driver);
        let text = complaint.and_then(Result::err).unwrap_or_default();
        assert!(text.contains("595") && text.contains("580"), "{text}");
    }

    #[test]
    fn a_dead_or_unknown_family_is_named_with_the_living_ones() {
        assert_eq!(ImageFamily::parse("al2023"), Ok(ImageFamily::Al2023));
        assert_eq!(ImageFamily::parse("bottlerocket"), Ok(ImageFamily::Bottlerocket));
        for name in ["al2", "ubuntu", ""] {
            let text = ImageFamily::parse(name).err().unwrap_or_default();
            assert!(text.contains("\"al2023\" or \"bottlerocket\""), "{text}");
        }
    }

    #[test]
    fn the_disk_size_is_about_the_device_with_the_containers() {
        assert_eq!(ImageFamily::Al2023.root_device(), "/dev/xvda");
        assert_eq!(ImageFamily::Al2023.data_device(), "/dev/xvda");
        assert_eq!(ImageFamily::Bottlerocket.root_device(), "/dev/xvda");
        assert_eq!(ImageFamily::Bottlerocket.data_device(), "/dev/xvdb");
    }
}
