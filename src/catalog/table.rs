//! The table of instance types, compiled in and parsed at first use.
//!
//! Not a place for judgement: it turns lines into [`InstanceType`]s. Where the facts come from and
//! how sure they are stands at the head of `instance_types.tsv`.

use std::{
    str::{FromStr, Split},
    sync::LazyLock,
};

use super::{Accelerator, Arch, InstanceType, Interconnect, Vendor};

/// Date of the newest price list in the table. Rows carry their own in [`InstanceType::priced_on`].
pub const PRICED_ON: &str = "2026-08-26";

/// The region whose prices the table has.
pub const PRICE_REGION: &str = "us-east-1";

/// What a shown price does and does not mean.
pub const PRICE_DISCLAIMER: &str = "List price On-Demand, Linux, us-east-1, without discounts, \
    Spot, reservations, storage or traffic; other regions differ.";

const SOURCE: &str = include_str!("instance_types.tsv");

const COLUMNS: usize = 17;

static TABLE: LazyLock<Vec<InstanceType>> =
    LazyLock::new(|| parse(SOURCE).expect("a unit test parses the compiled-in table"));

/// All known instance types, in the order of the table (family, then size).
pub fn instance_types() -> &'static [InstanceType] {
    &TABLE
}

/// The date a total over these types' prices can claim: the oldest among them.
///
/// `None` if no type has a price.
pub fn oldest_price_date<'a>(types: impl IntoIterator<Item = &'a InstanceType>) -> Option<&'static str> {
    types.into_iter().filter_map(|kind| kind.priced_on).min()
}

fn parse(source: &'static str) -> Result<Vec<InstanceType>, String> {
    source.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).skip(1).map(parse_row).collect()
}

/// Reads one line; the fields below stand in the order of its cells.
fn parse_row(line: &'static str) -> Result<InstanceType, String> {
    if line.split('\t').count() != COLUMNS {
        return Err(format!("not {COLUMNS} columns: {line:?}"));
    }
    let mut row = Row::new(line);
    Ok(InstanceType {
        name: row.name,
        accelerator: row.accelerator()?,
        vcpus: row.number("vcpus")?,
        memory_gib: row.number("memory_gib")?,
        arch: row.word("arch", Arch::parse)?,
        efa_interfaces: row.optional("efa_interfaces")?,
        local_nvme_gb: row.number("local_nvme_gb")?,
        on_demand_usd_per_hour: row.optional("on_demand_usd_per_hour")?,
        priced_on: row.text(),
        vcpu_quota_code: row.text(),
        spot_vcpu_quota_code: row.text(),
        min_driver_branch: row.optional("min_driver_branch")?,
    })
}

/// A line being read cell by cell; its name goes into complaints.
struct Row {
    name: &'static str,
    cells: Split<'static, char>,
}

// === impl Row ===

impl Row {
    fn new(line: &'static str) -> Self {
        let mut cells = line.split('\t');
        let name = cells.next().unwrap_or_default();
        Self { name, cells }
    }

    fn accelerator(&mut self) -> Result<Accelerator, String> {
        let name = self.cell();
        Ok(Accelerator {
            vendor: vendor_of(name).ok_or_else(|| self.complaint("accelerator", name))?,
            name,
            product_label: self.text(),
            count: self.number("accelerator_count")?,
            share: self.number("accelerator_share")?,
            memory_gib_each: self.number("accelerator_memory_gib")?,
            interconnect: self.word("interconnect", Interconnect::parse)?,
        })
    }

    fn cell(&mut self) -> &'static str {
        self.cells.next().unwrap_or_default()
    }

    fn text(&mut self) -> Option<&'static str> {
        Some(self.cell()).filter(|cell| !cell.is_empty())
    }

    fn number<T: FromStr>(&mut self, column: &str) -> Result<T, String> {
        self.word(column, |cell| cell.parse().ok())
    }

    fn optional<T: FromStr>(&mut self, column: &str) -> Result<Option<T>, String> {
        self.text().map(|cell| cell.parse().map_err(|_| self.complaint(column, cell))).transpose()
    }

    fn word<T>(&mut self, column: &str, read: impl FnOnce(&str) -> Option<T>) -> Result<T, String> {
        let cell = self.cell();
        read(cell).ok_or_else(|| self.complaint(column, cell))
    }

    fn complaint(&self, column: &str, cell: &str) -> String {
        format!("{}: {column} cannot be {cell:?}", self.name)
    }
}

