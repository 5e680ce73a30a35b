//! The command line: none from a host, one flag from a human.

use std::ffi::OsString;

/// What the process was asked to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Serve the host that started us. Hosts pass no arguments.
    Serve,
    /// Serve any host that is told of the socket, until Ctrl-C.
    Debug,
    Version,
    Help,
    Unknown(String),
}

impl Command {
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Self {
        let Some(first) = arguments.into_iter().next() else {
            return Self::Serve;
        };
        // Providers in Go take flags with one dash: both spellings work here.
        match first.to_string_lossy().as_ref() {
            "--debug" | "-debug" => Self::Debug,
            "--version" | "-version" | "-V" => Self::Version,
            "--help" | "-help" | "-h" => Self::Help,
            other => Self::Unknown(other.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Command {
        Command::parse(arguments.iter().map(OsString::from))
    }

    #[test]
    fn a_host_passes_nothing() {
        assert_eq!(parse(&[]), Command::Serve);
    }

    #[test]
    fn flags_take_one_dash_or_two() {
        assert_eq!(parse(&["--debug"]), Command::Debug);
        assert_eq!(parse(&["-debug"]), Command::Debug);
        assert_eq!(parse(&["--version"]), Command::Version);
        assert_eq!(parse(&["-h"]), Command::Help);
    }

    #[test]
    fn a_word_nobody_knows_is_named() {
        assert_eq!(parse(&["serve"]), Command::Unknown("serve".to_owned()));
    }
}
