//! What AWS sells with an accelerator in it: instance types, their images, and what fits on them.
//!
//! Not a client: nothing here asks AWS, reads a clock or keeps state. Zones, quotas and today's
//! prices come from the drivers; this is what can be known while planning without credentials.
//!
//! **Invariant:** an instance type that is missing here is unknown, not wrong. AWS releases types
//! between our releases, so callers warn about an unknown type ([`nearest_names`], [`guess`]) and
//! leave the verdict to the API.

mod filter;
mod fit;
mod image;
mod memory;
mod model_uri;
mod names;
mod product;
mod resource_names;
mod shape;
mod table;

pub use self::{
    filter::{Filter, filter, find},
    fit::{USABLE_MEMORY_FRACTION, accelerators_needed, fit_instance_types},
    image::{EKS_NVIDIA_DRIVER_BRANCH, ImageFamily, ami_type, ami_type_for, check_driver},
    memory::{Architecture, Breakdown, Dtype, ModelSize, ModelSpec, model_memory_gib},
    model_uri::{ModelUri, Scheme, parse_model_uri},
    names::{Guess, guess, nearest_names},
    product::{known_products, product_matches},
    resource_names::{accelerator_quota_keys, quota_key},
    shape::{Difference, ShapeAttribute, shape_differences},
    table::{PRICE_DISCLAIMER, PRICE_REGION, PRICED_ON, instance_types, oldest_price_date},
};

use std::fmt;

/// An instance type with at least one accelerator.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceType {
    /// The name in the EC2 API, such as `g5.xlarge`.
    pub name: &'static str,
    /// The accelerators in it. One kind a type.
    pub accelerator: Accelerator,
    /// Virtual processors; EC2 quotas count these.
    pub vcpus: u32,
    /// Main memory in GiB.
    pub memory_gib: f64,
    /// The processor's instruction set.
    pub arch: Arch,
    /// Elastic Fabric Adapter interfaces it can have; `None` where that is not known.
    pub efa_interfaces: Option<u32>,
    /// Local NVMe storage in GB over all its disks; 0 without.
    pub local_nvme_gb: u32,
    /// List price, see [`PRICE_DISCLAIMER`]; `None` where it is not sold on demand.
    pub on_demand_usd_per_hour: Option<f64>,
    /// Date of the price list the price was read in, as `YYYY-MM-DD`.
    pub priced_on: Option<&'static str>,
    /// Service Quotas code of the On-Demand vCPU quota.
    pub vcpu_quota_code: Option<&'static str>,
    /// Service Quotas code of the Spot vCPU quota.
    pub spot_vcpu_quota_code: Option<&'static str>,
    /// Oldest NVIDIA driver branch that supports the device.
    pub min_driver_branch: Option<u16>,
}

/// The accelerators of one instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Accelerator {
    /// Who makes it, which decides driver, image and resource name.
    pub vendor: Vendor,
    /// The marketing name, such as `NVIDIA A10G` or `AWS Trainium2`.
    pub name: &'static str,
    /// What GPU Feature Discovery writes into the label `nvidia.com/gpu.product`.
    pub product_label: Option<&'static str>,
    /// Devices the node reports to Kubernetes.
    pub count: u32,
    /// The part of a physical device that each of them is: 1 but for g6f and gr6f.
    pub share: f64,
    /// Memory of each device in GiB, as the EC2 API reports it.
    pub memory_gib_each: f64,
    /// How devices of one instance reach each other.
    pub interconnect: Interconnect,
}

/// Maker of an accelerator, by the software stack it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Vendor {
    /// NVIDIA GPUs.
    Nvidia,
    /// Trainium and Inferentia.
    Neuron,
}

/// Instruction set of an instance's processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Arch {
    /// 64-bit Intel and AMD.
    X86_64,
    /// 64-bit Arm: Graviton and Grace.
    Arm64,
}

/// The link between the accelerators of one instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Interconnect {
    /// One device, or several on PCI Express.
    None,
    /// NVLink bridges between pairs of devices.
    NvLink,
    /// NVLink through switches, every device to every other at full speed.
    NvSwitch,
    /// Links between Neuron devices.
    NeuronLink,
}

// === impl InstanceType ===

impl InstanceType {
    /// The part of the name before the size: `g5` of `g5.xlarge`.
    pub fn family(&self) -> &'static str {
        names::family_of(self.name)
    }

    /// Memory of all its accelerators together, in GiB.
    pub fn accelerator_memory_gib(&self) -> f64 {
        f64::from(self.accelerator.count) * self.accelerator.memory_gib_each
    }

    /// Whether its accelerator is a slice of a physical device (g6f, gr6f).
    pub fn is_fraction(&self) -> bool {
        self.accelerator.share < 1.0
    }
}

// === impl Vendor ===

impl Vendor {
    /// The extended resource under which Kubernetes counts the devices.
    pub fn resource_name(self) -> &'static str {
        match self {
            Self::Nvidia => "nvidia.com/gpu",
            Self::Neuron => "aws.amazon.com/neuron",
        }
    }

    /// Reads the name users write: `nvidia` or `neuron`.
    pub fn parse(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "nvidia" => Some(Self::Nvidia),
            "neuron" => Some(Self::Neuron),
            _ => None,
        }
    }
}

impl fmt::Display for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nvidia => "nvidia",
            Self::Neuron => "neuron",
        })
    }
}

// === impl Arch ===

impl Arch {
    /// Reads the names of EC2 (`x86_64`, `arm64`) and of Kubernetes (`amd64`).
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "x86_64" | "amd64" => Some(Self::X86_64),
            "arm64" | "aarch64" => Some(Self::Arm64),
            _ => None,
        }
    }

    /// The value of the node label `kubernetes.io/arch`.
    pub fn kubernetes_name(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::X86_64 => "x86_64",
            Self::Arm64 => "arm64",
        })
    }
}

// === impl Interconnect ===

impl Interconnect {
    /// Reads the table's word.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "none" => Some(Self::None),
            "nvlink" => Some(Self::NvLink),
            "nvswitch" => Some(Self::NvSwitch),
            "neuronlink" => Some(Self::NeuronLink),
            _ => None,
        }
    }
}

impl fmt::Display for Interconnect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::NvLink => "nvlink",
            Self::NvSwitch => "nvswitch",
            Self::NeuronLink => "neuronlink",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_a_round_trip() {
        for vendor in [Vendor::Nvidia, Vendor::Neuron] {
            assert_eq!(Vendor::parse(&vendor.to_string()), Some(vendor));
        }
        for arch in [Arch::X86_64, Arch::Arm64] {
            assert_eq!(Arch::parse(&arch.to_string()), Some(arch));
            assert_eq!(Arch::parse(arch.kubernetes_name()), Some(arch));
        }
        for link in [Interconnect::None, Interconnect::NvLink, Interconnect::NvSwitch, Interconnect::NeuronLink] {
            assert_eq!(Interconnect::parse(&link.to_string()), Some(link));
        }
    }

    #[test]
    fn a_type_knows_its_family_and_total_memory() {
        let large = find("p5.48xlarge").expect("in the table");
        assert_eq!(large.family(), "p5");
        assert!((large.accelerator_memory_gib() - 640.0).abs() < 1e-9);
        assert!(!large.is_fraction());
        assert!(find("g6f.large").expect("in the table").is_fraction());
    }

    #[test]
    fn the_resource_name_follows_the_vendor() {
        assert_eq!(Vendor::Nvidia.resource_name(), "nvidia.com/gpu");
        assert_eq!(Vendor::Neuron.resource_name(), "aws.amazon.com/neuron");
    }
}
