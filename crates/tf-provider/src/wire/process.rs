//! The process around a plugin: everything `main` has to do, from the command line to the exit code.

use crate::wire::{
    Ending, Environment, Plugin, StopSignal, WireError,
    arguments::Command,
    ending::{Signals, watch_parent},
    handshake, log, panics,
    proto::tfplugin6::provider_server::Provider,
    reattach,
};
use std::{
    error::Error,
    io::{self, Write},
    process::ExitCode,
    time::Duration,
};
use tokio::runtime::{Builder, Runtime};
use tracing::level_filters::LevelFilter;

/// Threads of the runtime. A provider waits for others' answers: more of them only cost time at every start.
const WORKERS: usize = 2;

/// A task that blocks does not keep the process from its end for longer.
const RUNTIME_LIMIT: Duration = Duration::from_millis(200);

/// Who this provider is.
#[derive(Debug, Clone, Copy)]
pub struct Identity {
    /// The name after `terraform-provider-`.
    pub name: &'static str,
    /// The source address, host name included.
    pub address: &'static str,
    /// The version, without a `v`.
    pub version: &'static str,
    /// The crates whose log events follow `TF_LOG`, as `tracing` targets. All others stay at warnings.
    pub log_targets: &'static [&'static str],
}

/// Runs a provider process: call this from `main` and return what it returns.
///
/// `make` is called once, after the command line, handshake and signals are settled and inside the runtime.
/// What no call needs should not be made there: a host starts several processes for every command.
pub fn serve<P, M>(identity: Identity, make: M) -> ExitCode
where
    P: Provider,
    M: FnOnce(StopSignal) -> P,
{
    let environment = Environment::read();
    match Command::parse(std::env::args_os().skip(1)) {
        Command::Version => said(&mut io::stdout(), &version(identity), ExitCode::SUCCESS),
        Command::Help => said(&mut io::stdout(), &help(identity), ExitCode::SUCCESS),
        Command::Unknown(word) => {
            let text = format!("Unknown argument {word:?}.\n\n{}", help(identity));
            said(&mut io::stderr(), &text, ExitCode::from(2))
        }
        Command::Serve if !handshake::started_by_a_host(&environment) => {
            said(&mut io::stderr(), &by_hand(identity), ExitCode::FAILURE)
        }
        Command::Serve => exit_code(run(identity, &environment, Mode::Hosted, make)),
        Command::Debug => exit_code(run(identity, &environment, Mode::Debug, make)),
    }
}

/// Who started the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// A host, which also ends it.
    Hosted,
    /// A human, who tells hosts of it and ends it with Ctrl-C.
    Debug,
}

fn run<P, M>(identity: Identity, environment: &Environment, mode: Mode, make: M) -> Result<(), WireError>
where
    P: Provider,
    M: FnOnce(StopSignal) -> P,
{
    let quiet = match mode {
        Mode::Hosted => LevelFilter::OFF,
        Mode::Debug => LevelFilter::INFO,
    };
    log::install(environment, quiet, identity.log_targets);
    panics::install_hook();
    let plugin = Plugin::bind(&mode.environment(environment))?;
    let runtime = runtime().map_err(WireError::Process)?;
    let served = runtime.block_on(async {
        let ending = watch(mode).map_err(WireError::Process)?;
        let provider = make(ending.signal());
        announce(identity, mode, &plugin).map_err(WireError::Process)?;
        plugin.serve(provider, ending).await
    });
    runtime.shutdown_timeout(RUNTIME_LIMIT);
    served
}

impl Mode {
    /// Hosts that reattach speak without TLS and say nothing of versions, whatever this shell has set.
    fn environment(self, environment: &Environment) -> Environment {
        match self {
            Self::Hosted => environment.clone(),
            Self::Debug => Environment { client_cert: None, protocol_versions: None, ..environment.clone() },
        }
    }
}

fn runtime() -> io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(WORKERS).enable_all().build()
}

/// Signals are handled before the host hears of us: from then on Ctrl-C may come.
fn watch(mode: Mode) -> io::Result<Ending> {
    let ending = Ending::default();
    let signals = Signals::install()?;
    tokio::spawn(signals.watch(ending.clone(), mode == Mode::Debug));
    if mode == Mode::Hosted {
        tokio::spawn(watch_parent(ending.clone()));
    }
    Ok(ending)
}

fn announce(identity: Identity, mode: Mode, plugin: &Plugin) -> io::Result<()> {
    let text = match mode {
        Mode::Hosted => plugin.handshake_line(),
        Mode::Debug => {
            let assignment = reattach::assignment(identity.address, plugin.path(), std::process::id());
            format!(
                "Serving until Ctrl-C. Set this where Terraform runs, for example with `export`:\n\n\t{assignment}\n"
            )
        }
    };
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

fn exit_code(ended: Result<(), WireError>) -> ExitCode {
    let Err(error) = ended else {
        return ExitCode::SUCCESS;
    };
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}\n  because: {cause}");
        source = cause.source();
    }
    said(&mut io::stderr(), &text, ExitCode::FAILURE)
}

/// Says something to a human. If nobody listens there is nobody to tell.
fn said(to: &mut impl Write, text: &str, code: ExitCode) -> ExitCode {
    let _ = writeln!(to, "{text}");
    code
}

fn version(Identity { name, version, .. }: Identity) -> String {
    format!("terraform-provider-{name} {version}")
}

fn by_hand(identity: Identity) -> String {
    let Identity { name, address, .. } = identity;
    format!(
        "terraform-provider-{name} is a plugin: Terraform and OpenTofu start it themselves.\n\
         Put source = \"{address}\" under required_providers in a configuration and run `terraform init`, \
         or run this with --help to see what else it can do."
    )
}

fn help(identity: Identity) -> String {
    format!(
        "{}\n\nA plugin for Terraform and OpenTofu, which start it without arguments.\n\n\
         --debug    Serve until Ctrl-C, and print what tells Terraform to use this process.\n\
         --version  Print the version.\n\
         --help     Print this.",
        version(identity)
    )
}
