//! Computed attributes that follow from the configuration and the catalogue.

use value::Value;

use super::{
    GpuPool,
    attributes::{Cost, Gpu},
    hardware::Hardware,
};
use crate::catalog::oldest_price_date;

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
