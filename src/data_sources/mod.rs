//! The provider's data sources, one file each.
//!
//! Here is what they look like and how answers become attributes; who asks AWS is handed in.

mod accelerators;
mod cluster;

use tf_provider::{Attributes, Block, Cty, Decoder, Diagnostics, Schema};
use value::AttributePath;

pub use self::{
    accelerators::{Accelerators, FindZones, Zones},
    cluster::{Cluster, ClusterFacts, DescribeCluster},
};

fn schema<T: Attributes>() -> Schema {
    let block = Block { description: T::description().to_owned(), attributes: T::attributes(), ..Block::default() };
    Schema { version: 0, block }
}

fn decoded<T: Attributes>(config: &Cty) -> (T, Diagnostics) {
    let mut decoder = Decoder::default();
    let read = T::decode_object(config, &AttributePath::root(), &mut decoder);
    (read, decoder.diagnostics)
}
