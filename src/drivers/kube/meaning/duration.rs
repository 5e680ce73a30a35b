//! Durations as Go writes them: `1h` is `60m` is `1h0m0s`.

const UNITS: [(&str, i128); 7] = [
    // Longer names first: `m` begins `ms`.
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("d", 86_400_000_000_000),
];

/// None where the text is no duration in whole units.
pub(super) fn nanoseconds(text: &str) -> Option<i128> {
    if text == "0" {
        return Some(0);
    }
    let (mut total, mut rest) = (0_i128, text);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, tail) = rest.split_at_checked(end)?;
        let (unit, size) = UNITS.iter().find(|(unit, _)| tail.starts_with(unit))?;
        total = total.checked_add(number.parse::<i128>().ok()?.checked_mul(*size)?)?;
        rest = tail.strip_prefix(unit)?;
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_compared_by_length() {
        assert_eq!(nanoseconds("1h"), nanoseconds("1h0m0s"));
        assert_eq!(nanoseconds("90s"), nanoseconds("1m30s"));
        assert_ne!(nanoseconds("1m"), nanoseconds("1ms"));
        for text in ["", "h", "1", "1x", "-1s"] {
            assert_eq!(nanoseconds(text), None, "{text}");
        }
    }
}
