//! The generated service, method by method: which file does which call, and what it answers when that fails.

use std::pin::Pin;

use futures::Stream;
use tonic::{Request, Response, Status, Streaming};

use crate::{
    server::{
        Server, absent,
        answer::{Answered, answer, answer_or},
        data_source, function, import, metadata, provider, resource, upgrade, validate,
    },
    wire::proto::tfplugin6::{
        apply_resource_change, call_function, close_ephemeral_resource, configure_provider, configure_state_store,
        delete_state, generate_resource_config, get_functions, get_metadata, get_provider_schema,
        get_resource_identity_schemas, get_states, import_resource_state, invoke_action, list_resource, lock_state,
        move_resource_state, open_ephemeral_resource, plan_action, plan_resource_change, provider_server,
        read_data_source, read_resource, read_state_bytes, renew_ephemeral_resource, stop_provider, unlock_state,
        upgrade_resource_identity, upgrade_resource_state, validate_action_config, validate_data_resource_config,
        validate_ephemeral_resource_config, validate_list_resource_config, validate_provider_config,
        validate_resource_config, validate_state_store_config, write_state_bytes,
    },
};

type Events<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send + 'static>>;

#[tonic::async_trait]
impl provider_server::Provider for Server {
    async fn get_metadata(&self, _: Request<get_metadata::Request>) -> Answered<get_metadata::Response> {
        answer("GetMetadata", "", async { Ok(metadata::names(self)) }).await
    }

    async fn get_provider_schema(
        &self,
        _: Request<get_provider_schema::Request>,
    ) -> Answered<get_provider_schema::Response> {
        answer("GetProviderSchema", "", async { Ok(metadata::schemas(self)) }).await
    }

    async fn get_resource_identity_schemas(
        &self,
        _: Request<get_resource_identity_schemas::Request>,
    ) -> Answered<get_resource_identity_schemas::Response> {
        answer("GetResourceIdentitySchemas", "", async { Ok(metadata::identity_schemas(self)) }).await
    }

    async fn validate_provider_config(
        &self,
        request: Request<validate_provider_config::Request>,
    ) -> Answered<validate_provider_config::Response> {
        let request = request.into_inner();
        answer("ValidateProviderConfig", "", async { provider::validate(self, &request) }).await
    }

    async fn validate_resource_config(
        &self,
        request: Request<validate_resource_config::Request>,
    ) -> Answered<validate_resource_config::Response> {
        let request = request.into_inner();
        let name = request.type_name.clone();
        answer("ValidateResourceConfig", &name, async { validate::resource(self, &request) }).await
    }

    async fn validate_data_resource_config(
        &self,
        request: Request<validate_data_resource_config::Request>,
    ) -> Answered<validate_data_resource_config::Response> {
        let request = request.into_inner();
        let name = request.type_name.clone();
        answer("ValidateDataResourceConfig", &name, async { validate::data_source(self, &request) }).await
    }

    async fn upgrade_resource_state(
        &self,
        request: Request<upgrade_resource_state::Request>,
    ) -> Answered<upgrade_resource_state::Response> {
        let request = request.into_inner();
        let name = request.type_name.clone();
        answer("UpgradeResourceState", &name, async { upgrade::state(self, &request) }).await
    }

    async fn upgrade_resource_identity(
        &self,
        request: Request<upgrade_resource_identity::Request>,
    ) -> Answered<upgrade_resource_identity::Response> {
        let request = request.into_inner();
        let name = request.type_name.clone();
        answer("UpgradeResourceIdentity", &name, async { upgrade::identity(self, &request) }).await
    }

    async fn configure_provider(
        &self,
        request: Request<configure_provider::Request>,
    ) -> Answered<configure_provider::Response> {
        let request = request.into_inner();
        answer("ConfigureProvider", "", provider::configure(self, request)).await
    }

    async fn read_resource(&self, request: Request<read_resource::Request>) -> Answered<read_resource::Response> {
        let request = request.into_inner();
        let name = request.type_name.clone();
        let otherwise = resource::unread(&request);
        answer_or("ReadResource", &name, otherwise, resource::read(self, request)).await
    }

    async fn plan_resource_change(
        &self,
        request: Request<plan_resource_change::Request>,
    ) -> Answered<plan_resource_change::Response> {
        let request = request.into_inner();
        let name = request.type_name.clone();
        answer("PlanResourceChange", &name, resource::plan(self, request)).await
    }

    async fn apply_resource_change(
        &self,
        request: Request<apply_resource_change::Request>,
    ) -> Answered<apply_resource_change::Response> {
        let request = request.into_inner();
        let name = request.type_name.clone();
        let otherwise = resource::unapplied(&request);
        answer_or("ApplyResourceChange", &name, otherwise, resource::apply(self, request)).await
    }

    async fn import_resource_state(
        &self,
        request: Request<import_resource_state::Request>,
    ) -> Answered<import_resource_state::Response> {
        let request = request.into_inner();
        let name = request.type_name.clone();
        answer("ImportResourceState", &name, import::import(self, request)).await
    }

    async fn move_resource_state(
        &self,
        request: Request<move_resource_state::Request>,
    ) -> Answered<move_resource_state::Response> {
        let request = request.into_inner();
        let name = request.target_type_name.clone();
        answer("MoveResourceState", &name, async { upgrade::moved(self, &request) }).await
    }

    async fn read_data_source(
        &self,
        request: Request<read_data_source::Request>,
    ) -> Answered<read_data_source::Response> {
        let request = request.into_inner();
        let name = request.type_name.clone();
        answer("ReadDataSource", &name, data_source::read(self, request)).await
    }

