//! The resources, one file or folder each: attributes, checks, expansion into child objects, tests.
//!
//! Pure: no calls, no clock, no SDK. What several of them share is here too: names within AWS's limits, ARNs, tags.

pub mod gpu_pool;
pub mod inference_service;
pub mod model_bucket;
pub mod queue;
pub mod shared_filesystem;
pub mod tenant;

mod arn;
mod kubernetes;
mod names;
mod tags;
#[cfg(test)]
mod testing;
mod toleration;

use tf_provider::{Attributes, Cty, Decoder};
use value::{State, Value};

pub use gpu_pool::GpuPool;
pub use inference_service::InferenceService;
pub use kubernetes::Adopt;
pub use model_bucket::ModelBucket;
pub use queue::Queue;
pub use shared_filesystem::SharedFilesystem;
pub use tenant::Tenant;
pub use toleration::Toleration;

/// Fills in a nested object. One that was left out becomes one whose attributes are left out, each at its place.
fn fill_in<T: Attributes>(nested: &mut Value<T>, edit: impl FnOnce(&mut T)) {
    let path = nested.path();
    let mut object = match nested.state() {
        State::Known(object) => object.clone(),
        State::Null => T::decode_object(&Cty::Null, &path, &mut Decoder::default()),
        State::Pending(_) => return,
    };
    edit(&mut object);
    *nested = Value::known(object).at(&path);
}

/// The values in one list, which is pending where one of them is.
fn together<T: Clone>(values: impl IntoIterator<Item = Value<T>>) -> Value<Vec<T>> {
    values.into_iter().fold(Value::known(Vec::new()), |all: Value<Vec<T>>, one| {
        all.with(&one, |all, one| all.into_iter().flatten().chain(one).cloned().collect())
    })
}
