//! Names of child objects, derived from the user's within AWS's limits.
//!
//! **Invariant:** the same text and limit give the same name for ever. A name identifies an object, so another
//! derivation in a later version would make a second one.

use sha2::{Digest, Sha256};

/// Characters of the hash that stands for what was cut off.
const HASH: usize = 8;

/// The text, if it has at most `limit` characters; else its beginning, and a hash of the whole.
pub(super) fn fitted(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let hash: String =
        Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).take(HASH / 2).collect();
    let kept: String = text.chars().take(limit.saturating_sub(HASH + 1)).collect();
    format!("{}-{hash}", kept.trim_end_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_within_the_limit_stays() {
        assert_eq!(fitted("mlplat-prod-gpu", 64), "mlplat-prod-gpu");
        assert_eq!(fitted(&"a".repeat(64), 64), "a".repeat(64));
    }

    #[test]
    fn a_longer_name_is_cut_and_keeps_its_hash_for_ever() {
        let long = format!("mlplat-{}-{}", "c".repeat(40), "p".repeat(40));
        assert_eq!(fitted(&long, 64), "mlplat-cccccccccccccccccccccccccccccccccccccccc-ppppppp-aa35db35");
        assert_eq!(fitted(&long, 64).len(), 64);
    }

    #[test]
    fn names_that_differ_only_in_the_part_cut_off_stay_different() {
        let (one, other) = (format!("{}1", "x".repeat(80)), format!("{}2", "x".repeat(80)));
        assert_ne!(fitted(&one, 64), fitted(&other, 64));
    }
}