fn vendor_of(accelerator: &str) -> Option<Vendor> {
    match accelerator.split(' ').next() {
        Some("NVIDIA") => Some(Vendor::Nvidia),
        Some("AWS") => Some(Vendor::Neuron),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_row_parses_and_is_unique() {
        let types = parse(SOURCE).expect("every row parses");
        assert_eq!(types.len(), 80);
        let names: HashSet<_> = types.iter().map(|kind| kind.name).collect();
        assert_eq!(names.len(), types.len());
    }

    #[test]
    fn the_heading_names_the_columns_in_the_order_they_are_read() {
        let heading = SOURCE.lines().find(|line| !line.starts_with('#'));
        assert_eq!(
            heading.map(|line| line.split('\t').collect::<Vec<_>>()),
            Some(vec![
                "instance_type",
                "accelerator",
                "product_label",
                "accelerator_count",
                "accelerator_share",
                "accelerator_memory_gib",
                "interconnect",
                "vcpus",
                "memory_gib",
                "arch",
                "efa_interfaces",
                "local_nvme_gb",
                "on_demand_usd_per_hour",
                "priced_on",
                "vcpu_quota_code",
                "spot_vcpu_quota_code",
                "min_driver_branch",
            ])
        );
    }

    #[test]
    fn every_figure_is_in_a_sane_range() {
        for kind in instance_types() {
            let device = &kind.accelerator;
            assert!((1..=16).contains(&device.count), "{kind:?}");
            assert!(device.share > 0.0 && device.share <= 1.0, "{kind:?}");
            assert!((2.0..=300.0).contains(&device.memory_gib_each), "{kind:?}");
            assert!((2..=192).contains(&kind.vcpus), "{kind:?}");
            assert!((8.0..=4096.0).contains(&kind.memory_gib), "{kind:?}");
            assert!(kind.efa_interfaces.is_none_or(|count| count <= 32), "{kind:?}");
            if let Some(price) = kind.on_demand_usd_per_hour {
                assert!((0.1..=200.0).contains(&price), "{kind:?}");
            }
            if let Some(branch) = kind.min_driver_branch {
                assert!((380..=700).contains(&branch), "{kind:?}");
            }
        }
    }

    #[test]
    fn a_price_has_a_date_and_none_is_newer_than_the_tables() {
        for kind in instance_types() {
            assert_eq!(kind.on_demand_usd_per_hour.is_some(), kind.priced_on.is_some(), "{kind:?}");
        }
        let newest = instance_types().iter().filter_map(|kind| kind.priced_on).max();
        assert_eq!(newest, Some(PRICED_ON));
        assert!(PRICE_DISCLAIMER.contains(PRICE_REGION));
    }

    #[test]
    fn a_bigger_size_of_a_family_is_never_cheaper_with_more_devices() {
        for small in instance_types() {
            for big in instance_types() {
                let both = small.on_demand_usd_per_hour.zip(big.on_demand_usd_per_hour);
                if small.family() == big.family()
                    && small.accelerator.count < big.accelerator.count
                    && small.vcpus <= big.vcpus
                {
                    assert!(both.is_none_or(|(low, high)| low < high), "{small:?} {big:?}");
                }
            }
        }
    }

    #[test]
    fn only_nvidia_devices_have_a_product_label_or_driver_branch() {
        for kind in instance_types() {
            if kind.accelerator.vendor == Vendor::Neuron {
                assert_eq!(kind.accelerator.product_label, None, "{kind:?}");
                assert_eq!(kind.min_driver_branch, None, "{kind:?}");
            }
        }
    }

    #[test]
    fn a_total_claims_the_oldest_date_of_its_prices() {
        let named = |wanted: &'static str| instance_types().iter().filter(move |kind| kind.name == wanted);
        assert_eq!(oldest_price_date(named("g5.xlarge")), Some("2026-02-09"));
        assert_eq!(oldest_price_date(named("g5.xlarge").chain(named("g5.2xlarge"))), Some("2026-02-09"));
        assert_eq!(oldest_price_date(named("g5.2xlarge")), Some("2026-08-26"));
        assert_eq!(oldest_price_date(named("trn2.48xlarge")), None);
    }

    #[test]
    fn a_bad_row_is_named_with_its_column() {
        let bad = parse_row("g9.xlarge\tNVIDIA X\t\tmany\t1\t16\tnone\t4\t16\tx86_64\t0\t0\t1\t2026-01-01\t\t\t");
        assert_eq!(bad, Err("g9.xlarge: accelerator_count cannot be \"many\"".to_owned()));
        assert!(parse_row("g9.xlarge\tNVIDIA X").is_err());
    }
}
