//! GetMetadata, GetProviderSchema, GetResourceIdentitySchemas and GetFunctions: what there is.

use crate::{
    server::{Server, schema},
    wire::proto::tfplugin6::{
        ServerCapabilities, get_functions,
        get_metadata::{self, DataSourceMetadata, FunctionMetadata, ResourceMetadata},
        get_provider_schema, get_resource_identity_schemas,
    },
};

/// What this server does beyond the basic calls. `get_provider_schema_optional` spares the schema in four of five
/// processes of a run, so no call may wait for it.
const CAPABILITIES: ServerCapabilities = ServerCapabilities {
    plan_destroy: true,
    get_provider_schema_optional: true,
    move_resource_state: true,
    generate_resource_config: false,
};

pub(super) fn names(server: &Server) -> get_metadata::Response {
    let catalog = server.catalog();
    let data_sources = catalog.data_sources.keys().map(|name| DataSourceMetadata { type_name: (*name).into() });
    get_metadata::Response {
        server_capabilities: Some(CAPABILITIES),
        resources: catalog.resources.keys().map(|name| ResourceMetadata { type_name: (*name).into() }).collect(),
        data_sources: data_sources.collect(),
        functions: catalog.functions.keys().map(|name| FunctionMetadata { name: (*name).into() }).collect(),
        ..get_metadata::Response::default()
    }
}

pub(super) fn schemas(server: &Server) -> get_provider_schema::Response {
    let catalog = server.catalog();
    let resources = catalog.resources.iter().map(|(name, one)| ((*name).to_owned(), schema::schema(&one.block.schema)));
    let data_sources =
        catalog.data_sources.iter().map(|(name, one)| ((*name).to_owned(), schema::schema(&one.block.schema)));
    get_provider_schema::Response {
        provider: Some(schema::schema(&catalog.provider.schema)),
        resource_schemas: resources.collect(),
        data_source_schemas: data_sources.collect(),
        functions: functions(server).functions,
        server_capabilities: Some(CAPABILITIES),
        ..get_provider_schema::Response::default()
    }
}

pub(super) fn identity_schemas(server: &Server) -> get_resource_identity_schemas::Response {
    let identities = server.catalog().resources.iter().filter_map(|(name, one)| {
        let (identity, _) = one.identity.as_ref()?;
        Some(((*name).to_owned(), schema::identity(identity)))
    });
    get_resource_identity_schemas::Response { identity_schemas: identities.collect(), ..Default::default() }
}

pub(super) fn functions(server: &Server) -> get_functions::Response {
    let functions = &server.catalog().functions;
    let functions = functions.iter().map(|(name, one)| ((*name).to_owned(), schema::function(&one.signature)));
    get_functions::Response { functions: functions.collect(), ..Default::default() }
}
