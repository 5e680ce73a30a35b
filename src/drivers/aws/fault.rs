//! Makes one call to AWS and turns its failure into a [`Fault`].
//!
//! The only place that sees an `SdkError`. Decides by the error code and by how far the request got, never by the
//! text of a message and never by a bare HTTP status: an answer without a code is not an answer of the service.

use std::{error::Error, fmt::Display};

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_sts::operation::RequestId;
use aws_smithy_runtime_api::client::{orchestrator::HttpResponse, result::SdkError};
use aws_smithy_types::error::{metadata::ProvideErrorMetadata, operation::BuildError};
use converge::{Fault, FaultClass};
use futures::future::BoxFuture;

use super::{
    clients::address::Unanswered,
    codes::{self, Meaning},
};

/// Waits for a call that was sent, and says what failed: `action` as IAM names it, such as `eks:CreateNodegroup`,
/// and `object` in words.
///
/// ```text
/// call("iam:GetRole", role, iam.get_role().role_name(name).send()).await?
/// ```
pub(crate) fn call<'a, T, E>(
    action: &'static str,
    object: impl Display + Send + 'a,
    sent: impl Future<Output = Result<T, SdkError<E, HttpResponse>>> + Send + 'a,
) -> BoxFuture<'a, Result<T, Fault>>
where
    T: Send + 'a,
    E: ProvideErrorMetadata + Error + Send + Sync + 'static,
{
    // Boxed, for the SDK's futures are 20 KiB each and would add up through every caller.
    Box::pin(async move {
        let outcome = sent.await;
        tracing::debug!(action, object = %object, is_ok = outcome.is_ok(), "called AWS");
        outcome.map_err(|error| fault(action, &object.to_string(), Failed::from(error)))
    })
}

/// What a failed call left behind, without its type.
#[derive(Debug)]
struct Failed {
    stage: Stage,
    code: Option<String>,
    message: Option<String>,
    request_id: Option<String>,
    status: Option<u16>,
    source: Box<dyn Error + Send + Sync>,
}

/// How far the call got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The request could not be made.
    Unmade,
    /// There are no credentials to sign it with.
    Unsigned,
    /// There is no connection to send it over.
    Unconnected,
    /// It may have arrived.
    Sent,
    /// An answer came.
    Answered,
}

/// Absence told as `None`.
pub(crate) trait Absence<T> {
    /// `None` where the fault is that the object is not there.
    fn or_absent(self) -> Result<Option<T>, Fault>;
}

impl<T> Absence<T> for Result<T, Fault> {
    fn or_absent(self) -> Result<Option<T>, Fault> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(fault) if fault.class == FaultClass::NotFound => Ok(None),
            Err(fault) => Err(fault),
        }
    }
}

/// The fault of a failure told inside a successful answer, such as that of one object of many.
pub(crate) fn told(action: &'static str, object: &str, code: Option<&str>, message: Option<&str>) -> Fault {
    let message = message.unwrap_or("AWS gives no reason").to_owned();
    let class = class(action, Stage::Answered, code, None);
    let advice = code.and_then(|code| codes::advice(action, code)).map(str::to_owned);
    Fault { action: action.to_owned(), code: code.map(str::to_owned), advice, ..Fault::new(class, object, message) }
}

/// The fault of a request that lacks a part the SDK asks for: a bug of the driver.
pub(crate) fn unbuildable(error: BuildError) -> Fault {
    Fault { source: Some(error.into()), ..Fault::new(FaultClass::Bug, "", "a request to AWS is incomplete") }
}

// === impl Failed ===

