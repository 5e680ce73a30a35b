//! The account's quotas of EC2.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use converge::{Cx, Fault};

use super::{
    Aws,
    fault::{Absence, call},
};
use crate::drivers::gather::Gather;

/// One quota, as it is for this account in this region.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Quota {
    /// Its name in the console.
    pub(super) name: String,
    /// How much it allows.
    pub(super) value: f64,
}

/// Asks for quotas; what is asked for together is asked once.
pub(super) struct Quotas {
    aws: Arc<Aws>,
    of: Gather<Quota>,
}

// === impl Quotas ===

impl Quotas {
    pub(super) fn new(aws: Arc<Aws>) -> Self {
        Self { aws, of: Gather::new(1) }
    }

    /// The quota of this code; none where the account has none.
    pub(super) async fn get(&self, cx: &Cx, code: &str) -> Result<Option<Quota>, Fault> {
        let aws = Arc::clone(&self.aws);
        self.of.ask(cx, code, move |codes| read(Arc::clone(&aws), codes)).await
    }
}

async fn read(aws: Arc<Aws>, codes: BTreeSet<String>) -> Result<BTreeMap<String, Quota>, Fault> {
    let client = aws.servicequotas().await?;
    let mut found = BTreeMap::new();
    for code in codes {
        let sent = client.get_service_quota().service_code("ec2").quota_code(&code).send();
        let answer = call("servicequotas:GetServiceQuota", format!("EC2 quota {code}"), sent).await.or_absent()?;
        let quota = answer.and_then(|answer| answer.quota);
        let read =
            quota.and_then(|quota| Some(Quota { name: quota.quota_name.unwrap_or_default(), value: quota.value? }));
        found.extend(read.map(|quota| (code, quota)));
    }
    Ok(found)
}
