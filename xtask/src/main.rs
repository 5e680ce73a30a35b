//! Every chore of the repository: `cargo xtask` prints the list.
//!
//! Builds and drives the provider, and never links it.

#![expect(clippy::print_stdout, reason = "what a chore prints is its result")]

mod acceptance;
mod bench;
mod checkout;
mod demo;
mod docs;
mod fuzz;
mod install;
mod new;
mod sandbox;
mod stack;
mod steps;
mod test;
mod tidy;

use std::process::ExitCode;

use anyhow::{Result, bail};

/// One chore.
struct Chore {
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<()>,
}

/// In the order in which a newcomer needs them.
const CHORES: &[Chore] = &[
    Chore {
        name: "demo",
        arguments: "",
        about: "create, change, drift, repair and destroy, on an emulated AWS and a real Kubernetes API server",
        run: demo::run,
    },
    Chore { name: "test", arguments: "", about: "everything: format, tidy, lints, all tests", run: test::run },
    Chore {
        name: "sandbox",
        arguments: "[--kubernetes]",
        about: "keep an emulated AWS running until Ctrl-C and print the environment that leads there",
        run: sandbox::run,
    },
    Chore {
        name: "install",
        arguments: "[--release]",
        about: "build the provider and make terraform use it, without touching ~/.terraformrc",
        run: install::run,
    },
    Chore {
        name: "acceptance",
        arguments: "[filter] [--localstack]",
        about: "only the tests with the real terraform",
        run: acceptance::run,
    },
    Chore {
        name: "docs",
        arguments: "[--check]",
        about: "write the reference and the schema on record from the code, or say that they are stale",
        run: docs::run,
    },
    Chore {
        name: "tidy",
        arguments: "",
        about: "what holds for every file: headers, length, layers, words",
        run: tidy::run,
    },
    Chore {
        name: "new",
        arguments: "resource|component <name>",
        about: "write the files of a new resource or component, its registration, example and changelog entry",
        run: new::run,
    },
    Chore {
        name: "bench",
        arguments: "[--profile NAME] [--only WORD]",
        about: "figures beside their targets: start, memory, size, round trips, many resources, codec",
        run: bench::run,
    },
    Chore {
        name: "fuzz",
        arguments: "[seconds]",
        about: "any bytes for the decoders of values; needs cargo-fuzz",
        run: fuzz::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match chore(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn chore(arguments: &[String]) -> Result<()> {
    let Some((name, rest)) = arguments.split_first() else {
        print!("{}", list());
        return Ok(());
    };
    match CHORES.iter().find(|chore| chore.name == name) {
        Some(chore) => (chore.run)(rest),
        None if ["help", "--help", "-h"].contains(&name.as_str()) => {
            print!("{}", list());
            Ok(())
        }
        None => bail!("there is no chore {name:?}\n\n{}", list()),
    }
}

fn list() -> String {
    let usage = |chore: &Chore| format!("{} {}", chore.name, chore.arguments).trim_end().to_owned();
    let width = CHORES.iter().map(|chore| usage(chore).len()).max().unwrap_or_default();
    let lines = CHORES.iter().map(|chore| format!("  cargo xtask {:width$}  {}\n", usage(chore), chore.about));
    format!("The chores of this repository:\n\n{}", lines.collect::<Vec<_>>().concat())
}

/// The arguments of a chore that takes none but these flags; the flags that were given.
fn only_flags<'a>(given: &'a [String], allowed: &[&str]) -> Result<Vec<&'a str>> {
    if let Some(unknown) = given.iter().find(|flag| !allowed.contains(&flag.as_str())) {
        let allowed = if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
        bail!("unknown argument {unknown:?}; allowed: {allowed}");
    }
    Ok(given.iter().map(String::as_str).collect())
}
