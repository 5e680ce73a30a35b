//! What the instance types of a pool are: their accelerators, image and price, from the catalogue.
//!
//! Decides nothing about the pool and complains of nothing; what cannot be known is absent.

use crate::catalog::{
    Arch, Filter, ImageFamily, InstanceType, ShapeAttribute, Vendor, ami_type, ami_type_for, filter, find, guess,
    shape_differences,
};

/// The instance types of a pool, by what is known of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Hardware {
    /// Those in the catalogue, in the pool's order.
    pub known: Vec<&'static InstanceType>,
    /// Names of the others.
    pub unknown: Vec<String>,
}

/// An accelerator that is asked for, wholly known.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Request {
    /// Product.
    pub product: String,
    /// Exact number on a node.
    pub count: Option<u32>,
    /// Least memory of each, in GiB.
    pub memory_gib_min: Option<f64>,
}

// === impl Hardware ===

impl Hardware {
    /// Looks the names up.
    pub(super) fn of(names: &[String]) -> Self {
        let known = names.iter().filter_map(|name| find(name)).collect();
        Self { known, unknown: names.iter().filter(|name| find(name).is_none()).cloned().collect() }
    }

    /// Maker and processor of each type, known or guessed from its name.
    pub(super) fn kinds(&self) -> impl Iterator<Item = (String, Vendor, Arch)> {
        let known = self.known.iter().map(|kind| (kind.name.to_owned(), kind.accelerator.vendor, kind.arch));
        let guessed = self.unknown.iter().filter_map(|name| guess(name).map(|is| (name.clone(), is.vendor, is.arch)));
        known.chain(guessed)
    }

    /// The maker of the accelerators, told by the first type.
    pub(super) fn vendor(&self) -> Option<Vendor> {
        self.kinds().next().map(|(_, vendor, _)| vendor)
    }

    /// EKS's image type, told by the first type; the error is a sentence for users.
    pub(super) fn image_type(&self, family: ImageFamily) -> Option<Result<&'static str, String>> {
        if let Some(kind) = self.known.first() {
            return Some(ami_type_for(family, kind));
        }
        let (_, vendor, arch) = self.kinds().next()?;
        Some(ami_type(family, arch, Some(vendor)))
    }

    /// The value of NVIDIA's product label, where all types have the same.
    pub(super) fn product_label(&self) -> Option<&'static str> {
        let first = self.known.first()?.accelerator.product_label?;
        let same = self.known.iter().all(|kind| kind.accelerator.product_label == Some(first));
        (same && self.unknown.is_empty()).then_some(first)
    }

    /// The product as users know it: that of the first type.
    pub(super) fn product(&self) -> Option<String> {
        let device = &self.known.first()?.accelerator;
        Some(device.product_label.unwrap_or(device.name).to_owned())
    }

    /// Accelerators of a node: the smallest and the largest number.
    pub(super) fn counts(&self) -> Option<(u32, u32)> {
        let counts = || self.known.iter().map(|kind| kind.accelerator.count);
        Some((counts().min()?, counts().max()?))
    }

    /// Memory of an accelerator in GiB: the smallest.
    pub(super) fn memory_gib(&self) -> Option<f64> {
        self.known.iter().map(|kind| kind.accelerator.memory_gib_each).min_by(f64::total_cmp)
    }

    /// The cheapest and the dearest type with their prices; none where any price is not known.
    pub(super) fn prices(&self) -> Option<[(&'static str, f64); 2]> {
        if !self.unknown.is_empty() {
            return None;
        }
        let priced: Option<Vec<_>> =
            self.known.iter().map(|kind| Some((kind.name, kind.on_demand_usd_per_hour?))).collect();
        let priced = priced?;
        let cheapest = priced.iter().min_by(|left, right| left.1.total_cmp(&right.1))?;
        let dearest = priced.iter().max_by(|left, right| left.1.total_cmp(&right.1))?;
        Some([*cheapest, *dearest])
    }

    /// Types without a known price.
    pub(super) fn unpriced(&self) -> Vec<String> {
        let known = self.known.iter().filter(|kind| kind.on_demand_usd_per_hour.is_none());
        self.unknown.iter().cloned().chain(known.map(|kind| kind.name.to_owned())).collect()
    }
}

