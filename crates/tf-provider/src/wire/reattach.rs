//! Debug mode: the host does not start the process but is told where it is.

use serde_json::json;
use std::path::Path;

/// The assignment a user sets for the host, quoted for a shell.
pub(crate) fn assignment(address: &str, socket: &Path, pid: u32) -> String {
    let value = json!({
        address: {
            "Protocol": "grpc",
            "ProtocolVersion": super::handshake::PROTOCOL_VERSION,
            "Pid": pid,
            // The host then leaves the process alone at its own end.
            "Test": true,
            "Addr": { "Network": "unix", "String": socket },
        }
    });
    let value = value.to_string().replace('\'', r"'\''");
    format!("TF_REATTACH_PROVIDERS='{value}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_assignment_names_address_process_and_socket() {
        let assignment = assignment("registry.terraform.io/a/b", Path::new("/tmp/s"), 7);

        let json = assignment.strip_prefix("TF_REATTACH_PROVIDERS='");
        let json = json.and_then(|rest| rest.strip_suffix('\'')).expect("quoted");
        let value: serde_json::Value = serde_json::from_str(json).expect("JSON");
        let provider = &value["registry.terraform.io/a/b"];
        assert_eq!(provider["Protocol"], "grpc");
        assert_eq!(provider["ProtocolVersion"], 6);
        assert_eq!(provider["Pid"], 7);
        assert_eq!(provider["Test"], true);
        assert_eq!(provider["Addr"], json!({ "Network": "unix", "String": "/tmp/s" }));
    }

    #[test]
    fn a_quote_in_the_path_stays_inside_the_shells_quotes() {
        let assignment = assignment("a/b/c", Path::new("/tmp/it's"), 7);

        assert!(assignment.contains(r"/tmp/it'\''s"), "{assignment}");
    }
}
