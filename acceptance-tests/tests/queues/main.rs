//! `mlplat_queue` as its users meet it: the real terraform, the built provider, a real API server and Kueue's real
//! controller, which decides what runs.
//!
//! One binary, so that one control plane with one Kueue serves all tests; each test has an account, a namespace and
//! nodes of its own. On a machine that cannot have a control plane the scenarios say so and do nothing.

mod drift;
mod ending;
mod life;
mod platform;
mod refusals;
mod support;
mod sweep;
mod versions;
mod work;
