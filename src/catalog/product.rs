//! Whether the product a user names is the accelerator of an instance type.
//!
//! Not a search by substring: "L4" must not find an L40S. Names are compared word by word, with
//! makers' names left out, because the same device is "L4", "NVIDIA-L4" and "NVIDIA L4".

use super::{Accelerator, table::instance_types};

/// Words that say who made the device and nothing about which it is.
const MAKERS: [&str; 3] = ["nvidia", "tesla", "aws"];

/// Whether `query` names this accelerator.
///
/// The query must begin with the model (`A100`, `RTX PRO 6000`) and may go on with some of the
/// words that follow it in the product label or the marketing name (`A100 80GB`, `H100-HBM3`).
/// Case, separators, the maker's name and the suffixes that GPU Feature Discovery appends for
/// shared or partitioned devices do not matter. A slice of a device is found by its own label only,
/// since who asks for an L4 wants the whole one.
pub fn product_matches(query: &str, accelerator: &Accelerator) -> bool {
    let wanted = words(query);
    if wanted.is_empty() {
        return false;
    }
    let is_slice = accelerator.share < 1.0;
    [Some(accelerator.name), accelerator.product_label].into_iter().flatten().any(|name| {
        let known = words(name);
        wanted == known || (!is_slice && (names_part(&wanted, &known) || joined(&wanted, &known)))
    })
}

/// The products a query can name, sorted, for complaints about one that matches nothing.
pub fn known_products() -> Vec<&'static str> {
    let mut products: Vec<_> =
        instance_types().iter().map(|kind| kind.accelerator.product_label.unwrap_or(kind.accelerator.name)).collect();
    products.sort_unstable();
    products.dedup();
    products
}

/// The words of a name in lower case, without makers and without what sharing or MIG appended.
fn words(name: &str) -> Vec<String> {
    name.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .take_while(|word| word != "shared" && word != "mig")
        .filter(|word| !MAKERS.contains(&word.as_str()))
        .collect()
}

/// Whether `wanted` starts like `known` and its other words occur in `known` in the same order.
fn names_part(wanted: &[String], known: &[String]) -> bool {
    let mut rest = known.iter();
    wanted.first() == known.first() && wanted.iter().all(|word| rest.any(|other| other == word))
}

/// Whether `wanted`, written as one word, is the beginning of `known` up to a word's end.
fn joined(wanted: &[String], known: &[String]) -> bool {
    let whole = wanted.concat();
    (1..=known.len()).any(|count| known.iter().take(count).map(String::as_str).collect::<String>() == whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::find;

    fn check(query: &str, instance_type: &str, expected: bool) {
        let kind = find(instance_type).expect("in the table");
        assert_eq!(product_matches(query, &kind.accelerator), expected, "{query} {instance_type}");
    }

    #[test]
    fn every_usual_spelling_finds_the_device() {
        for query in ["L4", "l4", "NVIDIA-L4", "NVIDIA L4", "nvidia_l4", "NVIDIA-L4-SHARED"] {
            check(query, "g6.xlarge", true);
        }
        check("A10G", "g5.xlarge", true);
        check("T4", "g4dn.xlarge", true);
        check("Tesla-T4", "g4dn.xlarge", true);
        check("H100", "p5.48xlarge", true);
        check("NVIDIA-H100-80GB-HBM3", "p5.48xlarge", true);
        check("NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", "p5.48xlarge", true);
        check("trainium2", "trn2.48xlarge", true);
        check("RTX PRO 6000", "g7e.2xlarge", true);
        check("RTXPRO6000", "g7e.2xlarge", true);
        check("rtx-pro-4500", "g7.2xlarge", true);
    }

    #[test]
    fn a_similar_name_is_another_device() {
        check("L4", "g6e.xlarge", false);
        check("L40S", "g6.xlarge", false);
        check("A10", "g5.xlarge", false);
        check("T4", "g5g.xlarge", false);
        check("B200", "p6e-gb200.36xlarge", false);
        check("Trainium", "trn2.48xlarge", false);
        check("RTX PRO 6000", "g7.2xlarge", false);
        check("80GB", "p5.48xlarge", false);
        check("Blackwell", "g7e.2xlarge", false);
    }

    #[test]
    fn a_memory_size_tells_two_editions_apart() {
        check("A100", "p4d.24xlarge", true);
        check("A100", "p4de.24xlarge", true);
        check("A100-80GB", "p4de.24xlarge", true);
        check("A100-80GB", "p4d.24xlarge", false);
        check("A100-SXM4-40GB", "p4d.24xlarge", true);
    }

    #[test]
    fn a_slice_is_found_by_its_own_label_only() {
        check("L4", "g6f.large", false);
        check("L4-3Q", "g6f.large", true);
        check("NVIDIA-L4-12Q", "g6f.large", false);
        check("NVIDIA-L4-12Q", "gr6f.4xlarge", true);
    }

    #[test]
    fn an_empty_query_or_a_makers_name_finds_nothing() {
        for query in ["", " ", "NVIDIA", "aws", "-"] {
            check(query, "g6.xlarge", false);
        }
    }

    #[test]
    fn every_known_product_finds_a_type() {
        let products = known_products();
        assert!(products.contains(&"NVIDIA-A10G"));
        for product in products {
            let found = instance_types().iter().any(|kind| product_matches(product, &kind.accelerator));
            assert!(found, "{product}");
        }
    }
}
