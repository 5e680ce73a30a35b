//! Importing: a stub, then a Read that must find it.

use tonic::Request;

use crate::{
    Cty, Diagnostics, Source,
    testing::{
        Config, Core, Failure, Rule,
        target::{CAPABILITIES, Object, Target, answered, told},
    },
    wire::proto::tfplugin6::{
        RawState, import_resource_state as wire, move_resource_state as moving, provider_server::Provider as _,
    },
};

impl Core {
    /// Imports by id.
    pub async fn import_id(&mut self, address: &str, id: &str) -> Result<Diagnostics, Failure> {
        let stub = self.target(address)?.import(id, &Cty::Null).await?;
        self.imported(address, stub).await
    }

    /// Imports by identity.
    pub async fn import_identity(
        &mut self,
        address: &str,
        identity: impl Into<Config>,
    ) -> Result<Diagnostics, Failure> {
        let target = self.target(address)?;
        let Some((_, ty)) = &target.entry.identity else {
            return Err(Failure::misuse(format!("{address:?} has no identity")));
        };
        let identity = identity.into().value_of(ty)?;
        let stub = target.import("", &identity).await?;
        if stub.0.identity.is_null() {
            return Err(Rule::Import.broken("an import by identity must give an identity").into());
        }
        self.imported(address, stub).await
    }

    /// Takes over the state of a resource of another type, as a `moved` block does.
    pub async fn move_from(&mut self, address: &str, source: &Source) -> Result<Diagnostics, Failure> {
        let stub = self.target(address)?.take_over(source).await?;
        self.imported(address, stub).await
    }

    async fn imported(
        &mut self,
        address: &str,
        (stub, mut diagnostics): (Object, Diagnostics),
    ) -> Result<Diagnostics, Failure> {
        if self.state.contains_key(address) {
            return Err(Failure::misuse(format!("the state has {address:?} already")));
        }
        let (object, told) = self.target(address)?.read(&stub).await?;
        diagnostics.extend(told);
        if object.value.is_null() {
            return Err(Failure::misuse(format!("Cannot import {address}: there is no such object")));
        }
        self.save(address, object, false)?;
        Ok(diagnostics)
    }
}

impl Target<'_> {
    async fn take_over(self, source: &Source) -> Result<(Object, Diagnostics), Failure> {
        let raw = RawState { json: source.state.to_string().into_bytes(), ..RawState::default() };
        let request = moving::Request {
            source_provider_address: source.provider.clone(),
            source_type_name: source.type_name.clone(),
            source_state: Some(raw),
            target_type_name: self.type_name(),
            ..moving::Request::default()
        };
        let response = answered(self.server.move_resource_state(Request::new(request)).await)?;
        let diagnostics = told(response.diagnostics)?;
        let stub =
            self.object(response.target_state.as_ref(), response.target_private, response.target_identity.as_ref())?;
        let mut violations = self.made(&stub.value);
        if stub.value.is_null() {
            violations.push(Rule::Import.broken("the state that was taken over is null"));
        }
        Ok((stub, Failure::check(diagnostics, violations)?))
    }

    async fn import(self, id: &str, identity: &Cty) -> Result<(Object, Diagnostics), Failure> {
        let request = wire::Request {
            type_name: self.type_name(),
            id: id.to_owned(),
            client_capabilities: Some(CAPABILITIES),
            identity: self.encoded_identity(identity),
        };
        let response = answered(self.server.import_resource_state(Request::new(request)).await)?;
        let diagnostics = told(response.diagnostics)?;
        let [imported] = <[_; 1]>::try_from(response.imported_resources)
            .map_err(|all| Rule::Import.broken(format!("{} objects instead of one", all.len())))?;
        let stub = self.object(imported.state.as_ref(), imported.private, imported.identity.as_ref())?;
        let mut violations = self.made(&stub.value);
        if stub.value.is_null() || imported.type_name != self.type_name() {
            violations.push(Rule::Import.broken("the stub is null, or of another type"));
        }
        Ok((stub, Failure::check(diagnostics, violations)?))
    }
}
