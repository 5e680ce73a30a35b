//! A real Kubernetes on loopback: API server, controllers and scheduler as released; nodes and pods played by kwok.
//!
//! Knows nothing of the provider. A test takes the shared [`ControlPlane`], a namespace of its own, nodes as it needs
//! them, and a [`crate::Proxy`] in front where calls are to be counted or to fail.

mod certificates;
mod client;
mod control_plane;
mod crds;
mod flags;
mod kubeconfig;
mod kueue;
mod logs;
mod nodes;
mod processes;
mod programs;
mod server;
mod stages;
mod tokens;

pub(crate) use self::certificates::Identity;
pub use self::{
    client::{Client, documents, poll},
    control_plane::{ControlPlane, Options},
    crds::Crds,
    nodes::Node,
    programs::{VERSION, lacking},
    stages::Script,
    tokens::{TokenRules, eks_token},
};
