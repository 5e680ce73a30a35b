//! `mlplat_accelerators`: the catalogue of instance types with accelerators, filtered.
//!
//! Makes no calls: the catalogue is compiled in.

use futures::{FutureExt, future::BoxFuture};
use tf_provider::{Attributes, Cty, DataSource, Diagnostics, RequestCx, Schema};
use value::Value;

use super::{decoded, schema};
use crate::catalog::{Arch, Filter, InstanceType, PRICE_DISCLAIMER, PRICE_REGION, Vendor, filter, known_products};

/// The data source.
#[derive(Clone, Copy, Debug, Default)]
pub struct Accelerators;

/// Instance types of AWS with GPUs or other accelerators: what the provider knows without asking AWS.
///
/// Every argument that is set narrows the list; the cheapest instance types come first.
#[derive(Attributes, Clone, Debug, Default)]
struct AcceleratorsAttributes {
    /// Product, in any usual spelling: `L4`, `NVIDIA-L4`, `A100-80GB`, `Trainium2`.
    product: Value<String>,
    /// Maker: `nvidia` or `neuron`.
    vendor: Value<String>,
    /// Instance family, such as `g6`.
    family: Value<String>,
    /// Processor: `x86_64` or `arm64`.
    arch: Value<String>,
    /// Exact number of accelerators.
    accelerator_count: Value<u32>,
    /// Least number of accelerators.
    accelerator_count_min: Value<u32>,
    /// Least memory of each accelerator in GiB.
    memory_gib_min: Value<f64>,
    /// Least memory of all accelerators of an instance together, in GiB.
    total_memory_gib_min: Value<f64>,
    /// Least number of Elastic Fabric Adapters.
    efa_interfaces_min: Value<u32>,
    /// Highest list price in US dollars an hour. Types without a known price are left out then.
    hourly_usd_max: Value<f64>,
    /// Whether slices of a GPU are listed too (g6f, gr6f), where `product` names none. Default: `false`.
    include_fractions: Value<bool>,
    /// The instance types, the cheapest first and those without a price last.
    #[attribute(computed)]
    instance_types: Value<Vec<Entry>>,
    /// Their names, in the same order.
    #[attribute(computed)]
    names: Value<Vec<String>>,
    /// Region of the prices.
    #[attribute(computed)]
    price_region: Value<String>,
    /// What the prices do and do not say.
    #[attribute(computed)]
    price_note: Value<String>,
}

/// An instance type with accelerators.
#[derive(Attributes, Clone, Debug, Default)]
#[attributes(computed)]
struct Entry {
    /// Name, such as `g6.xlarge`.
    name: Value<String>,
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
    /// List price in US dollars an hour; null where none is known.
    hourly_usd: Value<f64>,
    /// Date of the price as `YYYY-MM-DD`.
    priced_on: Value<String>,
}

// === impl Accelerators ===

impl DataSource for Accelerators {
    fn type_name(&self) -> &'static str {
        "mlplat_accelerators"
    }

    fn schema(&self) -> Schema {
        schema::<AcceleratorsAttributes>()
    }

    fn validate(&self, config: &Cty) -> Diagnostics {
        let (attributes, mut complaints) = decoded::<AcceleratorsAttributes>(config);
        attributes.check(&mut complaints);
        complaints
    }

    fn read<'a>(&'a self, _cx: &'a RequestCx, config: Cty) -> BoxFuture<'a, (Cty, Diagnostics)> {
        async move {
            let (mut attributes, mut complaints) = decoded::<AcceleratorsAttributes>(&config);
            attributes.check(&mut complaints);
            attributes.answer();
            (attributes.encode_object(), complaints)
        }
        .boxed()
    }
}

// === impl AcceleratorsAttributes ===

