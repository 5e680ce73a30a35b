//! What a service is scaled by: one of a few words, or a metric by name. Two types in one attribute, so its type is
//! told with each value.

use std::collections::BTreeMap;

use tf_provider::{AttributeType, Cty, Decoder, Shape, Type};
use value::{AttributePath, Value};

/// What a service is scaled by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Requests that wait for a place in the batch.
    QueueDepth,
    /// The part of the cache of keys and values that is in use.
    KvCache,
    /// The part of the time that the GPU is busy.
    GpuUtilization,
    /// A metric by name.
    Metric {
        /// The metric's name.
        name: String,
        /// Where it is measured.
        scope: Scope,
    },
}

/// Where a metric is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// On each pod of the service.
    Pods,
    /// Somewhere else, such as a queue.
    External,
}

const ADVICE: &str = "Write \"queue_depth\", \"kv_cache\", \"gpu_utilization\", { metric = \"…\" }, or \
                      { metric = \"…\", scope = \"external\" } for one that no pod of the service has.";

// === impl Signal ===

impl AttributeType for Signal {
    fn shape() -> Shape {
        Shape::Plain(Type::Dynamic)
    }

    fn decode(cty: &Cty, path: &AttributePath, decoder: &mut Decoder) -> Value<Self> {
        if !cty.is_wholly_known() {
            return Value::pending(value::Pending::Config);
        }
        let signal = match cty {
            Cty::String(word) => Self::from_word(word),
            Cty::Object(parts) | Cty::Map(parts) => Self::from_parts(parts),
            _ => None,
        };
        if signal.is_none() {
            let told = match cty {
                Cty::String(word) => format!("is {word:?}, which no service can be scaled by."),
                _ => "is neither a word that is known nor a metric by its name.".to_owned(),
            };
            decoder.complain(path, &told, ADVICE);
        }
        Value::from(signal)
    }

    fn encode(&self) -> Cty {
        let word = |word: &str| (Type::String, Cty::from(word));
        let (ty, value) = match self {
            Self::QueueDepth => word("queue_depth"),
            Self::KvCache => word("kv_cache"),
            Self::GpuUtilization => word("gpu_utilization"),
            Self::Metric { name, scope } => {
                let mut parts = BTreeMap::from([("metric".to_owned(), Cty::from(name.as_str()))]);
                if *scope == Scope::External {
                    parts.insert("scope".to_owned(), Cty::from("external"));
                }
                (Type::Object(parts.keys().map(|name| (name.clone(), Type::String)).collect()), Cty::Object(parts))
            }
        };
        Cty::Dynamic(Box::new(ty), Box::new(value))
    }
}

impl Signal {
    fn from_word(word: &str) -> Option<Self> {
        match word {
            "queue_depth" => Some(Self::QueueDepth),
            "kv_cache" => Some(Self::KvCache),
            "gpu_utilization" => Some(Self::GpuUtilization),
            _ => None,
        }
    }

    fn from_parts(parts: &BTreeMap<String, Cty>) -> Option<Self> {
        let text = |name: &str| parts.get(name).and_then(Cty::as_str);
        // It becomes a part of a query and of a path: a name, not a query of its own.
        let is_name =
            |name: &&str| !name.is_empty() && !name.contains([' ', '\t', '\n', '{', '}', '(', ')', '[', ']', '"']);
        let name = text("metric").filter(is_name)?.to_owned();
        let scope = match text("scope") {
            None | Some("pods") => Scope::Pods,
            Some("external") => Scope::External,
            Some(_) => return None,
        };
        let is_known = parts.keys().all(|name| ["metric", "scope"].contains(&name.as_str()));
        is_known.then_some(Self::Metric { name, scope })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(cty: &Cty) -> (Value<Signal>, usize) {
        let mut decoder = Decoder::default();
        let value = tf_provider::decode(cty, &AttributePath::new("signal"), &mut decoder);
        (value, decoder.diagnostics.iter().count())
    }

    #[test]
    fn a_signal_is_a_word_or_a_metric_and_is_written_as_it_was_read() {
        let metric = |scope| Signal::Metric { name: "sqs_depth".to_owned(), scope };
        for signal in
            [Signal::QueueDepth, Signal::KvCache, Signal::GpuUtilization, metric(Scope::Pods), metric(Scope::External)]
        {
            assert_eq!(read(&signal.encode()), (Value::known(signal), 0));
        }
    }

    #[test]
    fn anything_else_is_complained_of_and_the_unknown_is_not() {
        let object = |name: &str, value: &str| Cty::object([(name.to_owned(), Cty::from(value))]);
        for wrong in [
            Cty::from("queue"),
            Cty::Bool(true),
            object("query", "x"),
            object("metric", ""),
            object("metric", "a{b=\"c\"}"),
        ] {
            assert_eq!(read(&wrong).1, 1, "{wrong:?}");
        }
        let unknown = Cty::object([("metric", Cty::unknown())]);
        assert!(matches!(read(&unknown), (value, 0) if value.is_pending()));
    }
}