    async fn generate_resource_config(
        &self,
        request: Request<generate_resource_config::Request>,
    ) -> Answered<generate_resource_config::Response> {
        let name = request.into_inner().type_name;
        answer("GenerateResourceConfig", &name, async { absent::none(absent::CONFIG_WRITER, &name) }).await
    }

    async fn validate_ephemeral_resource_config(
        &self,
        request: Request<validate_ephemeral_resource_config::Request>,
    ) -> Answered<validate_ephemeral_resource_config::Response> {
        let name = request.into_inner().type_name;
        answer("ValidateEphemeralResourceConfig", &name, async { absent::none(absent::EPHEMERAL, &name) }).await
    }

    async fn open_ephemeral_resource(
        &self,
        request: Request<open_ephemeral_resource::Request>,
    ) -> Answered<open_ephemeral_resource::Response> {
        let name = request.into_inner().type_name;
        answer("OpenEphemeralResource", &name, async { absent::none(absent::EPHEMERAL, &name) }).await
    }

    async fn renew_ephemeral_resource(
        &self,
        request: Request<renew_ephemeral_resource::Request>,
    ) -> Answered<renew_ephemeral_resource::Response> {
        let name = request.into_inner().type_name;
        answer("RenewEphemeralResource", &name, async { absent::none(absent::EPHEMERAL, &name) }).await
    }

    async fn close_ephemeral_resource(
        &self,
        request: Request<close_ephemeral_resource::Request>,
    ) -> Answered<close_ephemeral_resource::Response> {
        let name = request.into_inner().type_name;
        answer("CloseEphemeralResource", &name, async { absent::none(absent::EPHEMERAL, &name) }).await
    }

    async fn list_resource(&self, request: Request<list_resource::Request>) -> Answered<Events<list_resource::Event>> {
        Ok(one(absent::list_event(&request.into_inner().type_name)))
    }

    async fn validate_list_resource_config(
        &self,
        request: Request<validate_list_resource_config::Request>,
    ) -> Answered<validate_list_resource_config::Response> {
        let name = request.into_inner().type_name;
        answer("ValidateListResourceConfig", &name, async { absent::none(absent::LIST, &name) }).await
    }

    async fn get_functions(&self, _: Request<get_functions::Request>) -> Answered<get_functions::Response> {
        answer("GetFunctions", "", async { Ok(metadata::functions(self)) }).await
    }

    async fn call_function(&self, request: Request<call_function::Request>) -> Answered<call_function::Response> {
        let request = request.into_inner();
        let name = request.name.clone();
        answer("CallFunction", &name, async { Ok(function::call(self, &request)) }).await
    }

    async fn validate_action_config(
        &self,
        request: Request<validate_action_config::Request>,
    ) -> Answered<validate_action_config::Response> {
        let name = request.into_inner().action_type;
        answer("ValidateActionConfig", &name, async { absent::none(absent::ACTION, &name) }).await
    }

    async fn plan_action(&self, request: Request<plan_action::Request>) -> Answered<plan_action::Response> {
        let name = request.into_inner().action_type;
        answer("PlanAction", &name, async { absent::none(absent::ACTION, &name) }).await
    }

    async fn invoke_action(&self, request: Request<invoke_action::Request>) -> Answered<Events<invoke_action::Event>> {
        Ok(one(absent::action_event(&request.into_inner().action_type)))
    }

    async fn validate_state_store_config(
        &self,
        request: Request<validate_state_store_config::Request>,
    ) -> Answered<validate_state_store_config::Response> {
        let name = request.into_inner().type_name;
        answer("ValidateStateStoreConfig", &name, async { absent::none(absent::STATE_STORE, &name) }).await
    }

    async fn configure_state_store(
        &self,
        request: Request<configure_state_store::Request>,
    ) -> Answered<configure_state_store::Response> {
        let name = request.into_inner().type_name;
        answer("ConfigureStateStore", &name, async { absent::none(absent::STATE_STORE, &name) }).await
    }

    async fn read_state_bytes(
        &self,
        request: Request<read_state_bytes::Request>,
    ) -> Answered<Events<read_state_bytes::ResponseChunk>> {
        Ok(one(absent::state_chunk(&request.into_inner().type_name)))
    }

    async fn write_state_bytes(
        &self,
        _: Request<Streaming<write_state_bytes::RequestChunk>>,
    ) -> Answered<write_state_bytes::Response> {
        answer("WriteStateBytes", "", async { absent::none(absent::STATE_STORE, "") }).await
    }

    async fn lock_state(&self, request: Request<lock_state::Request>) -> Answered<lock_state::Response> {
        let name = request.into_inner().type_name;
        answer("LockState", &name, async { absent::none(absent::STATE_STORE, &name) }).await
    }

    async fn unlock_state(&self, request: Request<unlock_state::Request>) -> Answered<unlock_state::Response> {
        let name = request.into_inner().type_name;
        answer("UnlockState", &name, async { absent::none(absent::STATE_STORE, &name) }).await
    }

    async fn get_states(&self, request: Request<get_states::Request>) -> Answered<get_states::Response> {
        let name = request.into_inner().type_name;
        answer("GetStates", &name, async { absent::none(absent::STATE_STORE, &name) }).await
    }

    async fn delete_state(&self, request: Request<delete_state::Request>) -> Answered<delete_state::Response> {
        let name = request.into_inner().type_name;
        answer("DeleteState", &name, async { absent::none(absent::STATE_STORE, &name) }).await
    }

    async fn stop_provider(&self, _: Request<stop_provider::Request>) -> Answered<stop_provider::Response> {
        Ok(Response::new(provider::stop(self)))
    }
}

/// A stream of one event.
fn one<T: Send + 'static>(event: T) -> Response<Events<T>> {
    Response::new(Box::pin(futures::stream::once(async { Ok(event) })))
}
