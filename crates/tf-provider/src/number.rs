//! Numbers of any size, as Terraform has them.
//!
//! Exact decimals in one normal form, so that equality is equality of value and nothing is lost on the way through.
//! No arithmetic: nobody here calculates with a number that does not fit a machine type.

use std::{cmp::Ordering, fmt};

use serde::{Serialize, Serializer};

/// A number of any size.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Number(Form);

// The normal form: whatever fits `Small` is `Small`. A decimal is 0.DIGITS * 10^point; its digits neither start nor
// end with a zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Form {
    Small(i64),
    Decimal { negative: bool, digits: Box<str>, point: i64 },
    Infinite { negative: bool },
}

// Terraform's own numbers end near 10^(6 * 10^8); the limit keeps a hostile exponent out of our sums.
const MAX_EXPONENT: i64 = 600_000_000;

// Up to this many zeros are written out; beyond, an exponent is shorter and cannot be used to fill the memory.
const MAX_ZEROS: i64 = 400;

// === impl Number ===

impl Number {
    /// Reads a decimal: `12`, `-0.5`, `1.5e-7`.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if mantissa.len() < 1 + usize::from(mantissa.contains('.')) || !are_digits(whole) || !are_digits(fraction) {
            return None;
        }
        Self::normal(negative, &format!("{whole}{fraction}"), i64::try_from(whole.len()).ok()?, exponent)
    }

    /// The number that a float is, to the last binary digit; `From<f64>` gives the one it is short for. None for
    /// what is no number.
    pub fn exactly(value: f64) -> Option<Self> {
        if value.is_infinite() {
            return Some(Self(Form::Infinite { negative: value < 0.0 }));
        }
        let places = binary_places(value);
        Self::parse(&format!("{value:.places$}"))
    }

    /// The value as an `i64`, if it is one.
    pub fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Form::Small(value) => Some(value),
            Form::Decimal { .. } | Form::Infinite { .. } => None,
        }
    }

    /// The value as a `u64`, if it is one.
    pub fn as_u64(&self) -> Option<u64> {
        match &self.0 {
            Form::Small(value) => u64::try_from(*value).ok(),
            Form::Decimal { negative: false, .. } if self.is_whole() => self.to_string().parse().ok(),
            Form::Decimal { .. } | Form::Infinite { .. } => None,
        }
    }

    /// The nearest float; infinite where the value is beyond all floats.
    #[expect(clippy::cast_precision_loss, reason = "the nearest float is what is asked for")]
    pub fn as_f64(&self) -> f64 {
        match &self.0 {
            Form::Small(value) => *value as f64,
            Form::Decimal { negative, digits, point } => {
                let sign = if *negative { "-" } else { "" };
                format!("{sign}0.{digits}e{point}").parse().unwrap_or(f64::NAN)
            }
            Form::Infinite { negative: false } => f64::INFINITY,
            Form::Infinite { negative: true } => f64::NEG_INFINITY,
        }
    }

    /// The float that is this very number, if there is one.
    pub fn as_exact_f64(&self) -> Option<f64> {
        let nearest = self.as_f64();
        (Self::exactly(nearest)? == *self).then_some(nearest)
    }

    /// Whether it is an integer.
    pub fn is_whole(&self) -> bool {
        match &self.0 {
            Form::Small(_) => true,
            Form::Decimal { digits, point, .. } => i64::try_from(digits.len()).is_ok_and(|length| length <= *point),
            Form::Infinite { .. } => false,
        }
    }

    /// Whether it is finite.
    pub fn is_finite(&self) -> bool {
        !matches!(self.0, Form::Infinite { .. })
    }

    // `digits` with the decimal point after `whole` of them, times ten to the `exponent`.
    fn normal(negative: bool, digits: &str, whole: i64, exponent: i64) -> Option<Self> {
        let significant = digits.trim_start_matches('0');
        let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
        let significant = significant.trim_end_matches('0');
        if significant.is_empty() {
            return Some(Self(Form::Small(0)));
        }
        let point = exponent.checked_add(whole)?.checked_sub(zeros)?;
        if point.abs() > MAX_EXPONENT {
            return None;
        }
        let decimal = Self(Form::Decimal { negative, digits: significant.into(), point });
        // Nothing longer than i64's 19 digits can be small.
        let is_short = decimal.is_whole() && point <= 19;
        let small = if is_short { decimal.to_string().parse::<i64>().ok() } else { None };
        Some(small.map_or(decimal, Self::from))
    }

    // Sign, and the size as position of the point and digits, in the order in which sizes are compared.
    fn parts(&self) -> (i8, i64, std::borrow::Cow<'_, str>) {
        match &self.0 {
            Form::Small(value) => {
                let text = value.unsigned_abs().to_string();
                let point = i64::try_from(text.len()).unwrap_or(i64::MAX);
                let digits = text.trim_end_matches('0').to_owned();
                (i8::try_from(value.signum()).unwrap_or_default(), point, digits.into())
            }
            Form::Decimal { negative, digits, point } => (if *negative { -1 } else { 1 }, *point, (&**digits).into()),
            Form::Infinite { negative } => (if *negative { -1 } else { 1 }, i64::MAX, "".into()),
        }
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        if let (Form::Small(one), Form::Small(other)) = (&self.0, &other.0) {
            return one.cmp(other);
        }
        let ((sign, point, digits), (other_sign, other_point, other_digits)) = (self.parts(), other.parts());
        let size = point.cmp(&other_point).then_with(|| digits.cmp(&other_digits));
        sign.cmp(&other_sign).then(if sign < 0 { size.reverse() } else { size })
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Small(value) => write!(f, "{value}"),
            Form::Infinite { negative } => f.write_str(if *negative { "-Inf" } else { "Inf" }),
            Form::Decimal { negative, digits, point } => {
                f.write_str(if *negative { "-" } else { "" })?;
                write_decimal(f, digits, *point)
            }
        }
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self(Form::Small(value))
    }
}

