//! What can go wrong with one call, as a class that decides what happens next.
//!
//! Drivers classify by error code, never by message text or a bare HTTP status.

use std::{error::Error, fmt};

use crate::Place;

/// One failed call, or one thing found wrong.
#[derive(Debug)]
pub struct Fault {
    /// What decides about retries and advice.
    pub class: FaultClass,
    /// The API action, such as `eks:CreateNodegroup`; empty where no call was made.
    pub action: String,
    /// The object in words, such as `node group "gpu" of cluster "ml-prod"`.
    pub object: String,
    /// The API's code, such as `ResourceLimitExceeded`.
    pub code: Option<String>,
    /// The API's reason verbatim, or our own sentence.
    pub message: String,
    /// The API's request id.
    pub request_id: Option<String>,
    /// What to do, where the class's general advice is not enough. An imperative sentence.
    pub advice: Option<String>,
    /// The part of the object that it is about, where the API names it.
    pub at: Option<Place>,
    /// The error beneath.
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

/// The classes of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultClass {
    /// Too many calls; retried with backoff.
    Throttled,
    /// The service failed before it did anything (HTTP 5xx with a code that says so); retried.
    Unavailable,
    /// The call may have taken effect: time-out, connection lost after sending, an internal error of a write.
    /// Retried after a look at what is there.
    MaybeSent,
    /// Something made moments ago is not visible yet to another service. Retried, for two minutes after a write to
    /// a dependency in this run; believed at once otherwise.
    NotYetConsistent,
    /// The endpoint cannot be reached.
    Unreachable,
    /// The object is not there.
    NotFound,
    /// An object of that name is there already.
    AlreadyExists,
    /// It is there and carries no mark of ours, or another's.
    Foreign,
    /// Something else uses the object, or another change is running; retried until the deadline.
    Busy,
    /// Deleting would lose data and was not allowed.
    HoldsData,
    /// The credentials do not allow the action.
    Denied,
    /// No credentials, or expired or wrong ones.
    Unauthenticated,
    /// The API refused a value.
    Invalid,
    /// An account limit.
    Quota,
    /// The provider of hardware has none.
    Capacity,
    /// The object reached a state it does not leave by itself.
    Broken,
    /// The deadline passed while waiting.
    TimedOut,
    /// Terraform asked to stop.
    Cancelled,
    /// A fault of this provider.
    Bug,
}

// === impl Fault ===

impl Fault {
    /// A fault with a class, an object in words and a reason; fill in the rest by struct update.
    pub fn new(class: FaultClass, object: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            class,
            action: String::new(),
            object: object.into(),
            code: None,
            message: message.into(),
            request_id: None,
            advice: None,
            at: None,
            source: None,
        }
    }

    /// The same fault with advice of its own.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

impl FaultClass {
    /// Whether the same call may succeed when made again, without anybody doing anything.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::Throttled | Self::Unavailable | Self::MaybeSent | Self::NotYetConsistent | Self::Busy)
    }
}

// The source is not repeated: its text is in the message already, or comes after it in the chain.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.action.is_empty() {
            write!(f, "{}: ", self.action)?;
        }
        if let Some(code) = &self.code {
            write!(f, "{code}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}