impl<E> From<SdkError<E, HttpResponse>> for Failed
where
    E: ProvideErrorMetadata + Error + Send + Sync + 'static,
{
    fn from(error: SdkError<E, HttpResponse>) -> Self {
        let stage = match &error {
            SdkError::ServiceError(_) => Stage::Answered,
            _ if find::<CredentialsError>(&error).is_some() => Stage::Unsigned,
            SdkError::ConstructionFailure(_) => Stage::Unmade,
            SdkError::DispatchFailure(_) if is_connect(&error) => Stage::Unconnected,
            _ => Stage::Sent,
        };
        let meta = error.as_service_error().map(ProvideErrorMetadata::meta);
        let code = meta.and_then(|meta| meta.code()).filter(|code| !code.is_empty()).map(str::to_owned);
        let message = meta.and_then(|meta| meta.message()).filter(|text| !text.is_empty()).map(str::to_owned);
        let in_body = meta.and_then(RequestId::request_id);
        let request_id = in_body.or_else(|| error.request_id()).map(str::to_owned);
        let status = error.raw_response().map(|response| response.status().as_u16());
        Self { stage, code, message, request_id, status, source: Box::new(error) }
    }
}

fn fault(action: &'static str, object: &str, failed: Failed) -> Fault {
    let class = class(action, failed.stage, failed.code.as_deref(), failed.status);
    let advice = match failed.stage {
        Stage::Unsigned => Some(NO_CREDENTIALS),
        _ => failed.code.as_deref().and_then(|code| codes::advice(action, code)),
    };
    Fault {
        class,
        action: action.to_owned(),
        object: object.to_owned(),
        message: message(&failed),
        code: failed.code,
        request_id: failed.request_id,
        advice: advice.map(str::to_owned),
        at: None,
        source: Some(failed.source),
    }
}

const NO_CREDENTIALS: &str = "Give credentials: `profile` or `assume_role` in the provider block, the variables \
                              AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role of this machine. \
                              `aws sts get-caller-identity` shows what the AWS CLI finds.";

fn class(action: &str, stage: Stage, code: Option<&str>, status: Option<u16>) -> FaultClass {
    let failed = if is_read(action) { FaultClass::Unavailable } else { FaultClass::MaybeSent };
    match stage {
        Stage::Unmade => FaultClass::Invalid,
        Stage::Unsigned => FaultClass::Unauthenticated,
        Stage::Unconnected => FaultClass::Unreachable,
        Stage::Sent => failed,
        Stage::Answered => match code.map(|code| codes::meaning(action, code)) {
            Some(Some(Meaning::Class(class))) => class,
            Some(None) if status.is_none_or(|status| status < 500) => FaultClass::Invalid,
            // The service says that it failed; or there is no code, which is a gateway's page or an API that is not
            // there. Taking 404 as "gone" here would lose objects.
            Some(Some(Meaning::ServiceFailed) | None) | None => failed,
        },
    }
}

fn is_read(action: &str) -> bool {
    let verb = action.split_once(':').map_or(action, |(_, verb)| verb);
    ["Get", "List", "Describe", "Head"].iter().any(|read| verb.starts_with(read))
}

fn message(failed: &Failed) -> String {
    match (&failed.message, failed.stage, failed.status) {
        (Some(message), ..) => message.clone(),
        (None, Stage::Answered, Some(status)) if failed.code.is_none() => {
            let reason = chain(failed.source.as_ref());
            format!("the answer has HTTP status {status} and no error code ({reason})")
        }
        (None, Stage::Answered, _) => "AWS gives no reason".to_owned(),
        (None, ..) => match find::<Unanswered>(failed.source.as_ref()) {
            Some(unanswered) => chain(unanswered),
            None => chain(failed.source.as_ref()),
        },
    }
}

/// The texts of an error and of those beneath it, each once.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        if !texts.iter().any(|known| known.contains(&text)) {
            texts.push(text);
        }
        next = error.source();
    }
    texts.join(": ")
}