impl AcceleratorsAttributes {
    fn check(&self, complaints: &mut Diagnostics) {
        let vendor = self.vendor.get().filter(|name| Vendor::parse(name).is_none());
        let arch = self.arch.get().filter(|name| Arch::parse(name).is_none());
        for (value, given, words) in
            [(&self.vendor, vendor, "\"nvidia\" or \"neuron\""), (&self.arch, arch, "\"x86_64\" or \"arm64\"")]
        {
            if let Some(given) = given {
                let name = value.path();
                complaints.error(
                    value,
                    format!("`{name}` cannot be {given:?}"),
                    format!("There is no such `{name}` in the catalogue.\n\nGive {words}."),
                );
            }
        }
        let product = Filter { product: self.product.get().cloned(), ..Filter::default() };
        if let Some(given) = self.product.get().filter(|_| filter(&product).is_empty()) {
            complaints.error(
                &self.product,
                format!("No accelerator is called {given:?}"),
                format!("The catalogue does not have it.\n\nGive one of {}.", known_products().join(", ")),
            );
        }
    }

    fn answer(&mut self) {
        let found = filter(&self.filter());
        self.names = Value::known(found.iter().map(|kind| kind.name.to_owned()).collect());
        self.instance_types = Value::known(found.into_iter().map(Entry::of).collect());
        self.price_region = Value::from(PRICE_REGION);
        self.price_note = Value::from(PRICE_DISCLAIMER);
    }

    fn filter(&self) -> Filter {
        Filter {
            product: self.product.get().cloned(),
            vendor: self.vendor.get().and_then(|name| Vendor::parse(name)),
            family: self.family.get().cloned(),
            arch: self.arch.get().and_then(|name| Arch::parse(name)),
            count: self.accelerator_count.get().copied(),
            min_count: self.accelerator_count_min.get().copied(),
            min_memory_gib: self.memory_gib_min.get().copied(),
            min_total_memory_gib: self.total_memory_gib_min.get().copied(),
            min_efa_interfaces: self.efa_interfaces_min.get().copied(),
            max_usd_per_hour: self.hourly_usd_max.get().copied(),
            include_fractions: self.include_fractions.get().copied().unwrap_or_default(),
        }
    }
}

// === impl Entry ===

impl Entry {
    fn of(kind: &InstanceType) -> Self {
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
            hourly_usd: Value::from(kind.on_demand_usd_per_hour),
            priced_on: Value::from(kind.priced_on.map(str::to_owned)),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use tf_provider::Number;

    use super::*;

    fn read(config: &[(&str, Cty)]) -> (Cty, Diagnostics) {
        let mut object = Accelerators.schema().block.null_object();
        for (name, value) in config {
            object.set(name, value.clone());
        }
        Accelerators.read(&RequestCx::default(), object).now_or_never().expect("it waits for nothing")
    }

    fn names(config: &[(&str, Cty)]) -> Vec<String> {
        match read(config).0.get("names") {
            Cty::List(names) => names.iter().filter_map(Cty::as_str).map(str::to_owned).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_argument_narrows_the_list() {
        let l40s = ("product", Cty::from("L40S"));
        assert_eq!(names(std::slice::from_ref(&l40s)).first().map(String::as_str), Some("g6e.xlarge"));
        assert_eq!(names(&[l40s, ("accelerator_count_min", Cty::from(8))]), ["g6e.48xlarge"]);
        assert!(
            names(&[("arch", Cty::from("arm64"))])
                .iter()
                .all(|name| name.starts_with("g5g") || name.starts_with("p6e"))
        );
    }

    #[test]
    fn an_entry_tells_what_the_catalogue_knows() {
        let (read, complaints) = read(&[("family", Cty::from("g6")), ("hourly_usd_max", Cty::from(1))]);
        assert!(complaints.is_empty());
        let Cty::List(entries) = read.get("instance_types") else { panic!("a list") };
        let first = entries.first().expect("g6.xlarge");
        assert_eq!(first.get("name"), &Cty::from("g6.xlarge"));
        assert_eq!(first.get("product"), &Cty::from("NVIDIA-L4"));
        assert_eq!(first.get("accelerator_count"), &Cty::Number(Number::from(1_i64)));
        assert_eq!(first.get("resource_name"), &Cty::from("nvidia.com/gpu"));
    }

    #[test]
    fn words_that_are_none_are_refused() {
        let complaints = read(&[("vendor", Cty::from("amd")), ("product", Cty::from("L5"))]).1;
        let told: Vec<_> = complaints.iter().map(|told| told.summary.as_str()).collect();
        assert_eq!(told, ["`vendor` cannot be \"amd\"", "No accelerator is called \"L5\""]);
        assert!(Accelerators.validate(&Accelerators.schema().block.null_object()).is_empty());
    }
}
