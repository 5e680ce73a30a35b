//! Compiles proto/ without a system protoc: services, clients and the descriptor set that a test reads.

use std::{env, error::Error, fs, path::PathBuf};

const FILES: [&str; 4] = ["tfplugin6.proto", "grpc_broker.proto", "grpc_controller.proto", "grpc_stdio.proto"];

fn main() -> Result<(), Box<dyn Error>> {
    let protos = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../proto");
    println!("cargo:rerun-if-changed={}", protos.display());
    let mut compiler = protox::Compiler::new([&protos])?;
    compiler.include_imports(true).open_files(FILES)?;

    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("descriptors.bin"), compiler.encode_file_descriptor_set())?;
    // Clients serve the tests: they are generic over the transport, so nothing of them is in the shipped binary.
    tonic_prost_build::configure()
        .build_client(true)
        .build_transport(false)
        // A call the provider does not write answers UNIMPLEMENTED, which the host has a text for.
        .generate_default_stubs(true)
        .compile_fds(compiler.file_descriptor_set())?;
    Ok(())
}