fn is_connect(error: &(dyn Error + 'static)) -> bool {
    find::<hyper_util::client::legacy::Error>(error).is_some_and(hyper_util::client::legacy::Error::is_connect)
}

fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use aws_sdk_sts::operation::get_caller_identity::GetCallerIdentityError;
    use aws_smithy_runtime_api::{client::result::ConnectorError, http::StatusCode};
    use aws_smithy_types::{body::SdkBody, error::ErrorMetadata};

    use super::*;

    type Sent = Result<(), SdkError<GetCallerIdentityError, HttpResponse>>;

    #[expect(clippy::result_large_err, reason = "as the SDK has it")]
    fn answer(status: u16, code: Option<&str>) -> Sent {
        let mut meta = ErrorMetadata::builder().message("the reason");
        if let Some(code) = code {
            meta = meta.code(code);
        }
        let mut response = HttpResponse::new(StatusCode::try_from(status).expect("a status"), SdkBody::empty());
        response.headers_mut().insert("x-amzn-requestid", "r-1");
        Err(SdkError::service_error(GetCallerIdentityError::generic(meta.build()), response))
    }

    async fn of(action: &'static str, sent: Sent) -> Fault {
        call(action, "object", async { sent }).await.expect_err("the call failed")
    }

    #[tokio::test]
    async fn a_fault_carries_all_that_the_answer_says() {
        let fault = of("iam:GetRole", answer(404, Some("NoSuchEntity"))).await;
        assert_eq!(fault.class, FaultClass::NotFound);
        assert_eq!((fault.action.as_str(), fault.object.as_str()), ("iam:GetRole", "object"));
        assert_eq!((fault.code.as_deref(), fault.request_id.as_deref()), (Some("NoSuchEntity"), Some("r-1")));
        assert_eq!(fault.to_string(), "iam:GetRole: NoSuchEntity: the reason");
        assert!(call("iam:GetRole", "object", async { answer(404, Some("NoSuchEntity")) }).await.or_absent().is_ok());
    }

    #[tokio::test]
    async fn an_answer_without_a_code_is_never_absence() {
        assert_eq!(of("eks:DescribeNodegroup", answer(404, None)).await.class, FaultClass::Unavailable);
        assert_eq!(of("eks:DescribeNodegroup", answer(500, None)).await.class, FaultClass::Unavailable);
        assert_eq!(of("eks:CreateNodegroup", answer(502, None)).await.class, FaultClass::MaybeSent);
    }

    #[tokio::test]
    async fn a_write_that_failed_inside_the_service_may_have_taken_effect() {
        assert_eq!(of("s3:PutBucketPolicy", answer(500, Some("InternalError"))).await.class, FaultClass::MaybeSent);
        assert_eq!(of("s3:GetBucketPolicy", answer(500, Some("InternalError"))).await.class, FaultClass::Unavailable);
        assert_eq!(of("s3:PutBucketPolicy", answer(500, Some("NewlyInvented"))).await.class, FaultClass::MaybeSent);
        assert_eq!(of("s3:PutBucketPolicy", answer(400, Some("MalformedPolicy"))).await.class, FaultClass::Invalid);
    }

    #[tokio::test]
    async fn a_lost_connection_may_have_carried_the_write() {
        let lost = || SdkError::dispatch_failure(ConnectorError::io("connection reset".into()));
        let fault = of("eks:CreateNodegroup", Err(lost())).await;
        assert_eq!(fault.class, FaultClass::MaybeSent);
        assert!(fault.message.contains("connection reset"), "{}", fault.message);
        assert_eq!(of("eks:DescribeNodegroup", Err(lost())).await.class, FaultClass::Unavailable);
        assert_eq!(of("eks:CreateNodegroup", Err(SdkError::timeout_error("late"))).await.class, FaultClass::MaybeSent);
    }

    #[tokio::test]
    async fn missing_credentials_come_with_advice() {
        let none = CredentialsError::not_loaded("no providers in chain provided credentials");
        let fault =
            of("s3:CreateBucket", Err(SdkError::dispatch_failure(ConnectorError::other(none.into(), None)))).await;
        assert_eq!(fault.class, FaultClass::Unauthenticated);
        assert!(fault.advice.is_some_and(|advice| advice.contains("AWS_ACCESS_KEY_ID")));
    }
}
