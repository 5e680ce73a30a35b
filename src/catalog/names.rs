//! What the name of an unknown instance type tells: what it may be, and what was perhaps meant.

use super::{Arch, InstanceType, Vendor, table::instance_types};

/// At most so many suggestions, since a longer list is not read.
const SUGGESTIONS: usize = 3;

/// A name further away than this is not a slip of the fingers.
const MAX_DISTANCE: usize = 3;

/// What AWS's naming scheme says about a type that the catalogue does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guess {
    /// The maker of its accelerator.
    pub vendor: Vendor,
    /// Its processor.
    pub arch: Arch,
}

/// Guesses vendor and processor from the family's name: `g8.xlarge` is an NVIDIA type.
///
/// `None` where the name is not one of an accelerated family with a maker we know: no instance type
/// at all, a general-purpose one, or one with AMD, Habana or Qualcomm devices.
pub fn guess(name: &str) -> Option<Guess> {
    let (family, size) = name.split_once('.')?;
    if size.is_empty() {
        return None;
    }
    let letters = family.find(|letter: char| letter.is_ascii_digit())?;
    let (class, rest) = family.split_at_checked(letters)?;
    let attributes = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let vendor = match class {
        // `g4ad` and any later `a` in the G class is AMD's processor and AMD's graphics.
        "g" if attributes.starts_with('a') => return None,
        "g" | "gr" | "p" => Vendor::Nvidia,
        "trn" | "inf" => Vendor::Neuron,
        _ => return None,
    };
    Some(Guess { vendor, arch: arch_of(attributes) })
}

/// The known types whose names are nearest to `name`, nearest first; for "did you mean".
///
/// Where the family is known only its own types are suggested: then the size was mistaken.
pub fn nearest_names(name: &str) -> Vec<&'static str> {
    let name = name.trim().to_ascii_lowercase();
    let is_sibling = |kind: &&InstanceType| kind.family() == family_of(&name);
    let knows_family = instance_types().iter().any(|kind| is_sibling(&kind));
    let mut scored: Vec<_> = instance_types()
        .iter()
        .filter(|kind| !knows_family || is_sibling(kind))
        .map(|kind| (distance(&name, kind.name), kind.name))
        .filter(|(far, _)| knows_family || *far <= MAX_DISTANCE)
        .collect();
    // Stable, so that equally near sizes stay in the order of the table.
    scored.sort_by_key(|(far, _)| *far);
    scored.into_iter().take(SUGGESTIONS).map(|(_, name)| name).collect()
}

/// The part of a type's name before the size.
pub(super) fn family_of(name: &str) -> &str {
    name.split_once('.').map_or(name, |(family, _)| family)
}

/// `g` among the letters after the generation is Graviton; Grace shows as `-gb…` or `-gh…`.
fn arch_of(attributes: &str) -> Arch {
    let (letters, suffix) = attributes.split_once('-').unwrap_or((attributes, ""));
    if letters.contains('g') || suffix.starts_with("gb") || suffix.starts_with("gh") {
        Arch::Arm64
    } else {
        Arch::X86_64
    }
}

/// Edits (insert, delete, replace) that make one text of the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, letter) in left.chars().enumerate() {
        let mut next = vec![line + 1];
        for ((other, above), diagonal) in right.iter().zip(row.iter().skip(1)).zip(&row) {
            let replaced = diagonal + usize::from(letter != *other);
            let before = next.last().copied().unwrap_or(line + 1);
            next.push(replaced.min(above + 1).min(before + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_of_names_agrees_with_every_row_of_the_table() {
        for kind in instance_types() {
            let expected = Guess { vendor: kind.accelerator.vendor, arch: kind.arch };
            assert_eq!(guess(kind.name), Some(expected), "{}", kind.name);
        }
    }

    #[test]
    fn a_type_of_tomorrow_is_guessed() {
        let nvidia = Guess { vendor: Vendor::Nvidia, arch: Arch::X86_64 };
        assert_eq!(guess("g8.xlarge"), Some(nvidia));
        assert_eq!(guess("p7-x100.48xlarge"), Some(nvidia));
        assert_eq!(guess("p6e-gb300.36xlarge"), Some(Guess { vendor: Vendor::Nvidia, arch: Arch::Arm64 }));
        assert_eq!(guess("trn3.48xlarge"), Some(Guess { vendor: Vendor::Neuron, arch: Arch::X86_64 }));
    }

    #[test]
    fn a_type_without_a_known_accelerator_is_not_guessed() {
        for name in ["m7g.large", "g4ad.xlarge", "dl1.24xlarge", "vt1.3xlarge", "g5", "g5.", "", "ü9.x"] {
            assert_eq!(guess(name), None, "{name}");
        }
    }

    #[test]
    fn a_wrong_size_suggests_sizes_of_the_family() {
        assert_eq!(nearest_names("g5.3xlarge"), ["g5.xlarge", "g5.2xlarge", "g5.4xlarge"]);
        assert_eq!(nearest_names("p5.24xlarge"), ["p5.4xlarge", "p5.48xlarge"]);
    }

    #[test]
    fn a_slip_in_the_family_suggests_neighbours() {
        assert!(nearest_names("g5n.xlarge").contains(&"g5.xlarge"));
        assert_eq!(nearest_names("G5.XLARGE").first(), Some(&"g5.xlarge"));
        assert_eq!(nearest_names("g4nd.xlarge").first(), Some(&"g4dn.xlarge"));
    }

    #[test]
    fn a_name_far_from_all_suggests_nothing() {
        assert!(nearest_names("standard-nc24ads-a100").is_empty());
        assert!(nearest_names("").is_empty());
    }

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("g5.xlarge", "g5.xlarge"), 0);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
