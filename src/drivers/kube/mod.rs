//! The driver of Kubernetes objects: one for every kind, by server-side apply.
//!
//! Read first: `object` (the driver), `apply` (how it writes), `meaning` (what counts as a difference), `connection`
//! (whom it talks to). Decides by the reasons that an API server gives, never by the text of a message.

mod network_enforcement;
mod object;
mod secret;

mod admission;
mod apply;
mod clear;
mod coverage;
mod fields;
mod mark;
mod meaning;
mod nodes;
mod preflight;
mod reader;
mod storage;
mod translate;

mod asker;
mod diagnosis;
mod holders;
mod place;
mod pods;
mod readiness;
mod stuck;
mod unplaced;

mod address;
mod call;
mod config;
mod connection;
mod credentials;
mod discovery;
mod fault;
mod program;
mod proxy;
mod rbac;
mod token;

#[cfg(test)]
mod testing;

use std::sync::Arc;

use converge::Drivers;

pub use config::{ExecConfig, KubernetesConfig};
pub use connection::{ClusterClient, Clusters};
pub use rbac::cluster_role;

use crate::components::kube::{self, for_every_kube_kind};

/// What every kind needs; the verbs are those of the kind's own resource.
const ACTIONS: &[&str] =
    &["eks:DescribeCluster", "kubernetes:delete", "kubernetes:get", "kubernetes:list", "kubernetes:patch"];

/// Adds the drivers of all Kubernetes components.
pub fn register(drivers: &mut Drivers, clusters: &Arc<Clusters>) {
    macro_rules! register_kind {
        ($kind:ident) => {
            drivers.register(object::KubeDriver::<kube::$kind>::new(clusters))
        };
    }
    for_every_kube_kind!(register_kind);
    drivers.register(network_enforcement::NetworkEnforcementDriver::new(clusters));
    drivers.register(secret::SecretDriver(Arc::clone(clusters)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivers::aws::{Aws, AwsConfig};

    #[test]
    fn every_kind_has_a_driver() {
        let clusters = Arc::new(Clusters::new(KubernetesConfig::default(), Arc::new(Aws::new(AwsConfig::default()))));
        let mut drivers = Drivers::default();
        register(&mut drivers, &clusters);
        let mut count = 2;
        macro_rules! check {
            ($kind:ident) => {
                assert!(drivers.get(<kube::$kind as kube::Kind>::FACTS.kind).is_ok());
                count += 1;
            };
        }
        for_every_kube_kind!(check);
        assert!(drivers.get("kubernetes_token_secret").is_ok());
        assert_eq!(drivers.iter().count(), count);
    }
}
