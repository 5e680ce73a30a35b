//! Kubernetes quantities, compared by value: `1000m` is `1`, `1024Mi` is `1Gi`. Exact: no floating point.
//!
//! Documents hold what the user wrote, since the driver compares by value too; or one spelling of each amount, where
//! another spelling of the same amount must not be a change of the document.

use std::{cmp::Ordering, fmt};

/// An amount: `digits` times ten to the power of `exponent`, without trailing zeros in `digits`, so that equal amounts are equal
/// values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    digits: i128,
    exponent: i32,
}

/// Suffixes, the power of two and the power of ten that each stands for.
const SUFFIXES: [(&str, u32, i32); 16] = [
    ("Ki", 10, 0),
    ("Mi", 20, 0),
    ("Gi", 30, 0),
    ("Ti", 40, 0),
    ("Pi", 50, 0),
    ("Ei", 60, 0),
    ("n", 0, -9),
    ("u", 0, -6),
    ("m", 0, -3),
    ("", 0, 0),
    ("k", 0, 3),
    ("M", 0, 6),
    ("G", 0, 9),
    ("T", 0, 12),
    ("P", 0, 15),
    ("E", 0, 18),
];

// === impl Quantity ===

impl Quantity {
    /// None where the text is no quantity, or has more digits than 128 bits hold: then only the text tells.
    pub fn parse(text: &str) -> Option<Self> {
        let end = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '+' | '-')).unwrap_or(text.len());
        let (number, suffix) = text.split_at_checked(end)?;
        let (digits, fraction) = decimal(number)?;
        let (twos, tens) = multiplier(suffix)?;
        let digits = digits.checked_mul(1_i128.checked_shl(twos)?)?;
        Some(Self { digits, exponent: tens.checked_sub(fraction)? }.normal())
    }

    /// So many of it; none where that has more digits than 128 bits hold.
    pub fn times(self, count: u32) -> Option<Self> {
        Some(Self { digits: self.digits.checked_mul(i128::from(count))?, ..self }.normal())
    }

    /// Whether it is above zero.
    pub fn is_positive(self) -> bool {
        self.digits > 0
    }

    /// Whether it is below zero.
    pub fn is_negative(self) -> bool {
        self.digits < 0
    }

    fn normal(mut self) -> Self {
        if self.digits == 0 {
            return Self { digits: 0, exponent: 0 };
        }
        while self.digits % 10 == 0 {
            self.digits /= 10;
            self.exponent = self.exponent.saturating_add(1);
        }
        self
    }
}

/// In one spelling for each value: whole numbers plain or, where they are so many mebibytes or more, with the largest
/// binary suffix; parts of one as `m`, `u` or `n`, and what is smaller with an exponent.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scaled = |to: i32| {
            let steps = u32::try_from(self.exponent.checked_sub(to)?).ok()?;
            self.digits.checked_mul(10_i128.checked_pow(steps)?)
        };
        if let Some(whole) = scaled(0) {
            let fits = |(_, twos, _): &&(&str, u32, i32)| *twos >= 20 && whole != 0 && whole % (1_i128 << twos) == 0;
            return match SUFFIXES.iter().rfind(fits) {
                Some((suffix, twos, _)) => write!(f, "{}{suffix}", whole >> twos),
                None => write!(f, "{whole}"),
            };
        }
        for (suffix, exponent) in [("m", -3), ("u", -6), ("n", -9)] {
            if let Some(parts) = scaled(exponent) {
                return write!(f, "{parts}{suffix}");
            }
        }
        write!(f, "{}e{}", self.digits, self.exponent)
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = self.digits.signum().cmp(&other.digits.signum());
        if sign != Ordering::Equal || self.exponent == other.exponent {
            return sign.then(self.digits.cmp(&other.digits));
        }
        if self.exponent < other.exponent {
            return other.cmp(self).reverse();
        }
        // To the smaller exponent; what is too large for that is larger than whatever fits, above zero and below.
        let steps = self.exponent.abs_diff(other.exponent);
        let scaled = 10_i128.checked_pow(steps).and_then(|scale| self.digits.checked_mul(scale));
        scaled.map_or_else(|| self.digits.signum().cmp(&0), |scaled| scaled.cmp(&other.digits))
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

