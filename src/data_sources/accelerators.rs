//! `mlplat_accelerators`: the catalogue of instance types with accelerators, filtered.
//!
//! The catalogue is compiled in. Only the zones are asked of AWS, through [`FindZones`]; without an answer the rest is
//! told all the same.

mod entry;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures::{FutureExt, future::BoxFuture};
use tf_provider::{Attributes, Cty, DataSource, Diagnostic, Diagnostics, RequestCx, Schema};
use value::Value;

use self::entry::Entry;
use super::{decoded, schema};
use crate::catalog::{Arch, Filter, InstanceType, PRICE_DISCLAIMER, PRICE_REGION, Vendor, filter, known_products};

/// Availability zones by instance type.
pub type Zones = BTreeMap<String, BTreeSet<String>>;

/// Asks AWS in which zones it offers instance types.
pub trait FindZones: Send + Sync + 'static {
    /// The zones of each type in the provider's region.
    ///
    /// # Errors
    /// Why it could not be asked, for the user.
    fn find<'a>(&'a self, cx: &'a RequestCx, types: BTreeSet<String>) -> BoxFuture<'a, Result<Zones, Diagnostic>>;
}

/// The data source.
pub struct Accelerators(Arc<dyn FindZones>);

/// Instance types of AWS with GPUs or other accelerators, with their list prices and the zones that offer them.
///
/// Every argument that is set narrows the list; the cheapest instance types come first. All but the zones is known
/// without asking AWS: where AWS cannot be asked, for want of credentials say, `zones` is null and a warning tells why.
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
    /// Zones that each type must be offered in, such as `us-east-1a`; a type that one of them lacks is left out. The
    /// list cannot be read then where AWS cannot be asked.
    zones: Value<BTreeSet<String>>,
    /// Whether AWS is asked for the zones, which takes the permission `ec2:DescribeInstanceTypeOfferings`. Default:
    /// `true`.
    look_up_zones: Value<bool>,
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

// === impl Accelerators ===

impl Accelerators {
    /// The data source, asking through `find`.
    pub fn new(find: Arc<dyn FindZones>) -> Self {
        Self(find)
    }

    async fn zones(
        &self,
        cx: &RequestCx,
        asked: &AcceleratorsAttributes,
        complaints: &mut Diagnostics,
    ) -> Option<Zones> {
        let types: BTreeSet<String> = asked.found().map(|kind| kind.name.to_owned()).collect();
        if types.is_empty() || asked.look_up_zones.get() == Some(&false) {
            return None;
        }
        match self.0.find(cx, types).await {
            Ok(zones) => Some(zones),
            Err(complaint) => {
                complaints.push(if asked.zones.is_null() { as_warning(complaint) } else { complaint });
                None
            }
        }
    }
}

// Without its zones the list is still worth having.
fn as_warning(complaint: Diagnostic) -> Diagnostic {
    Diagnostic { severity: tf_provider::Severity::Warning, ..complaint }
        .advise("To do without the zones and this warning, set `look_up_zones = false`.")
}

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

    fn read<'a>(&'a self, cx: &'a RequestCx, config: Cty) -> BoxFuture<'a, (Cty, Diagnostics)> {
        async move {
            let (mut attributes, mut complaints) = decoded::<AcceleratorsAttributes>(&config);
            attributes.check(&mut complaints);
            if !complaints.has_errors() {
                let zones = self.zones(cx, &attributes, &mut complaints).await;
                attributes.answer(zones.as_ref());
            }
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
        self.check_zones(complaints);
        let product = Filter { product: self.product.get().cloned(), ..Filter::default() };
        if let Some(given) = self.product.get().filter(|_| filter(&product).is_empty()) {
            complaints.error(
                &self.product,
                format!("No accelerator is called {given:?}"),
                format!("The catalogue does not have it.\n\nGive one of {}.", known_products().join(", ")),
            );
        }
    }

    fn check_zones(&self, complaints: &mut Diagnostics) {
        if !self.zones.is_null() && self.look_up_zones.get() == Some(&false) {
            complaints.error(
                &self.zones,
                "`zones` needs `look_up_zones`",
                "Which types the zones offer is known to AWS alone, and `look_up_zones` is false.\n\nLeave out one of \
                 them.",
            );
        }
    }

    fn found(&self) -> impl Iterator<Item = &'static InstanceType> {
        filter(&self.filter()).into_iter()
    }

    fn answer(&mut self, offered: Option<&Zones>) {
        let wanted = self.zones.get().cloned().unwrap_or_default();
        let mut entries = Vec::new();
        for kind in self.found() {
            let zones = offered.map(|offered| offered.get(kind.name).cloned().unwrap_or_default());
            if zones.as_ref().is_none_or(|zones| wanted.is_subset(zones)) {
                entries.push(Entry::of(kind, zones));
            }
        }
        self.names = Value::known(entries.iter().filter_map(|entry| entry.name.get().cloned()).collect());
        self.instance_types = Value::known(entries);
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
