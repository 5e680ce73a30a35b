//! Whether instance types can stand in for each other in one scaling group.
//!
//! Cluster Autoscaler takes one type of a mixed group for all of them. Where shapes differ it
//! starts nodes on which the pod then does not fit. A gang of training pods additionally runs at
//! the pace of its weakest member.

use std::fmt;

use super::InstanceType;

/// What of a type counts for its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ShapeAttribute {
    /// Which accelerator.
    Accelerator,
    /// How many of them.
    AcceleratorCount,
    /// Memory of each, in GiB.
    AcceleratorMemory,
    /// Virtual processors.
    Vcpus,
    /// Main memory in GiB.
    Memory,
    /// The processor's instruction set, and with it the image.
    Arch,
    /// EFA interfaces; matters only where EFA is used, since one launch template lists them.
    EfaInterfaces,
}

const ATTRIBUTES: [ShapeAttribute; 7] = [
    ShapeAttribute::Accelerator,
    ShapeAttribute::AcceleratorCount,
    ShapeAttribute::AcceleratorMemory,
    ShapeAttribute::Vcpus,
    ShapeAttribute::Memory,
    ShapeAttribute::Arch,
    ShapeAttribute::EfaInterfaces,
];

/// One attribute in which the types are not all alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The attribute.
    pub attribute: ShapeAttribute,
    /// Each type's name and value, in the order the types were given.
    pub values: Vec<(&'static str, String)>,
}

/// The attributes in which the types differ; empty where they can replace each other.
pub fn shape_differences(types: &[&InstanceType]) -> Vec<Difference> {
    ATTRIBUTES
        .into_iter()
        .map(|attribute| Difference {
            attribute,
            values: types.iter().map(|kind| (kind.name, attribute.of(kind))).collect(),
        })
        .filter(Difference::is_real)
        .collect()
}

// === impl ShapeAttribute ===

impl ShapeAttribute {
    fn of(self, kind: &InstanceType) -> String {
        match self {
            Self::Accelerator => kind.accelerator.name.to_owned(),
            Self::AcceleratorCount => kind.accelerator.count.to_string(),
            Self::AcceleratorMemory => format!("{} GiB", kind.accelerator.memory_gib_each),
            Self::Vcpus => kind.vcpus.to_string(),
            Self::Memory => format!("{} GiB", kind.memory_gib),
            Self::Arch => kind.arch.to_string(),
            Self::EfaInterfaces => match kind.efa_interfaces {
                Some(count) => count.to_string(),
                None => "not known".to_owned(),
            },
        }
    }
}

impl fmt::Display for ShapeAttribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Accelerator => "accelerator",
            Self::AcceleratorCount => "accelerators",
            Self::AcceleratorMemory => "memory of each accelerator",
            Self::Vcpus => "vCPUs",
            Self::Memory => "memory",
            Self::Arch => "architecture",
            Self::EfaInterfaces => "EFA interfaces",
        })
    }
}

// === impl Difference ===

impl Difference {
    fn is_real(&self) -> bool {
        let mut values = self.values.iter().map(|(_, value)| value);
        let first = values.next();
        values.any(|value| Some(value) != first)
    }
}

impl fmt::Display for Difference {
    /// For example `vCPUs: 4 ("g5.xlarge"), 8 ("g5.2xlarge")`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.attribute)?;
        for (place, (name, value)) in self.values.iter().enumerate() {
            let separator = if place == 0 { "" } else { ", " };
            write!(f, "{separator}{value} (\"{name}\")")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::find;

    fn differences(names: &[&str]) -> Vec<Difference> {
        let types: Vec<_> = names.iter().map(|name| find(name).expect("in the table")).collect();
        shape_differences(&types)
    }

    fn attributes(names: &[&str]) -> Vec<ShapeAttribute> {
        differences(names).into_iter().map(|difference| difference.attribute).collect()
    }

    #[test]
    fn one_type_or_none_has_one_shape() {
        assert!(differences(&[]).is_empty());
        assert!(differences(&["g5.xlarge"]).is_empty());
        assert!(differences(&["g5.xlarge", "g5.xlarge"]).is_empty());
    }

    #[test]
    fn two_sizes_of_a_family_differ_in_processor_and_memory() {
        let found = differences(&["g5.xlarge", "g5.2xlarge"]);
        let lines: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            ["vCPUs: 4 (\"g5.xlarge\"), 8 (\"g5.2xlarge\")", "memory: 16 GiB (\"g5.xlarge\"), 32 GiB (\"g5.2xlarge\")",]
        );
    }

    #[test]
    fn a_training_mix_differs_in_accelerator_memory_and_network() {
        use ShapeAttribute::{Accelerator, AcceleratorMemory, EfaInterfaces, Memory, Vcpus};
        assert_eq!(
            attributes(&["p4d.24xlarge", "p4de.24xlarge", "p5.48xlarge"]),
            [Accelerator, AcceleratorMemory, Vcpus, Memory, EfaInterfaces]
        );
    }

    #[test]
    fn types_alike_but_for_the_network_differ_in_that_alone() {
        assert_eq!(attributes(&["p5e.48xlarge", "p5en.48xlarge"]), [ShapeAttribute::EfaInterfaces]);
    }
}
