//! Logs as hosts parse them: one JSON object a line on standard error, at the level the user chose.

mod clock;
mod layer;
mod line;

use crate::wire::Environment;
use std::io::{self, Write as _};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::{Layer as _, Registry, filter::Targets, layer::SubscriberExt as _};

/// Crates whose events follow the chosen level in every provider.
const OWN: [&str; 1] = [env!("CARGO_CRATE_NAME")];

/// Starts logging. Without a level nothing is installed, and events cost next to nothing.
pub(crate) fn install(environment: &Environment, fallback: LevelFilter, targets: &[&'static str]) {
    let level = environment.log_level.as_deref().map_or(fallback, level);
    if level == LevelFilter::OFF {
        return;
    }
    let layer = layer::Hclog::new(to_stderr).with_filter(filter(level, targets));
    // Fails only if a subscriber is there already, and then that one is wanted.
    let _ = tracing::subscriber::set_global_default(Registry::default().with(layer));
}

/// The level a user names. Hosts take `JSON`, and words they do not know, for the most there is.
fn level(word: &str) -> LevelFilter {
    match word.to_ascii_uppercase().as_str() {
        "OFF" => LevelFilter::OFF,
        "ERROR" => LevelFilter::ERROR,
        "WARN" => LevelFilter::WARN,
        "INFO" => LevelFilter::INFO,
        "DEBUG" => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    }
}

/// The level for the provider's own crates. Libraries stay at warnings: their traces flood, and hold headers and bodies.
fn filter(level: LevelFilter, targets: &[&'static str]) -> Targets {
    let own = OWN.iter().chain(targets);
    Targets::new().with_default(level.min(LevelFilter::WARN)).with_targets(own.map(|target| (*target, level)))
}

fn to_stderr(line: &str) {
    // A log that cannot be written is no reason to fail.
    let _ = io::stderr().lock().write_all(line.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn levels_are_words_of_any_case() {
        assert_eq!(level("Warn"), LevelFilter::WARN);
        assert_eq!(level("off"), LevelFilter::OFF);
    }

    #[test]
    fn json_and_unknown_words_mean_everything() {
        assert_eq!(level("JSON"), LevelFilter::TRACE);
        assert_eq!(level("yes"), LevelFilter::TRACE);
    }

    #[test]
    fn libraries_stay_at_warnings() {
        let filter = filter(LevelFilter::TRACE, &["mlplat"]);

        assert!(filter.would_enable("mlplat::pool", &Level::TRACE));
        assert!(filter.would_enable("tf_provider::wire", &Level::TRACE));
        for library in ["h2::codec", "hyper::proto", "rustls::conn", "aws_smithy_runtime"] {
            assert!(!filter.would_enable(library, &Level::INFO), "{library}");
            assert!(filter.would_enable(library, &Level::WARN), "{library}");
        }
    }

    #[test]
    fn errors_only_means_libraries_too() {
        let filter = filter(LevelFilter::ERROR, &[]);

        assert!(!filter.would_enable("h2", &Level::WARN));
    }
}
