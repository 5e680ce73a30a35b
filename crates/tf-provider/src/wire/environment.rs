//! The variables the host and the user set for this process, read once.

use std::{env, ffi::OsString, path::PathBuf};

/// Everything the wire layer takes from the environment. An empty variable counts as absent.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `TF_PLUGIN_MAGIC_COOKIE`: tells a host from a user's shell.
    pub magic_cookie: Option<String>,
    /// `PLUGIN_PROTOCOL_VERSIONS`: the host's major versions, comma-separated, in any order.
    pub protocol_versions: Option<String>,
    /// `PLUGIN_CLIENT_CERT`: the host's certificate as PEM. Absent when the user disabled TLS.
    pub client_cert: Option<String>,
    /// `PLUGIN_UNIX_SOCKET_DIR`: where the socket has to be.
    pub socket_dir: Option<PathBuf>,
    /// `PLUGIN_UNIX_SOCKET_GROUP`: a group, by name or number, that may connect too.
    pub socket_group: Option<String>,
    /// The directory for temporary files.
    pub temp_dir: PathBuf,
    /// `TF_LOG_PROVIDER`, else `TF_LOG`.
    pub log_level: Option<String>,
}

impl Environment {
    /// Reads the environment of this process.
    pub fn read() -> Self {
        Self::from_lookup(|name| env::var_os(name))
    }

    fn from_lookup(lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let path = |name| lookup(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let text = |name| {
            let value = lookup(name)?.to_string_lossy().into_owned();
            (!value.is_empty()).then_some(value)
        };
        Self {
            magic_cookie: text("TF_PLUGIN_MAGIC_COOKIE"),
            protocol_versions: text("PLUGIN_PROTOCOL_VERSIONS"),
            client_cert: text("PLUGIN_CLIENT_CERT"),
            socket_dir: path("PLUGIN_UNIX_SOCKET_DIR"),
            socket_group: text("PLUGIN_UNIX_SOCKET_GROUP"),
            temp_dir: path("TMPDIR").unwrap_or_else(env::temp_dir),
            log_level: text("TF_LOG_PROVIDER").or_else(|| text("TF_LOG")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        Environment::from_lookup(|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn an_empty_variable_counts_as_absent() {
        let read = environment(&[("PLUGIN_CLIENT_CERT", ""), ("PLUGIN_UNIX_SOCKET_DIR", "")]);

        assert_eq!(read.client_cert, None);
        assert_eq!(read.socket_dir, None);
    }

    #[test]
    fn the_providers_own_log_level_wins() {
        let both = environment(&[("TF_LOG", "trace"), ("TF_LOG_PROVIDER", "warn")]);
        let one = environment(&[("TF_LOG", "trace")]);

        assert_eq!(both.log_level.as_deref(), Some("warn"));
        assert_eq!(one.log_level.as_deref(), Some("trace"));
    }

    #[test]
    fn the_socket_goes_where_temporary_files_go() {
        assert_eq!(environment(&[("TMPDIR", "/elsewhere")]).temp_dir, PathBuf::from("/elsewhere"));
    }
}
