//! A small Terraform core: drives a provider as the real one does, and holds its answers to the same rules.
//!
//! What the real core says with "Provider produced …" is a [`Failure`] here, and so fails a test of a few
//! milliseconds. Values go through the real messages, so encoding is tested on the way. Not in here: a language,
//! references between resources, create-before-destroy, ignore_changes.
//!
//! ```text
//! let mut core = Core::new(|| Arc::new(provider()));
//! core.configure(json!({ "region": "eu-central-1" })).await?;
//! let planned = core.plan("mlplat_bucket.a", json!({ "name": "weights" })).await?;
//! assert_eq!(planned.action, Action::Create);
//! core.apply(planned).await?;
//! ```

mod apply;
mod config;
mod core;
mod failure;
mod import;
mod plan;
mod refresh;
mod rules;
mod schema;
mod target;

pub use config::{Config, with_unknown};
pub use core::{Core, Instance};
pub use failure::{Failure, Rule, Violation};
pub use plan::{Action, Planned};
pub use rules::proposed::proposed_new;
pub use schema::check_schema;