// The digits of a decimal number, and how many of them stand behind the point.
fn decimal(number: &str) -> Option<(i128, i32)> {
    let (is_negative, unsigned) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value: i128 = digits.parse().ok()?;
    Some((if is_negative { -value } else { value }, i32::try_from(fraction.len()).ok()?))
}

fn multiplier(suffix: &str) -> Option<(u32, i32)> {
    if let Some((_, twos, tens)) = SUFFIXES.iter().find(|(name, ..)| *name == suffix) {
        return Some((*twos, *tens));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?;
    Some((0, exponent.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(left: &str, right: &str, are_same: bool) {
        let (left_value, right_value) = (Quantity::parse(left), Quantity::parse(right));
        assert!(left_value.is_some() && right_value.is_some(), "{left} or {right} is no quantity");
        assert_eq!(left_value == right_value, are_same, "{left} and {right}");
    }

    #[test]
    fn an_amount_has_one_spelling() {
        for (written, spelled) in [
            ("2048Gi", "2Ti"),
            ("2199023255552", "2Ti"),
            ("1.5Gi", "1536Mi"),
            ("512000m", "512"),
            ("0.512k", "512"),
            ("1024", "1024"),
            ("2T", "2000000000000"),
            ("0.5", "500m"),
            ("0", "0"),
            ("1n", "1n"),
            ("1e-12", "1e-12"),
        ] {
            let text = Quantity::parse(written).map(|amount| amount.to_string());
            assert_eq!(text.as_deref(), Some(spelled), "{written}");
        }
    }

    #[test]
    fn amounts_are_compared_by_value() {
        for (left, right) in [
            ("1000m", "1"),
            ("1024Mi", "1Gi"),
            ("0.5", "500m"),
            (".5", "0.50"),
            ("1e3", "1k"),
            ("1E3", "1000"),
            ("0.1Ki", "102.4"),
            ("-0", "0m"),
            ("+1", "1"),
            ("1000000000n", "1"),
            ("1536Mi", "1.5Gi"),
        ] {
            check(left, right, true);
        }
        for (left, right) in [("1000m", "1001m"), ("1Gi", "1G"), ("1", "-1"), ("1E", "1e1"), ("1M", "1m")] {
            check(left, right, false);
        }
    }

    #[test]
    fn amounts_are_ordered_by_value() {
        let rising = ["-1Ei", "-2", "-1500m", "0", "1n", "999m", "1", "1.5", "1k", "1Ki", "1G", "1Gi", "1e30", "1e99"];
        let rising = rising.map(|text| Quantity::parse(text).expect("an amount"));
        for (at, one) in rising.iter().enumerate() {
            for (place, other) in rising.iter().enumerate() {
                assert_eq!(one.cmp(other), at.cmp(&place), "{one:?} {other:?}");
            }
            assert_eq!((one.is_negative(), one.is_positive()), (at < 3, at > 3));
        }
    }

    #[test]
    fn what_is_no_quantity_has_no_value() {
        for text in ["", "m", "1Mb", "1 Gi", "one", "1.2.3", "--1", "1e", "Gi", "1-2", "é"] {
            assert_eq!(Quantity::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn milli_units_equal_their_thousandth(amount in any::<i64>()) {
            let whole = Quantity::parse(&amount.to_string());
            prop_assert!(whole.is_some());
            prop_assert_eq!(whole, Quantity::parse(&format!("{}m", i128::from(amount) * 1000)));
        }

        #[test]
        fn binary_steps_are_1024(amount in 0_u32.., step in 0_usize..5) {
            let names = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
            let larger = Quantity::parse(&format!("{amount}{}", names[step + 1]));
            prop_assert_eq!(larger, Quantity::parse(&format!("{}{}", u64::from(amount) * 1024, names[step])));
        }

        #[test]
        fn different_amounts_differ(left in any::<i64>(), right in any::<i64>()) {
            let parse = |amount: i64| Quantity::parse(&amount.to_string());
            prop_assert_eq!(parse(left) == parse(right), left == right);
        }

        #[test]
        fn another_spelling_is_the_same_amount(amount in any::<i64>(), suffix in "[munkKMGT]|Mi|Gi|Ti|") {
            let written = Quantity::parse(&format!("{amount}{suffix}"));
            prop_assert_eq!(written.and_then(|amount| Quantity::parse(&amount.to_string())), written);
        }

        #[test]
        fn any_text_is_parsed_without_a_panic(text in ".*") {
            let _ = Quantity::parse(&text);
        }
    }
}