// === impl Request ===

impl Request {
    /// The cheapest type that has it and can run an EKS image, and those of the same shape, in order of price.
    pub(super) fn instance_types(&self) -> Vec<String> {
        let found = self.candidates();
        let Some(first) = found.first().copied() else { return Vec::new() };
        found.into_iter().filter(|kind| has_shape_of(first, kind)).map(|kind| kind.name.to_owned()).collect()
    }

    /// Whether each of the types has it.
    pub(super) fn is_met_by(&self, types: &[String]) -> bool {
        let found = self.candidates();
        !types.is_empty() && types.iter().all(|name| found.iter().any(|kind| kind.name == name))
    }

    fn candidates(&self) -> Vec<&'static InstanceType> {
        let wanted = Filter {
            product: Some(self.product.clone()),
            count: self.count,
            min_memory_gib: self.memory_gib_min,
            ..Filter::default()
        };
        let mut found = filter(&wanted);
        found.retain(|kind| ami_type_for(ImageFamily::Al2023, kind).is_ok());
        found
    }
}

// Network adapters do not count as long as they are not used.
fn has_shape_of(first: &InstanceType, other: &InstanceType) -> bool {
    shape_differences(&[first, other]).iter().all(|difference| difference.attribute == ShapeAttribute::EfaInterfaces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hardware(names: &[&str]) -> Hardware {
        Hardware::of(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    fn request(product: &str, count: Option<u32>) -> Vec<String> {
        Request { product: product.to_owned(), count, memory_gib_min: None }.instance_types()
    }

    #[test]
    fn a_request_gives_the_cheapest_type_and_its_equals() {
        assert_eq!(request("L4", Some(1)), ["g6.xlarge"]);
        assert_eq!(request("H200", Some(8)), ["p5en.48xlarge", "p5e.48xlarge"]);
        assert_eq!(request("L4", Some(3)), Vec::<String>::new());
        assert_eq!(request("RTX PRO 4500", None), Vec::<String>::new());
    }

    #[test]
    fn the_image_follows_from_the_first_type_guessed_if_need_be() {
        assert_eq!(hardware(&["g5.xlarge"]).image_type(ImageFamily::Al2023), Some(Ok("AL2023_x86_64_NVIDIA")));
        assert_eq!(
            hardware(&["g9.xlarge"]).image_type(ImageFamily::Bottlerocket),
            Some(Ok("BOTTLEROCKET_x86_64_NVIDIA"))
        );
        assert_eq!(hardware(&["m7i.large"]).image_type(ImageFamily::Al2023), None);
        assert!(matches!(hardware(&["g7.2xlarge"]).image_type(ImageFamily::Al2023), Some(Err(_))));
    }

    #[test]
    fn one_unknown_price_makes_the_range_unknown() {
        let prices = hardware(&["g5.2xlarge", "g5.xlarge"]).prices();
        assert_eq!(prices, Some([("g5.xlarge", 1.006), ("g5.2xlarge", 1.212)]));
        assert_eq!(hardware(&["g5.xlarge", "g9.xlarge"]).prices(), None);
        assert_eq!(hardware(&["g5.xlarge", "p5e.48xlarge", "g9.xlarge"]).unpriced(), ["g9.xlarge", "p5e.48xlarge"]);
    }

    #[test]
    fn figures_of_mixed_types_are_those_every_node_has() {
        let mixed = hardware(&["g5.12xlarge", "g6.xlarge"]);
        assert_eq!(mixed.counts(), Some((1, 4)));
        assert_eq!(mixed.product_label(), None);
        assert_eq!(mixed.product().as_deref(), Some("NVIDIA-A10G"));
    }
}
