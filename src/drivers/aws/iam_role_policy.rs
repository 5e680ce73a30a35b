//! Inline policies of IAM roles.

use std::sync::Arc;

use converge::{Changes, Creation, Cx, Driver, Fault, Observed, Ownership, Readiness};

use super::{
    Aws,
    fault::{Absence, call},
    iam_role::policy_json,
};
use crate::components::aws::{IamRolePolicy, policy::as_spelled};

pub(super) struct IamRolePolicyDriver(pub(super) Arc<Aws>);

impl Driver<IamRolePolicy> for IamRolePolicyDriver {
    const ACTIONS: &'static [&'static str] = &["iam:DeleteRolePolicy", "iam:GetRolePolicy", "iam:PutRolePolicy"];

    async fn observe(&self, _cx: &Cx, spec: &IamRolePolicy) -> Result<Option<Observed<IamRolePolicy>>, Fault> {
        let request = self.0.iam().await?.get_role_policy().role_name(&spec.role).policy_name(&spec.name);
        // Where the role is gone, its policies are.
        let Some(found) = call("iam:GetRolePolicy", words(spec), request.send()).await.or_absent()? else {
            return Ok(None);
        };
        let document = as_spelled(policy_json(&found.policy_document), &spec.document);
        Ok(Some(Observed {
            spec: IamRolePolicy { document, ..spec.clone() },
            outputs: (),
            ownership: Ownership::Inherited,
            readiness: Readiness::Ready,
        }))
    }

    async fn create(
        &self,
        _cx: &Cx,
        spec: &IamRolePolicy,
        _creation: &Creation<'_, IamRolePolicy>,
    ) -> Result<(), Fault> {
        self.put(spec).await
    }

    async fn update(&self, _cx: &Cx, spec: &IamRolePolicy, _changes: &Changes<'_, IamRolePolicy>) -> Result<(), Fault> {
        self.put(spec).await
    }

    async fn delete(&self, _cx: &Cx, spec: &IamRolePolicy, _found: &Observed<IamRolePolicy>) -> Result<(), Fault> {
        let request = self.0.iam().await?.delete_role_policy().role_name(&spec.role).policy_name(&spec.name);
        call("iam:DeleteRolePolicy", words(spec), request.send()).await.or_absent().map(drop)
    }
}

impl IamRolePolicyDriver {
    async fn put(&self, spec: &IamRolePolicy) -> Result<(), Fault> {
        let request = self.0.iam().await?.put_role_policy().role_name(&spec.role).policy_name(&spec.name);
        let sent = request.policy_document(spec.document.to_string()).send();
        call("iam:PutRolePolicy", words(spec), sent).await.map(drop)
    }
}

fn words(spec: &IamRolePolicy) -> String {
    format!("policy {:?} of IAM role {:?}", spec.name, spec.role)
}
