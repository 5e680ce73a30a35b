//! `cargo xtask sandbox`: an emulated AWS account with a ready cluster, until Ctrl-C. With `--kubernetes` the cluster
//! is a real API server, which takes minutes to build the first time.

use std::io::{IsTerminal, Read};

use acceptance_tests::{
    Sandbox,
    kubernetes::{self, ControlPlane},
};
use anyhow::{Result, bail};

use crate::only_flags;

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let has_kubernetes = !only_flags(arguments, &["--kubernetes"])?.is_empty();
    if let Some(reason) = kubernetes::lacking().filter(|_| has_kubernetes) {
        bail!("{reason}. Without --kubernetes the sandbox is an AWS account alone");
    }
    let mut sandbox = Sandbox::start()?;
    if has_kubernetes {
        sandbox.add_kubernetes()?;
    }
    println!("An AWS account with the EKS cluster {:?} answers on loopback only.", sandbox.cluster().name);
    println!("{}", about(sandbox.kubernetes()));
    println!("In the shell where terraform runs:\n");
    for (name, value) in sandbox.environment() {
        println!("  export {name}='{value}'");
    }
    println!("\nThe provider itself comes from `cargo xtask install`. Ctrl-C ends the sandbox and all that is in it.");
    wait();
    Ok(())
}

fn about(kubernetes: Option<&ControlPlane>) -> String {
    match kubernetes {
        Some(started) => {
            format!("The cluster leads to a real Kubernetes API server with Kueue at {}.", started.endpoint())
        }
        None => {
            "Nothing answers behind the cluster; `cargo xtask sandbox --kubernetes` starts an API server with Kueue."
                .to_owned()
        }
    }
}

// Until Ctrl-C, which ends this process and with it the emulator; or, where a script started it, until its input ends.
fn wait() {
    let mut input = std::io::stdin();
    if !input.is_terminal() {
        // An unreadable input is one that has ended.
        let _ = input.read_to_end(&mut Vec::new());
        return;
    }
    loop {
        std::thread::park();
    }
}
