//! What goes wrong, and when: a rule picks calls and says what becomes of them.

use super::call::Call;
use serde_json::Value;
use std::{ops::RangeInclusive, time::Duration};

/// One rule. Begin with [`Rule::on`], narrow it down, end with what happens.
#[derive(Clone, Debug)]
pub struct Rule {
    pub(super) pattern: String,
    pub(super) writes_only: bool,
    pub(super) contains: Option<String>,
    pub(super) which: RangeInclusive<u64>,
    pub(super) fault: Fault,
    pub(super) seen: u64,
    pub(super) hits: u64,
}

/// What becomes of a call.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// Forwarded as if there were no rule; the hit is counted.
    Pass,
    Internal,
    Throttle,
    Denied,
    Error {
        status: u16,
        code: String,
        message: String,
    },
    DropBefore,
    DropAfter,
    Truncate,
    Hang,
    Delay(Duration),
    Respond {
        status: u16,
        kind: &'static str,
        body: String,
    },
    PatchJson(Vec<(String, Value)>),
    KillBefore,
    KillAfter,
}

impl Fault {
    pub(super) fn label(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Internal => "500",
            Self::Throttle => "throttle",
            Self::Denied => "denied",
            Self::Error { .. } => "error",
            Self::DropBefore => "dropped before",
            Self::DropAfter => "dropped after",
            Self::Truncate => "truncated",
            Self::Hang => "hang",
            Self::Delay(_) => "delayed",
            Self::Respond { .. } => "stub",
            Self::PatchJson(_) => "patched",
            Self::KillBefore => "killed before",
            Self::KillAfter => "killed after",
        }
    }
}

impl Rule {
    /// Calls named like this; `*` stands for anything: "eks.CreateNodegroup", "s3.PutBucket*", "*".
    pub fn on(pattern: &str) -> Self {
        Self {
            pattern: pattern.to_owned(),
            writes_only: false,
            contains: None,
            which: 1..=u64::MAX,
            fault: Fault::Pass,
            seen: 0,
            hits: 0,
        }
    }

    /// Every call.
    pub fn any() -> Self {
        Self::on("*")
    }

    /// Every call that changes something.
    pub fn writes() -> Self {
        Self { writes_only: true, ..Self::on("*") }
    }

    /// Only calls with this text in method, path, query or body: picks one resource by name.
    #[must_use]
    pub fn containing(self, text: &str) -> Self {
        Self { contains: Some(text.to_owned()), ..self }
    }

    /// Only the n-th of the matching calls, counted from 1.
    #[must_use]
    pub fn nth(self, n: u64) -> Self {
        self.between(n..=n)
    }

    /// The n-th matching call and all after it: what retries do not ride over.
    #[must_use]
    pub fn from_nth(self, n: u64) -> Self {
        self.between(n..=u64::MAX)
    }

    /// The first n matching calls.
    #[must_use]
    pub fn first(self, n: u64) -> Self {
        self.between(1..=n)
    }

    /// Only these of the matching calls, counted from 1.
    #[must_use]
    pub fn between(self, which: RangeInclusive<u64>) -> Self {
        Self { which, ..self }
    }

    /// The service fails: status 500 with its code for that.
    #[must_use]
    pub fn internal_error(self) -> Self {
        self.with(Fault::Internal)
    }

    /// The service throttles, with its own status and code.
    #[must_use]
    pub fn throttle(self) -> Self {
        self.with(Fault::Throttle)
    }

    /// The service refuses for want of permission.
    #[must_use]
    pub fn access_denied(self) -> Self {
        self.with(Fault::Denied)
    }

    /// An error of this status, code and message, in the service's shape.
    #[must_use]
    pub fn error(self, status: u16, code: &str, message: &str) -> Self {
        self.with(Fault::Error { status, code: code.to_owned(), message: message.to_owned() })
    }

    /// The connection closes and AWS never saw the call.
    #[must_use]
    pub fn drop_before(self) -> Self {
        self.with(Fault::DropBefore)
    }

    /// AWS did it, and the connection closes before the answer.
    #[must_use]
    pub fn drop_after(self) -> Self {
        self.with(Fault::DropAfter)
    }

    /// AWS did it, and the answer breaks off half-way.
    #[must_use]
    pub fn truncate(self) -> Self {
        self.with(Fault::Truncate)
    }

    /// No answer, ever.
    #[must_use]
    pub fn hang(self) -> Self {
        self.with(Fault::Hang)
    }

    /// The call is held back first.
    #[must_use]
    pub fn delay(self, by: Duration) -> Self {
        self.with(Fault::Delay(by))
    }

    /// Answered by this JSON instead of AWS.
    #[must_use]
    pub fn respond_json(self, status: u16, body: &Value) -> Self {
        self.with(Fault::Respond { status, kind: "application/x-amz-json-1.1", body: body.to_string() })
    }

    /// Answered by this XML instead of AWS.
    #[must_use]
    pub fn respond_xml(self, status: u16, body: &str) -> Self {
        self.with(Fault::Respond { status, kind: "text/xml", body: body.to_owned() })
    }

    /// AWS's JSON answer with one value replaced, as in `("nodegroup.status", "CREATING")`; can be repeated.
    #[must_use]
    pub fn patch_json(self, path: &str, value: impl Into<Value>) -> Self {
        let mut patches = match self.fault {
            Fault::PatchJson(ref patches) => patches.clone(),
            _ => Vec::new(),
        };
        patches.push((path.to_owned(), value.into()));
        self.with(Fault::PatchJson(patches))
    }

    /// The calling provider is killed (SIGKILL) and AWS never saw the call. Linux only.
    #[must_use]
    pub fn kill_before(self) -> Self {
        self.with(Fault::KillBefore)
    }

    /// AWS did it, and the calling provider is killed before it hears of it. Linux only.
    #[must_use]
    pub fn kill_after(self) -> Self {
        self.with(Fault::KillAfter)
    }

    fn with(self, fault: Fault) -> Self {
        Self { fault, ..self }
    }

    /// Count a call if it matches, and say whether the rule fires.
    pub(super) fn fires(&mut self, call: &Call) -> bool {
        if !self.matches(call) {
            return false;
        }
        self.seen += 1;
        self.which.contains(&self.seen)
    }

    fn matches(&self, call: &Call) -> bool {
        let text = || format!("{} {}\n{}", call.method, call.target, call.body);
        (call.write || !self.writes_only)
            && glob(&self.pattern, &call.name())
            && self.contains.as_ref().is_none_or(|wanted| text().contains(wanted.as_str()))
    }
}

/// Whether a name fits a pattern in which `*` stands for any text.
pub(super) fn glob(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(rest) = name.strip_prefix(before) else {
        return false;
    };
    (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| glob(after, &rest[at..]))
}

#[cfg(test)]
mod tests {
    use super::glob;

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(glob("*", "s3.GetObject"));
        assert!(glob("s3.PutBucket*", "s3.PutBucketPolicy"));
        assert!(glob("*.Describe*group", "eks.DescribeNodegroup"));
        assert!(!glob("s3.Put*", "s3.GetObject"));
        assert!(!glob("s3.Put", "s3.PutObject"));
    }
}
