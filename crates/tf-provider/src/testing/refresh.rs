//! Reading what is there, before every plan as in a real run.

use crate::{
    Diagnostics,
    testing::{Core, Failure, target::Object},
};

impl Core {
    /// Reads an object again and saves what was found; takes it out of the state where it is gone.
    pub async fn refresh(&mut self, address: &str) -> Result<Diagnostics, Failure> {
        let Some((object, tainted, diagnostics)) = self.refreshed(address).await? else {
            return Err(Failure::misuse(format!("the state has no {address:?}")));
        };
        self.save(address, object, tainted)?;
        Ok(diagnostics)
    }

    /// What is at an address now, whether it is tainted, and what was told; `None` where the state has nothing.
    pub(super) async fn refreshed(&self, address: &str) -> Result<Option<(Object, bool, Diagnostics)>, Failure> {
        let Some((object, tainted)) = self.remembered(address).await? else {
            return Ok(None);
        };
        let (object, diagnostics) = self.target(address)?.read(&object).await?;
        Ok(Some((object, tainted, diagnostics)))
    }

    /// What a plan begins with: what is there now, or where plans do not refresh, what the state says.
    pub(super) async fn prior(&self, address: &str) -> Result<Option<(Object, bool, Diagnostics)>, Failure> {
        if self.refreshes {
            return self.refreshed(address).await;
        }
        let remembered = self.remembered(address).await?;
        Ok(remembered.map(|(object, tainted)| (object, tainted, Diagnostics::new())))
    }

    async fn remembered(&self, address: &str) -> Result<Option<(Object, bool)>, Failure> {
        let target = self.target(address)?;
        let Some(instance) = self.state.get(address) else {
            return Ok(None);
        };
        let value = target.upgrade(instance.version, instance.stored.clone()).await?;
        let object = Object { value, private: instance.private.clone(), identity: instance.identity.clone() };
        Ok(Some((object, instance.tainted)))
    }
}

/// Nothing at all, for a target that has nothing yet.
pub(super) fn or_nothing(found: Option<(Object, bool, Diagnostics)>) -> (Object, bool, Diagnostics) {
    found.unwrap_or_else(|| (Object::nothing(), false, Diagnostics::new()))
}

/// An object to be planned from: a tainted one is planned as if it were not there.
pub(super) fn planned_from(object: &Object, tainted: bool) -> Object {
    if tainted || object.value.is_null() { Object::nothing() } else { object.clone() }
}
