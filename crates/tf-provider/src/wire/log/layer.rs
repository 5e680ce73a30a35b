//! From events and spans to lines: an event carries the fields of the spans it happened in.

use super::{clock::timestamp, line::Line};
use std::{fmt, time::SystemTime};
use tracing::{
    Event, Id, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Record},
};
use tracing_subscriber::{layer::Context, registry::LookupSpan};

/// A layer that gives each line to a function.
pub(crate) struct Hclog<W> {
    write: W,
}

impl<W: Fn(&str)> Hclog<W> {
    pub(crate) fn new(write: W) -> Self {
        Self { write }
    }
}

/// Fields as text, in the order they came. Kept in the extensions of each span.
#[derive(Debug, Default)]
struct Fields(Vec<(&'static str, String)>);

impl Fields {
    /// Adds to a line all but the message.
    fn push_to(&self, line: &mut Line) {
        for (key, value) in self.0.iter().filter(|(key, _)| *key != "message") {
            line.push(key, value);
        }
    }

    fn message(&self) -> &str {
        let mut fields = self.0.iter();
        let message = fields.find(|(key, _)| *key == "message");
        message.map_or("", |(_, value)| value)
    }

    fn set(&mut self, field: &Field, value: String) {
        self.0.retain(|(key, _)| *key != field.name());
        self.0.push((field.name(), value));
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value.to_owned());
    }
}

impl<S, W> tracing_subscriber::Layer<S> for Hclog<W>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: Fn(&str) + 'static,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            let mut fields = Fields::default();
            attributes.record(&mut fields);
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        let mut fields = Fields::default();
        event.record(&mut fields);

        let now = timestamp(SystemTime::now());
        let mut line = Line::new(*metadata.level(), metadata.target(), &now);
        line.push("@message", fields.message());
        for span in context.event_scope(event).into_iter().flatten() {
            if let Some(fields) = span.extensions().get::<Fields>() {
                fields.push_to(&mut line);
            }
        }
        fields.push_to(&mut line);
        (self.write)(&line.finish());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::sync::{Arc, Mutex};
    use tracing_subscriber::{Registry, layer::SubscriberExt as _};

    fn logged(work: impl FnOnce()) -> Value {
        let lines = Arc::new(Mutex::new(String::new()));
        let sink = Arc::clone(&lines);
        let write = move |line: &str| sink.lock().expect("not poisoned").push_str(line);
        let subscriber = Registry::default().with(Hclog::new(write));
        tracing::subscriber::with_default(subscriber, work);
        let lines = lines.lock().expect("not poisoned");
        serde_json::from_str(&lines).expect("one line of JSON")
    }

    #[test]
    fn every_value_is_a_string() {
        let line = logged(|| {
            tracing::warn!(count = 3, ratio = 0.5, ok = true, name = "pool", "text {}", 1);
        });

        let fields = line.as_object().expect("an object");
        assert!(fields.values().all(Value::is_string), "{line}");
        assert_eq!(line["@message"], "text 1");
        assert_eq!(line["@level"], "warn");
        assert_eq!(line["count"], "3");
        assert_eq!(line["name"], "pool");
    }

    #[test]
    fn an_event_carries_its_spans() {
        let line = logged(|| {
            let span = tracing::info_span!("call", rpc = "Read", object = tracing::field::Empty);
            span.record("object", "pool");
            span.in_scope(|| tracing::info!("done"));
        });

        assert_eq!(line["rpc"], "Read");
        assert_eq!(line["object"], "pool");
    }

    #[test]
    fn the_timestamp_has_the_shape_hosts_parse() {
        let line = logged(|| tracing::info!("now"));

        let stamp = line["@timestamp"].as_str().expect("a string");
        let shape: String = stamp.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        assert_eq!(shape, "0000-00-00T00:00:00.000000Z");
    }
}
