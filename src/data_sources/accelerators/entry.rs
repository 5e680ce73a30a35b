//! One instance type as the data source tells of it.

use std::collections::BTreeSet;

use tf_provider::Attributes;
use value::Value;

use crate::catalog::InstanceType;

/// An instance type with accelerators.
#[derive(Attributes, Clone, Debug, Default)]
#[attributes(computed)]
pub(super) struct Entry {
    /// Name, such as `g6.xlarge`.
    pub(super) name: Value<String>,
    /// Product, as the node label `nvidia.com/gpu.product` has it where there is one.
    product: Value<String>,
    /// Maker: `nvidia` or `neuron`.
    vendor: Value<String>,
    /// Number of accelerators.
    accelerator_count: Value<u32>,
    /// Memory of each accelerator in GiB.
    memory_gib: Value<f64>,
    /// How the accelerators reach each other: `none`, `nvlink`, `nvswitch` or `neuronlink`.
    interconnect: Value<String>,
    /// Name under which Kubernetes counts the accelerators.
    resource_name: Value<String>,
    /// Virtual processors.
    vcpus: Value<u32>,
    /// Main memory in GiB.
    main_memory_gib: Value<f64>,
    /// Processor: `x86_64` or `arm64`.
    arch: Value<String>,
    /// Number of Elastic Fabric Adapters it can have; null where that is not known.
    efa_interfaces: Value<u32>,
    /// Local NVMe storage in GB.
    local_nvme_gb: Value<u32>,
    /// Zones of the provider's region that AWS offers it in, to this account; empty where in none. Null where AWS was
    /// not asked or did not answer.
    zones: Value<BTreeSet<String>>,
    /// List price in US dollars an hour; null where none is known.
    hourly_usd: Value<f64>,
    /// Date of the price as `YYYY-MM-DD`.
    priced_on: Value<String>,
}

// === impl Entry ===

impl Entry {
    /// What the catalogue knows of an instance type, and its zones where AWS told them.
    pub(super) fn of(kind: &InstanceType, zones: Option<BTreeSet<String>>) -> Self {
        let device = &kind.accelerator;
        Self {
            name: Value::from(kind.name),
            product: Value::from(device.product_label.unwrap_or(device.name)),
            vendor: Value::known(device.vendor.to_string()),
            accelerator_count: Value::known(device.count),
            memory_gib: Value::known(device.memory_gib_each),
            interconnect: Value::known(device.interconnect.to_string()),
            resource_name: Value::from(device.vendor.resource_name()),
            vcpus: Value::known(kind.vcpus),
            main_memory_gib: Value::known(kind.memory_gib),
            arch: Value::known(kind.arch.to_string()),
            efa_interfaces: Value::from(kind.efa_interfaces),
            local_nvme_gb: Value::known(kind.local_nvme_gb),
            zones: Value::from(zones),
            hourly_usd: Value::from(kind.on_demand_usd_per_hour),
            priced_on: Value::from(kind.priced_on.map(str::to_owned)),
        }
    }
}
