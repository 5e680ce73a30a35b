//! The generated messages, services and clients of proto/. Nothing in here is written by hand.

/// The provider protocol, version 6.
#[expect(missing_docs, clippy::pedantic, clippy::allow_attributes, reason = "generated")]
pub mod tfplugin6 {
    include!(concat!(env!("OUT_DIR"), "/tfplugin6.rs"));
}

/// go-plugin's own services: stdio, broker and controller.
#[expect(missing_docs, clippy::pedantic, reason = "generated")]
pub mod plugin {
    include!(concat!(env!("OUT_DIR"), "/plugin.rs"));
}

/// The compiled descriptors of everything above, as an encoded `FileDescriptorSet`.
pub const DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
