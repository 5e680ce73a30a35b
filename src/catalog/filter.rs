//! Finding instance types, by name or by what they must have.

use std::cmp::Ordering;

use super::{Arch, InstanceType, Vendor, product::product_matches, table::instance_types};

/// What an instance type must have; an absent field asks for nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// The accelerator, in any usual spelling: `L4`, `NVIDIA-L4`.
    pub product: Option<String>,
    /// The maker.
    pub vendor: Option<Vendor>,
    /// The instance family, such as `g5`.
    pub family: Option<String>,
    /// The processor's instruction set.
    pub arch: Option<Arch>,
    /// Exactly so many accelerators.
    pub count: Option<u32>,
    /// At least so many accelerators.
    pub min_count: Option<u32>,
    /// At least so much memory on each accelerator, in GiB.
    pub min_memory_gib: Option<f64>,
    /// At least so much memory on all accelerators together, in GiB.
    pub min_total_memory_gib: Option<f64>,
    /// At least so many EFA interfaces; a type whose number is not known does not qualify.
    pub min_efa_interfaces: Option<u32>,
    /// A list price of at most this; a type without a price does not qualify.
    pub max_usd_per_hour: Option<f64>,
    /// Whether slices of a device (g6f, gr6f) qualify when `product` does not name one.
    pub include_fractions: bool,
}

// === impl Filter ===

impl Filter {
    /// Whether the type has everything that is asked for.
    pub fn accepts(&self, kind: &InstanceType) -> bool {
        self.accepts_device(kind) && self.accepts_machine(kind)
    }

    fn accepts_device(&self, kind: &InstanceType) -> bool {
        let device = &kind.accelerator;
        let product = match &self.product {
            Some(query) => product_matches(query, device),
            None => self.include_fractions || !kind.is_fraction(),
        };
        product
            && self.vendor.is_none_or(|vendor| vendor == device.vendor)
            && self.count.is_none_or(|count| count == device.count)
            && self.min_count.is_none_or(|least| least <= device.count)
            && self.min_memory_gib.is_none_or(|least| least <= device.memory_gib_each)
            && self.min_total_memory_gib.is_none_or(|least| least <= kind.accelerator_memory_gib())
    }

    fn accepts_machine(&self, kind: &InstanceType) -> bool {
        self.family.as_deref().is_none_or(|family| family == kind.family())
            && self.arch.is_none_or(|arch| arch == kind.arch)
            && self
                .min_efa_interfaces
                .is_none_or(|least| least == 0 || kind.efa_interfaces.is_some_and(|count| least <= count))
            && self.max_usd_per_hour.is_none_or(|most| kind.on_demand_usd_per_hour.is_some_and(|price| price <= most))
    }
}

/// The type of this name.
pub fn find(name: &str) -> Option<&'static InstanceType> {
    instance_types().iter().find(|kind| kind.name == name)
}

/// The types that have what is asked for, the cheapest first and those without a price last.
pub fn filter(filter: &Filter) -> Vec<&'static InstanceType> {
    let mut found: Vec<_> = instance_types().iter().filter(|kind| filter.accepts(kind)).collect();
    found.sort_by(|left, right| by_price(left, right));
    found
}

fn by_price(left: &InstanceType, right: &InstanceType) -> Ordering {
    let price = |kind: &InstanceType| kind.on_demand_usd_per_hour.unwrap_or(f64::INFINITY);
    price(left).total_cmp(&price(right)).then(left.vcpus.cmp(&right.vcpus)).then(left.name.cmp(right.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(wanted: &Filter) -> Vec<&'static str> {
        filter(wanted).into_iter().map(|kind| kind.name).collect()
    }

    #[test]
    fn a_type_is_found_by_its_exact_name() {
        assert_eq!(find("g5.xlarge").map(|kind| kind.vcpus), Some(4));
        assert_eq!(find("G5.xlarge"), None);
        assert_eq!(find("g5"), None);
    }

    #[test]
    fn one_l4_is_offered_from_the_cheapest_up() {
        let wanted =
            Filter { product: Some("L4".to_owned()), count: Some(1), min_memory_gib: Some(20.0), ..Filter::default() };
        assert_eq!(
            names(&wanted),
            ["g6.xlarge", "g6.2xlarge", "g6.4xlarge", "gr6.4xlarge", "g6.8xlarge", "gr6.8xlarge", "g6.16xlarge"]
        );
    }

    #[test]
    fn types_without_a_price_come_last_and_never_under_a_limit() {
        let mut wanted = Filter { product: Some("H200".to_owned()), ..Filter::default() };
        assert_eq!(names(&wanted), ["p5en.48xlarge", "p5e.48xlarge"]);
        wanted.max_usd_per_hour = Some(100.0);
        assert_eq!(names(&wanted), ["p5en.48xlarge"]);
    }

    #[test]
    fn slices_are_offered_only_when_asked_for() {
        let mut wanted = Filter { vendor: Some(Vendor::Nvidia), ..Filter::default() };
        assert_eq!(names(&wanted).first(), Some(&"g5g.xlarge"));
        wanted.include_fractions = true;
        assert_eq!(names(&wanted).first(), Some(&"g6f.large"));
        let slice = Filter { product: Some("L4-12Q".to_owned()), ..Filter::default() };
        assert_eq!(names(&slice), ["g6f.4xlarge", "gr6f.4xlarge"]);
    }

    #[test]
    fn every_condition_counts() {
        let wanted = Filter {
            vendor: Some(Vendor::Nvidia),
            arch: Some(Arch::X86_64),
            min_count: Some(8),
            min_total_memory_gib: Some(600.0),
            min_efa_interfaces: Some(16),
            ..Filter::default()
        };
        assert_eq!(names(&wanted), ["p5.48xlarge", "p5en.48xlarge", "p6-b300.48xlarge", "p5e.48xlarge"]);
        let arm = Filter { arch: Some(Arch::Arm64), family: Some("g5g".to_owned()), ..Filter::default() };
        assert_eq!(names(&arm).len(), 5);
    }

    #[test]
    fn an_empty_filter_returns_everything_but_slices() {
        assert_eq!(names(&Filter::default()).len(), 75);
    }
}