impl From<u16> for Number {
    fn from(value: u16) -> Self {
        Self(Form::Small(value.into()))
    }
}

impl From<u32> for Number {
    fn from(value: u32) -> Self {
        Self(Form::Small(value.into()))
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        match i64::try_from(value) {
            Ok(small) => Self(Form::Small(small)),
            Err(_) => Self::parse(&value.to_string()).expect("the text of an integer is a number"),
        }
    }
}

/// The number that the float's shortest text names: 0.1, not the binary fraction next to it. What is no number is 0,
/// since Terraform has no such value.
impl From<f64> for Number {
    fn from(value: f64) -> Self {
        if value.is_infinite() {
            return Self(Form::Infinite { negative: value < 0.0 });
        }
        Self::parse(&value.to_string()).unwrap_or(Self(Form::Small(0)))
    }
}

// A document's number is an integer where it is one, else the nearest float; infinity has no JSON and is null.
impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.as_i64(), self.as_u64()) {
            (Some(value), _) => serializer.serialize_i64(value),
            (None, Some(value)) => serializer.serialize_u64(value),
            (None, None) => serializer.serialize_f64(self.as_f64()),
        }
    }
}

fn write_decimal(f: &mut fmt::Formatter<'_>, digits: &str, point: i64) -> fmt::Result {
    let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or_default());
    if point >= length && point - length <= MAX_ZEROS {
        write!(f, "{digits}{}", zeros(point - length))
    } else if point > 0 && point < length {
        let (whole, fraction) = digits.split_at(usize::try_from(point).unwrap_or_default());
        write!(f, "{whole}.{fraction}")
    } else if (-MAX_ZEROS..=0).contains(&point) {
        write!(f, "0.{}{digits}", zeros(-point))
    } else {
        write!(f, "0.{digits}e{point}")
    }
}

// How many binary, and therefore decimal, places stand behind the point of a float.
fn binary_places(value: f64) -> usize {
    const MANTISSA_BITS: u64 = 52;
    const BIAS: u64 = 1023;
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> MANTISSA_BITS) & 0x7ff, bits & ((1 << MANTISSA_BITS) - 1));
    let (mantissa, exponent) = match exponent {
        0 => (fraction, 1),
        normal => (fraction | 1 << MANTISSA_BITS, normal),
    };
    let places = (BIAS + MANTISSA_BITS).saturating_sub(exponent).saturating_sub(mantissa.trailing_zeros().into());
    usize::try_from(places).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        Number::parse(text).unwrap_or_else(|| panic!("{text} is a number"))
    }

    #[test]
    fn equal_values_are_equal_however_they_are_written() {
        for (one, other) in [("1", "1.0"), ("100", "1e2"), ("0.10", "1E-1"), ("-0", "0"), ("+5", "5"), (".5", "0.5")] {
            assert_eq!(number(one), number(other), "{one} {other}");
        }
        assert_ne!(number("0.1"), number("0.10000000000000001"));
        assert_eq!(Number::from(0.1), number("0.1"));
        assert_ne!(Number::exactly(0.1), Some(number("0.1")));
    }

    #[test]
    fn texts_are_in_normal_form() {
        for (text, normal) in [
            ("1e3", "1000"),
            ("12.50", "12.5"),
            ("-1.5e-3", "-0.0015"),
            ("18446744073709551616", "18446744073709551616"),
            ("1e25", "10000000000000000000000000"),
            ("1e5000", "0.1e5001"),
            ("-9223372036854775808", "-9223372036854775808"),
        ] {
            assert_eq!(number(text).to_string(), normal);
            assert_eq!(number(normal), number(text));
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", "-", ".", "1.2.3", "1e", "e5", "0x10", "1_000", "NaN", "Inf", "--1", "1e99999999999999999999"]
        {
            assert_eq!(Number::parse(text), None, "{text}");
        }
        assert_eq!(Number::exactly(f64::NAN), None);
    }

    #[test]
    fn numbers_are_ordered_by_value() {
        let texts = ["-1e30", "-10.5", "-10", "-0.001", "0", "0.001", "9", "9.5", "10", "100", "1e19", "1e30"];
        let mut all: Vec<_> = texts.iter().map(|text| number(text)).collect();
        all.push(Number::from(f64::INFINITY));
        all.insert(0, Number::from(f64::NEG_INFINITY));
        let mut sorted = all.clone();
        sorted.reverse();
        sorted.sort();
        assert_eq!(sorted, all);
    }

    #[test]
    fn machine_numbers_come_out_only_where_they_fit() {
        assert_eq!(number("18446744073709551615").as_u64(), Some(u64::MAX));
        assert_eq!(number("18446744073709551616").as_u64(), None);
        assert_eq!(number("1.5").as_i64(), None);
        assert_eq!(number("-1").as_u64(), None);
        assert_eq!(number("0.5").as_exact_f64(), Some(0.5));
        assert_eq!(number("0.1").as_exact_f64(), None);
        assert_eq!(number("1e400").as_exact_f64(), None);
    }

    proptest::proptest! {
        #[test]
        fn every_float_is_found_again(value in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
            let exact = Number::exactly(value).expect("it is finite");
            proptest::prop_assert_eq!(exact.as_exact_f64(), Some(value));
            proptest::prop_assert_eq!(Number::from(value).as_f64().to_bits(), value.to_bits());
        }
    }
}
