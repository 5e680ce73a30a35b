//! Computed attributes that follow from the configuration and the catalogue.

use std::collections::BTreeMap;

use value::Value;

use super::{
    GpuPool,
    attributes::{Cost, Gpu},
    hardware::Hardware,
};
use crate::{
    catalog::{InstanceType, oldest_price_date},
    neighbours::{Neighbours, Place},
};

/// The accelerators of the pool.
pub(super) fn gpu(pool: &GpuPool, hardware: &Value<Hardware>) -> Value<Gpu> {
    let max = pool.size.and_then(|size| size.max.clone());
    hardware.with(&max, |hardware, max| {
        let counts = hardware.and_then(Hardware::counts);
        Gpu {
            product: Value::from(hardware.and_then(Hardware::product)),
            count: Value::from(counts.map(|(least, _)| least)),
            memory_gib: Value::from(hardware.and_then(Hardware::memory_gib)),
            total_max: Value::from(max.zip(counts).map(|(max, (_, most))| max.saturating_mul(most))),
        }
    })
}

/// What the pool costs.
pub(super) fn cost(pool: &GpuPool, hardware: &Value<Hardware>) -> Value<Cost> {
    let range = pool.size.and_then(|size| size.min.with(&size.max, |min, max| (min.copied(), max.copied())));
    hardware.with(&range, |hardware, range| {
        let (min, max) = range.copied().unwrap_or_default();
        let prices = hardware.and_then(Hardware::prices);
        let dated = prices.and(hardware).and_then(|hardware| oldest_price_date(hardware.known.iter().copied()));
        Cost {
            hourly_min_usd: Value::from(min.zip(prices).map(|(min, [(_, price), _])| dollars(min, price))),
            hourly_max_usd: Value::from(max.zip(prices).map(|(max, [_, (_, price)])| dollars(max, price))),
            priced_on: Value::from(dated.map(str::to_owned)),
        }
    })
}

/// What so many nodes at this price cost, to a hundredth of a cent: prices have four places.
pub(super) fn dollars(nodes: u32, price: f64) -> f64 {
    (f64::from(nodes) * price * 10_000.0).round() / 10_000.0
}

/// Tells of the pool what its nodes can have at most. Nothing where a type is not in the catalogue.
pub(super) fn introduce(pool: &GpuPool, neighbours: &Neighbours) {
    let (Some(cluster), Some(name)) = (pool.cluster.get(), pool.name.get()) else { return };
    if let Some(most) = most(pool) {
        neighbours.tell_pool(Place { cluster: Some(cluster.clone()), name: name.clone() }, most);
    }
}

// Before what the system takes for itself, so the nodes have less.
fn most(pool: &GpuPool) -> Option<BTreeMap<String, String>> {
    let hardware = Hardware::of(pool.instance_types.get()?);
    let nodes = u64::from(*pool.size.get()?.max.get()?);
    let vendor = hardware.vendor().filter(|_| hardware.unknown.is_empty())?;
    let largest = |of: fn(&InstanceType) -> u64| hardware.known.iter().map(|kind| of(kind)).max().unwrap_or_default();
    let all = |of| nodes.saturating_mul(largest(of)).to_string();
    Some(BTreeMap::from([
        (vendor.resource_name().to_owned(), all(|kind| u64::from(kind.accelerator.count))),
        ("cpu".to_owned(), all(|kind| u64::from(kind.vcpus))),
        ("memory".to_owned(), format!("{}Gi", all(|kind| whole_gib(kind.memory_gib)))),
    ]))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a machine's memory is small and positive")]
fn whole_gib(memory_gib: f64) -> u64 {
    memory_gib.ceil() as u64
}
