//! The core itself: a provider process, its configuration, and the state.

use std::{collections::BTreeMap, fmt, sync::Arc};

use tonic::Request;

use crate::{
    Cty, Diagnostics, FunctionError, Provider,
    codec::to_json,
    server::{Server, decode, encode},
    testing::{
        Config, Failure, Rule, check_schema,
        target::{CAPABILITIES, Object, Target, answered, told},
    },
    wire::proto::tfplugin6::{
        self as proto, call_function, configure_provider, provider_server::Provider as _, read_data_source,
        validate_data_resource_config, validate_provider_config,
    },
};

/// A small Terraform core. Addresses are `type.name`.
pub struct Core {
    make: Box<dyn Fn() -> Arc<dyn Provider> + Send + Sync>,
    pub(super) server: Server,
    config: Option<Cty>,
    pub(super) refreshes: bool,
    pub(super) state: BTreeMap<String, Instance>,
}

/// One object in the state.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Its value; null where only `stored` is known yet.
    pub value: Cty,
    /// What the provider keeps beside it.
    pub private: Vec<u8>,
    /// Its identity; null for none.
    pub identity: Cty,
    /// Whether it is to be replaced by the next apply.
    pub tainted: bool,
    /// The version of the schema it was written with.
    pub version: i64,
    /// Its JSON.
    pub stored: String,
}

// === impl Core ===

impl Core {
    /// A core that starts provider processes with `make`: one now, and one at each [`Core::restart`].
    pub fn new(make: impl Fn() -> Arc<dyn Provider> + Send + Sync + 'static) -> Self {
        let server = Server::shared(make());
        Self { server, make: Box::new(make), config: None, refreshes: true, state: BTreeMap::new() }
    }

    /// Checks and takes the provider block. Unknown values are allowed, as in a plan.
    pub async fn configure(&mut self, config: impl Into<Config>) -> Result<Diagnostics, Failure> {
        let block = &self.server.catalog().provider;
        let config = config.into().value(&block.schema.block)?;
        let request = validate_provider_config::Request { config: Some(block.encode(&config)) };
        let mut diagnostics =
            told(answered(self.server.validate_provider_config(Request::new(request)).await)?.diagnostics)?;
        let request = configure_provider::Request {
            terraform_version: "1.14.0".to_owned(),
            config: Some(block.encode(&config)),
            client_capabilities: Some(CAPABILITIES),
        };
        diagnostics.extend(told(answered(self.server.configure_provider(Request::new(request)).await)?.diagnostics)?);
        self.config = Some(config);
        Ok(diagnostics)
    }

    /// Ends the provider's process without a word and starts another, configured as the last one was. What the
    /// state says stays. Dropping a future of [`Core::apply`] before this is a kill in the middle of an apply.
    pub async fn restart(&mut self) -> Result<(), Failure> {
        self.server = Server::shared((self.make)());
        if let Some(config) = self.config.clone() {
            self.configure(config).await?;
        }
        Ok(())
    }

    /// Whether plans begin with a refresh, as they do unless this says otherwise: `terraform apply -refresh=false`.
    pub fn set_refreshes(&mut self, refreshes: bool) {
        self.refreshes = refreshes;
    }

    /// The server, for calls of one's own.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// What the state has at an address.
    pub fn state(&self, address: &str) -> Option<&Instance> {
        self.state.get(address)
    }

