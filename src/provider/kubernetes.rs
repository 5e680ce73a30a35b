//! What cannot work of the provider's `kubernetes` block, told before anything is dialled.

use tf_provider::Diagnostics;
use value::Value;

use super::config::Kubernetes;

pub(super) fn check(block: &Kubernetes, complaints: &mut Diagnostics) {
    check_place(block, complaints);
    check_credentials(block, complaints);
    let texts = [
        ("cluster_ca_certificate", &block.cluster_ca_certificate, "-----BEGIN CERTIFICATE-----", "a certificate"),
        ("client_certificate", &block.client_certificate, "-----BEGIN CERTIFICATE-----", "a certificate"),
        ("client_key", &block.client_key, "PRIVATE KEY-----", "a private key"),
    ];
    for (name, value, mark, what) in texts {
        if value.get().is_some_and(|text| !text.contains(mark)) {
            complaints.error(
                value,
                format!("`{name}` is not {what} in PEM"),
                format!(
                    "It has no line with \"{mark}\".\n\nGive the content of the file with `file(\"…\")`, not its path; \
                     what is in Base64 goes through `base64decode(…)`."
                ),
            );
        }
    }
}

fn check_place(block: &Kubernetes, complaints: &mut Diagnostics) {
    let places = [("config_path", &block.config_path), ("host", &block.host), ("eks_cluster", &block.eks_cluster)];
    let mut set = places.iter().filter(|(_, value)| !value.is_null());
    if let (Some((first, _)), Some((second, value))) = (set.next(), set.next()) {
        complaints.error(
            value,
            format!("`{second}` and `{first}` name two clusters"),
            "The block is about one.\n\nLeave one of them out; resources can name EKS clusters of their own in \
             `cluster`.",
        );
    }
    if let Some(host) = block.host.get().filter(|host| !["https://", "http://"].iter().any(|way| host.starts_with(way)))
    {
        complaints.error(
            &block.host,
            format!("{host:?} is not the URL of an API server"),
            "It has no scheme.\n\nWrite it with one, such as \"https://10.0.0.1:6443\".",
        );
    }
    if !block.host.is_null() && !block.context.is_null() {
        complaints.error(
            &block.context,
            "A context has no effect beside `host`",
            "Contexts are those of a kubeconfig, which is not read then.\n\nLeave one of them out.",
        );
    }
}

fn check_credentials(block: &Kubernetes, complaints: &mut Diagnostics) {
    let (certificate, key) = (&block.client_certificate, &block.client_key);
    for (value, name, lacking, other) in
        [(certificate, "client_certificate", key, "client_key"), (key, "client_key", certificate, "client_certificate")]
    {
        if !value.is_null() && lacking.is_null() {
            complaints.error(
                value,
                format!("`{name}` is of no use without `{other}`"),
                format!("A client proves with the key that the certificate is its own.\n\nGive `{other}` as well."),
            );
        }
    }
    if !block.host.is_null() {
        return;
    }
    let texts = [
        ("cluster_ca_certificate", &block.cluster_ca_certificate),
        ("token", &block.token),
        ("client_certificate", certificate),
        ("client_key", key),
    ];
    let set = texts.iter().find(|(_, value)| !value.is_null());
    match set {
        Some((name, value)) => without_host(name, value, complaints),
        None if !block.exec.is_null() => without_host("exec", &block.exec, complaints),
        None => {}
    }
}

fn without_host<T>(name: &str, value: &Value<T>, complaints: &mut Diagnostics) {
    complaints.error(
        value,
        format!("`{name}` has no effect without `host`"),
        "A kubeconfig and EKS have credentials of their own.\n\nGive `host` as well, or leave it out.",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEM: &str = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----";
    const KEY: &str = "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----";

    fn text(text: &str) -> Value<String> {
        Value::from(text)
    }

    fn told(block: &Kubernetes) -> Vec<String> {
        let mut complaints = Diagnostics::new();
        check(block, &mut complaints);
        complaints.into_iter().map(|complaint| complaint.summary).collect()
    }

    #[test]
    fn each_way_to_name_a_cluster_is_enough_by_itself() {
        for block in [
            Kubernetes::default(),
            Kubernetes { config_path: text("~/.kube/config"), context: text("kind"), ..Kubernetes::default() },
            Kubernetes { eks_cluster: text("ml-prod"), ..Kubernetes::default() },
            Kubernetes { host: text("https://k"), token: text("t"), ..Kubernetes::default() },
            Kubernetes {
                host: text("https://k"),
                cluster_ca_certificate: text(PEM),
                client_certificate: text(PEM),
                client_key: text(KEY),
                ..Kubernetes::default()
            },
        ] {
            assert_eq!(told(&block), Vec::<String>::new());
        }
    }

    #[test]
    fn what_contradicts_itself_or_does_nothing_is_told() {
        for (block, summary) in [
            (
                Kubernetes { host: text("https://k"), config_path: text("c"), ..Kubernetes::default() },
                "`host` and `config_path` name two clusters",
            ),
            (
                Kubernetes { host: text("k:6443"), ..Kubernetes::default() },
                "\"k:6443\" is not the URL of an API server",
            ),
            (
                Kubernetes { host: text("https://k"), context: text("c"), ..Kubernetes::default() },
                "A context has no effect beside `host`",
            ),
            (
                Kubernetes { host: text("https://k"), client_certificate: text(PEM), ..Kubernetes::default() },
                "`client_certificate` is of no use without `client_key`",
            ),
            (
                Kubernetes { host: text("https://k"), cluster_ca_certificate: text("ca.pem"), ..Kubernetes::default() },
                "`cluster_ca_certificate` is not a certificate in PEM",
            ),
            (
                Kubernetes { config_path: text("c"), token: text("t"), ..Kubernetes::default() },
                "`token` has no effect without `host`",
            ),
        ] {
            assert_eq!(told(&block), [summary]);
        }
    }
}
