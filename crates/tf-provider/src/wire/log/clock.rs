//! Timestamps of log lines: UTC with exactly six digits after the second, else hosts do not parse the line.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY: u64 = 24 * 60 * 60;

/// For example `2026-01-31T09:05:00.000012Z`.
pub(crate) fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let (year, month, day) = date(since.as_secs() / DAY);
    let second = since.as_secs() % DAY;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:06}Z",
        second / 3600,
        second / 60 % 60,
        second % 60,
        since.subsec_micros()
    )
}

/// The date a number of days after 1970-01-01.
///
/// Counted in years that begin in March: the leap day is then the last of its year, and the lengths of
/// the months before it repeat every five months (153 days).
fn date(days: u64) -> (u64, u64, u64) {
    const FROM_YEAR_0: u64 = 719_468;
    const FOUR_CENTURIES: u64 = 146_097;
    let days = days + FROM_YEAR_0;
    let (cycle, day) = (days / FOUR_CENTURIES, days % FOUR_CENTURIES);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (cycle * 400 + year + next, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64, micros: u32) -> String {
        timestamp(UNIX_EPOCH + Duration::new(seconds, micros * 1000))
    }

    #[test]
    fn a_timestamp_has_six_digits_and_an_offset() {
        assert_eq!(at(0, 0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(at(1_769_850_300, 12), "2026-01-31T09:05:00.000012Z");
    }

    #[test]
    fn leap_days_are_known() {
        assert_eq!(at(951_782_400, 0), "2000-02-29T00:00:00.000000Z");
        assert_eq!(at(951_868_800, 0), "2000-03-01T00:00:00.000000Z");
        assert_eq!(at(1_709_251_199, 999_999), "2024-02-29T23:59:59.999999Z");
        assert_eq!(at(4_107_542_400, 0), "2100-03-01T00:00:00.000000Z");
        assert_eq!(at(4_107_456_000, 0), "2100-02-28T00:00:00.000000Z");
    }
}