    /// The addresses in the state.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        self.state.keys().map(String::as_str)
    }

    /// Marks an object to be replaced.
    pub fn taint(&mut self, address: &str) {
        self.mark(address, true);
    }

    /// Takes that mark away.
    pub fn untaint(&mut self, address: &str) {
        self.mark(address, false);
    }

    /// Forgets an object, as `terraform state rm` does.
    pub fn forget(&mut self, address: &str) -> Option<Instance> {
        self.state.remove(address)
    }

    /// Loses the private data of an object, as editing the state does.
    pub fn forget_private(&mut self, address: &str) {
        if let Some(instance) = self.state.get_mut(address) {
            instance.private.clear();
        }
    }

    /// Puts an object into the state as an older provider has stored it.
    pub fn store(&mut self, address: &str, version: i64, json: &serde_json::Value, private: Vec<u8>) {
        let (value, identity, stored) = (Cty::Null, Cty::Null, json.to_string());
        let instance = Instance { value, private, identity, tainted: false, version, stored };
        self.state.insert(address.to_owned(), instance);
    }

    /// Puts an object into the state as it is, as a state taken from elsewhere has it.
    pub fn put(&mut self, address: &str, instance: Instance) {
        self.state.insert(address.to_owned(), instance);
    }

    /// Reads a configuration as a value of a resource's type.
    pub fn config(&self, address: &str, config: impl Into<Config>) -> Result<Cty, Failure> {
        config.into().value(&self.target(address)?.entry.block.schema.block)
    }

    /// Checks a resource's configuration.
    pub async fn validate(&self, address: &str, config: impl Into<Config>) -> Result<Diagnostics, Failure> {
        let target = self.target(address)?;
        target.validate(&config.into().value(&target.entry.block.schema.block)?).await
    }

    /// Checks and reads a data source.
    pub async fn read_data(&self, type_name: &str, config: impl Into<Config>) -> Result<(Cty, Diagnostics), Failure> {
        let missing = || Failure::misuse(format!("there is no data source {type_name:?}"));
        let block = &self.server.catalog().data_sources.get(type_name).ok_or_else(missing)?.block;
        let config = Some(block.encode(&config.into().value(&block.schema.block)?));
        let type_name = type_name.to_owned();
        let request = validate_data_resource_config::Request { type_name: type_name.clone(), config: config.clone() };
        let response = answered(self.server.validate_data_resource_config(Request::new(request)).await)?;
        let mut diagnostics = told(response.diagnostics)?;
        let client_capabilities = Some(CAPABILITIES);
        let request = read_data_source::Request { type_name, config, provider_meta: None, client_capabilities };
        let response = answered(self.server.read_data_source(Request::new(request)).await)?;
        diagnostics.extend(told(response.diagnostics)?);
        let state =
            decode(response.state.as_ref(), &block.ty).map_err(|error| Rule::Conformance.broken(error.to_string()))?;
        if state.is_null() || !state.is_wholly_known() {
            return Err(Rule::Answer.broken("a data source must give a known object").into());
        }
        Ok((state, diagnostics))
    }

    /// Calls a function, twice: its results must be the same.
    pub async fn call(&self, name: &str, arguments: Vec<Config>) -> Result<Result<Cty, FunctionError>, Failure> {
        let first = self.call_once(name, arguments.clone()).await?;
        let second = self.call_once(name, arguments).await?;
        if first != second {
            return Err(Rule::Answer.broken(format!("{name} gave {first:?} and then {second:?}")).into());
        }
        Ok(first)
    }

    async fn call_once(&self, name: &str, arguments: Vec<Config>) -> Result<Result<Cty, FunctionError>, Failure> {
        let missing = || Failure::misuse(format!("there is no function {name:?}"));
        let signature = &self.server.catalog().functions.get(name).ok_or_else(missing)?.signature;
        let parameters = signature.parameters.iter().chain(signature.variadic.iter().cycle());
        let arguments = arguments.into_iter().zip(parameters);
        let arguments = arguments.map(|(value, parameter)| Ok(encode(&value.value_of(&parameter.ty)?, &parameter.ty)));
        let arguments = arguments.collect::<Result<_, Failure>>()?;
        let request = call_function::Request { name: name.to_owned(), arguments };
        let response = answered(self.server.call_function(Request::new(request)).await)?;
        if let Some(proto::FunctionError { text, function_argument }) = response.error {
            let argument = function_argument.and_then(|index| usize::try_from(index).ok());
            return Ok(Err(FunctionError { text, argument }));
        }
        let result = decode(response.result.as_ref(), &signature.result);
        Ok(Ok(result.map_err(|error| Rule::Conformance.broken(error.to_string()))?))
    }

    /// What core would refuse about any schema of the provider; see [`check_schema`].
    pub fn check_schemas(&self) -> Vec<String> {
        let catalog = self.server.catalog();
        let named = |name: &str, complaints: Vec<String>| {
            complaints.into_iter().map(|text| format!("{name}: {text}")).collect::<Vec<_>>()
        };
        let mut complaints = named("provider", check_schema(&catalog.provider.schema));
        for (name, one) in &catalog.resources {
            complaints.extend(named(name, check_schema(&one.block.schema)));
            complaints.extend(named(name, super::schema::check_identity(&one.resource.identity_schema())));
        }
        for (name, one) in &catalog.data_sources {
            complaints.extend(named(name, check_schema(&one.block.schema)));
        }
        for (name, one) in &catalog.functions {
            complaints.extend(named(name, super::schema::check_signature(name, &one.signature)));
        }
        complaints
    }

    pub(super) fn target(&self, address: &str) -> Result<Target<'_>, Failure> {
        let (type_name, _) = address
            .split_once('.')
            .ok_or_else(|| Failure::misuse(format!("{address:?} is no address: it wants a type, a dot and a name")))?;
        let missing = || Failure::misuse(format!("there is no resource {type_name:?}"));
        let entry = self.server.catalog().resources.get(type_name).ok_or_else(missing)?;
        Ok(Target { server: &self.server, entry })
    }

    /// Puts what is there now into the state, or takes it out.
    pub(super) fn save(&mut self, address: &str, object: Object, tainted: bool) -> Result<(), Failure> {
        if object.value.is_null() {
            self.state.remove(address);
            return Ok(());
        }
        let block = &self.target(address)?.entry.block;
        let (version, stored) = (block.schema.version, to_json(&object.value, &block.ty));
        let Object { value, private, identity } = object;
        self.state.insert(address.to_owned(), Instance { value, private, identity, tainted, version, stored });
        Ok(())
    }

    fn mark(&mut self, address: &str, tainted: bool) {
        if let Some(instance) = self.state.get_mut(address) {
            instance.tainted = tainted;
        }
    }
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core").field("state", &self.state).finish_non_exhaustive()
    }
}
