//! `cargo xtask sandbox`: an emulated AWS account with a ready cluster, until Ctrl-C.

use std::io::{IsTerminal, Read};

use acceptance_tests::Sandbox;
use anyhow::Result;

use crate::only_flags;

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    only_flags(arguments, &[])?;
    let sandbox = Sandbox::start()?;
    println!("An AWS account with the EKS cluster {:?} answers on loopback only.", sandbox.cluster().name);
    println!("In the shell where terraform runs:\n");
    for (name, value) in sandbox.environment() {
        println!("  export {name}='{value}'");
    }
    println!("\nThe provider itself comes from `cargo xtask install`. Ctrl-C ends the sandbox and all that is in it.");
    wait();
    Ok(())
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
