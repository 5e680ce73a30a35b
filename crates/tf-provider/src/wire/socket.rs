//! The UNIX socket: in a directory of its own that only this user can enter, gone when dropped.

use crate::wire::{Environment, WireError};
use std::{
    fs::{self, Permissions},
    io,
    os::unix::{
        fs::{PermissionsExt as _, chown},
        net::UnixListener,
    },
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// Bytes the address of a socket can hold, its final zero taken off.
const PATH_LIMIT: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// A listening socket. Dropping it removes socket and directory.
#[derive(Debug)]
pub(crate) struct Socket {
    listener: UnixListener,
    path: PathBuf,
    _dir: TempDir,
}

impl Socket {
    /// Listens. Connections wait in the kernel until somebody accepts, so no runtime is needed yet.
    pub(crate) fn bind(environment: &Environment) -> Result<Self, WireError> {
        let parent = environment.socket_dir.as_ref();
        let parent = parent.unwrap_or(&environment.temp_dir);
        let group = environment.socket_group.as_deref().map(group_id);
        let group = group.transpose()?;
        let failed = |source| WireError::Socket { dir: parent.clone(), source };

        let dir = private_dir(parent).map_err(failed)?;
        let path = dir.path().join("s");
        check_length(&path)?;
        let listener = listen(&path).map_err(failed)?;
        if let Some(group) = group {
            admit(group, dir.path(), &path).map_err(failed)?;
        }
        Ok(Self { listener, path, _dir: dir })
    }

    /// Where the host connects to.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A second handle of the listener, for the runtime.
    pub(crate) fn listener(&self) -> io::Result<tokio::net::UnixListener> {
        tokio::net::UnixListener::from_std(self.listener.try_clone()?)
    }
}

fn private_dir(parent: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new()
        .prefix("plugin")
        .rand_bytes(6)
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(parent)
}

fn check_length(path: &Path) -> Result<(), WireError> {
    let length = path.as_os_str().len();
    if length <= PATH_LIMIT {
        return Ok(());
    }
    Err(WireError::SocketPathTooLong { path: path.to_owned(), length, limit: PATH_LIMIT })
}

fn listen(path: &Path) -> io::Result<UnixListener> {
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Lets a group pass the directory and connect: the host runs as another user of that group.
fn admit(group: u32, dir: &Path, socket: &Path) -> io::Result<()> {
    chown(dir, None, Some(group))?;
    fs::set_permissions(dir, Permissions::from_mode(0o710))?;
    chown(socket, None, Some(group))?;
    fs::set_permissions(socket, Permissions::from_mode(0o660))
}

/// A group by number, or by its name in /etc/group: asking the name service would need unsafe code.
fn group_id(group: &str) -> Result<u32, WireError> {
    if let Ok(number) = group.parse() {
        return Ok(number);
    }
    let file = fs::read_to_string("/etc/group").unwrap_or_default();
    group_in(&file, group).ok_or_else(|| WireError::UnknownGroup { group: group.to_owned() })
}

fn group_in(file: &str, name: &str) -> Option<u32> {
    let mut entries = file.lines().map(|line| line.split(':'));
    let mut entry = entries.find_map(|mut entry| (entry.next() == Some(name)).then_some(entry))?;
    entry.nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt as _;

    fn environment(temp_dir: &Path) -> Environment {
        Environment { temp_dir: temp_dir.to_owned(), ..Environment::default() }
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it exists").mode() & 0o777
    }

    #[test]
    fn only_this_user_can_reach_the_socket() {
        let parent = tempfile::tempdir().expect("a directory");
        let socket = Socket::bind(&environment(parent.path())).expect("a socket");

        assert_eq!(mode(socket.path()), 0o600);
        assert_eq!(mode(socket.path().parent().expect("a parent")), 0o700);
    }

    #[test]
    fn dropping_leaves_nothing_behind() {
        let parent = tempfile::tempdir().expect("a directory");
        drop(Socket::bind(&environment(parent.path())).expect("a socket"));

        assert_eq!(fs::read_dir(parent.path()).expect("a listing").count(), 0);
    }

    #[test]
    fn the_host_chooses_directory_and_group() {
        let parent = tempfile::tempdir().expect("a directory");
        let own_group = fs::metadata(parent.path()).expect("it exists").gid();
        let socket = Socket::bind(&Environment {
            socket_dir: Some(parent.path().to_owned()),
            socket_group: Some(own_group.to_string()),
            ..environment(Path::new("/nowhere"))
        });
        let socket = socket.expect("a socket");

        assert!(socket.path().starts_with(parent.path()));
        assert_eq!(mode(socket.path()), 0o660);
        assert_eq!(fs::metadata(socket.path()).expect("it exists").gid(), own_group);
    }

    #[test]
    fn a_long_directory_is_refused_with_the_cure() {
        let parent = tempfile::tempdir().expect("a directory");
        let long = parent.path().join("d".repeat(120));
        fs::create_dir(&long).expect("a directory");
        let error = Socket::bind(&environment(&long)).expect_err("too long");

        assert!(error.to_string().contains("Set TMPDIR"), "{error}");
        assert_eq!(fs::read_dir(&long).expect("a listing").count(), 0);
    }

    #[test]
    fn groups_are_looked_up_by_their_whole_name() {
        let file = "root:x:0:\nstaff2:x:7:\nstaff:x:50:alice,bob\n";

        assert_eq!(group_in(file, "staff"), Some(50));
        assert_eq!(group_in(file, "alice"), None);
    }
}
