//! One way to answer every call: with diagnostics where it fails, and with what is known to be there all the same.
//!
//! A panic in an author's code ends one call, not the process: other calls may be in the middle of creating things.

use tonic::{Response, Status};
use tracing::Instrument as _;

use crate::{
    Diagnostic, Diagnostics,
    server::{conform::BUG, diagnostics::plain},
    wire::{
        Panic, catch_panic,
        proto::tfplugin6::{self as proto, Diagnostic as Told},
    },
};
use value::AttributePath;

/// What a generated method returns.
pub(super) type Answered<T> = Result<Response<T>, Status>;

/// What a call's work returns: the answer, or why there is none.
pub(super) type Outcome<T> = Result<T, Vec<Told>>;

/// An answer that has room for diagnostics.
pub(super) trait Answer: Default {
    /// Adds diagnostics.
    fn tell(&mut self, told: Vec<Told>);
}

/// Answers a call with what `work` gives; where it gives nothing, with the reasons.
pub(super) async fn answer<T: Answer>(
    rpc: &'static str,
    type_name: &str,
    work: impl Future<Output = Outcome<T>>,
) -> Answered<T> {
    answer_or(rpc, type_name, T::default(), work).await
}

/// As [`answer`]; where `work` gives nothing, with `otherwise` and the reasons.
pub(super) async fn answer_or<T: Answer>(
    rpc: &'static str,
    type_name: &str,
    mut otherwise: T,
    work: impl Future<Output = Outcome<T>>,
) -> Answered<T> {
    let span = tracing::debug_span!("rpc", rpc, type_name);
    let outcome = catch_panic(work.instrument(span.clone())).await;
    let _entered = span.enter();
    tracing::debug!("answered");
    Ok(Response::new(match outcome {
        Ok(Ok(answer)) => answer,
        Ok(Err(told)) => {
            otherwise.tell(told);
            otherwise
        }
        Err(panic) => {
            tracing::error!(%panic, "a panic was caught");
            otherwise.tell(plain(bug(rpc, type_name, &panic)));
            otherwise
        }
    }))
}

/// What to tell of a panic.
pub(super) fn bug(rpc: &str, type_name: &str, panic: &Panic) -> Diagnostics {
    let whose = if type_name.is_empty() { String::new() } else { format!(" of {type_name:?}") };
    let detail = format!("{rpc}{whose} ended with a panic: {panic}. This is a bug in the provider.");
    Diagnostic::error(&AttributePath::root(), BUG, detail)
        .advise(
            "Please report it to the provider's authors with this text. What was there before the call is kept in \
             the state; run `terraform plan` to see what is there now.",
        )
        .into()
}

macro_rules! answers {
    ($($rpc:ident)*) => {$(
        impl Answer for proto::$rpc::Response {
            fn tell(&mut self, told: Vec<Told>) {
                self.diagnostics.extend(told);
            }
        }
    )*};
}

answers! {
    get_metadata get_provider_schema get_resource_identity_schemas validate_provider_config
    validate_resource_config validate_data_resource_config upgrade_resource_state upgrade_resource_identity
    configure_provider read_resource plan_resource_change apply_resource_change import_resource_state
    move_resource_state read_data_source generate_resource_config validate_ephemeral_resource_config
    open_ephemeral_resource renew_ephemeral_resource close_ephemeral_resource validate_list_resource_config
    get_functions validate_action_config plan_action validate_state_store_config configure_state_store
    write_state_bytes lock_state unlock_state get_states delete_state
}

impl Answer for proto::call_function::Response {
    fn tell(&mut self, told: Vec<Told>) {
        let text = told.into_iter().map(|told| format!("{}: {}", told.summary, told.detail));
        let text = text.collect::<Vec<_>>().join("\n\n");
        self.error = Some(proto::FunctionError { text, function_argument: None });
    }
}
