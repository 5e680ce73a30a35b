//! Finding the provider process at the other end of a loopback connection, to kill it at an exact call.
//!
//! Only a process whose program is named like a provider is ever killed.

use crate::command::signal;
use std::{fs, net::SocketAddr, path::Path};

/// How a provider's program is named.
const PROGRAM: &str = "terraform-provider-";

/// Kill the provider that owns the client side of this connection; says whether there was one.
pub(super) fn kill_provider(client: SocketAddr) -> bool {
    let Some(pid) = socket_of(client.port()).and_then(|inode| owner_of(&inode)) else {
        return false;
    };
    let program = fs::read_link(format!("/proc/{pid}/exe"));
    let is_provider =
        program.is_ok_and(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PROGRAM)));
    if is_provider {
        signal(pid, "KILL");
    }
    is_provider
}

/// The inode of the established socket with this local port, from the kernel's table.
fn socket_of(port: u16) -> Option<String> {
    let wanted = format!(":{port:04X}");
    let table = fs::read_to_string("/proc/net/tcp").ok()?;
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        // Local address, state 01 (established), inode.
        let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
        (local.ends_with(&wanted) && *state == "01").then(|| (*inode).to_owned())
    })
}

/// The process that has this socket open.
fn owner_of(inode: &str) -> Option<u32> {
    let wanted = format!("socket:[{inode}]");
    fs::read_dir("/proc").ok()?.flatten().find_map(|process| {
        let pid: u32 = process.file_name().to_str()?.parse().ok()?;
        let descriptors = fs::read_dir(process.path().join("fd")).ok()?;
        let open = |path: &Path| fs::read_link(path).is_ok_and(|link| link.to_string_lossy() == wanted.as_str());
        descriptors.flatten().any(|descriptor| open(&descriptor.path())).then_some(pid)
    })
}
