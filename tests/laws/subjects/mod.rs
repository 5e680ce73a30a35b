//! The resources under test, and what of them no schema tells.

use serde_json::{Value as Json, json};
use tf_provider::{Attribute, Nesting, Provider as _, Schema, Shape};

use crate::json::{Place, config, configs, place, with};

// One file each.
macro_rules! subjects {
    ($($name:ident),+) => {
        $(pub(crate) mod $name;)+

        /// All of them.
        pub(crate) const SUBJECTS: &[Subject] = &[$($name::SUBJECT),+];

        /// Holds every resource to a law, each in a test of its own.
        macro_rules! every_resource_obeys {
            ($law:ident) => {
                mod $law {
                    $(
                        #[tokio::test]
                        async fn $name() -> crate::world::Held {
                            super::$law(&crate::subjects::$name::SUBJECT).await
                        }
                    )+
                }
            };
        }
        pub(crate) use every_resource_obeys;
    };
}

subjects!(gpu_pool, inference_service, model_bucket, queue, shared_filesystem, tenant);

/// A resource.
pub(crate) struct Subject {
    /// Its type.
    pub(crate) resource: &'static str,
    /// Every attribute that can be set, each changed once.
    pub(crate) changes: fn() -> Vec<Change>,
    /// Attributes that this version refuses, or takes one value of.
    pub(crate) unsupported: &'static [&'static str],
    /// Fields of child objects whose drift shows in an attribute.
    pub(crate) mirrors: &'static [Mirror],
    /// What beside the name makes the typical configuration one that can be had twice.
    pub(crate) twin: fn() -> Vec<(&'static str, Json)>,
}

/// A field of a child object that an attribute tells: component, field, the value that it drifts to, attribute.
pub(crate) type Mirror = (&'static str, &'static str, fn(&Json) -> Json, &'static str);

/// A change of one attribute of a configuration.
pub(crate) struct Change {
    /// The configuration it is a change of.
    pub(crate) of: &'static str,
    pub(crate) attribute: &'static str,
    pub(crate) to: Json,
    /// What has to change along with it.
    pub(crate) along: Vec<(&'static str, Json)>,
    pub(crate) effect: Effect,
    /// Whether the sweep of faults goes through it too, there and back.
    pub(crate) is_swept: bool,
}

/// What a change does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Objects are changed.
    InPlace,
    /// An object is made beside the old one and takes its place.
    Rolls,
    /// The whole resource is replaced.
    Replaces,
    /// Only the state changes.
    StateOnly,
}

fn change(of: &'static str, effect: Effect, attribute: &'static str, to: Json) -> Change {
    Change { of, attribute, to, along: Vec::new(), effect, is_swept: false }
}

/// What changing the times allowed does: nothing but that.
fn timeouts(of: &'static str) -> Vec<Change> {
    ["timeouts.create", "timeouts.update", "timeouts.delete"]
        .map(|attribute| change(of, Effect::StateOnly, attribute, json!("46m")))
        .into()
}

/// An attribute that can be set, somewhere in a schema.
pub(crate) struct Input {
    pub(crate) place: Place,
    pub(crate) attribute: Attribute,
    /// Its own description and those of the attributes around it.
    pub(crate) descriptions: String,
    /// Within a collection.
    pub(crate) is_element: bool,
}

// === impl Subject ===

impl Subject {
    /// Its configurations, by name.
    pub(crate) fn configs(&self) -> Vec<(String, Json)> {
        configs(self.resource)
    }

    pub(crate) fn address(&self) -> String {
        format!("{}.law", self.resource)
    }

    pub(crate) fn schema(&self) -> Schema {
        let resources = mlplat::provider::Provider::new().resources();
        let found = resources.iter().find(|resource| resource.type_name() == self.resource);
        found.unwrap_or_else(|| panic!("the provider has no {}", self.resource)).schema()
    }

    /// The attributes that can be set and have no attributes of their own, and collections.
    pub(crate) fn inputs(&self) -> Vec<Input> {
        let block = self.schema().block;
        let mut inputs = Vec::new();
        gather(&block.attributes, &Vec::new(), "", false, &mut inputs);
        for nested in &block.blocks {
            gather(&nested.block.attributes, &place(&nested.name), "", false, &mut inputs);
        }
        inputs
    }
}

// === impl Change ===

impl Change {
    pub(crate) fn place(&self) -> Place {
        place(self.attribute)
    }

    fn swept(self) -> Self {
        Self { is_swept: true, ..self }
    }

    /// The configurations before and after it.
    pub(crate) fn both(&self, subject: &Subject) -> (Json, Json) {
        let before = config(subject.resource, self.of);
        let along = self.along.iter().map(|(at, value)| (place(at), value));
        let after = along.chain([(self.place(), &self.to)]);
        (before.clone(), after.fold(before, |config, (at, value)| with(&config, &at, value.clone())))
    }
}

fn gather(attributes: &[Attribute], at: &Place, around: &str, is_element: bool, inputs: &mut Vec<Input>) {
    for attribute in attributes.iter().filter(|attribute| attribute.required || attribute.optional) {
        let place: Place = at.iter().cloned().chain([attribute.name.clone()]).collect();
        let descriptions = format!("{around} {}", attribute.description.replace('\n', " "));
        let inner = match &attribute.shape {
            Shape::Nested(nesting, inner) => Some((*nesting == Nesting::Single, inner)),
            Shape::Plain(_) => None,
        };
        match inner {
            Some((true, inner)) => gather(inner, &place, &descriptions, is_element, inputs),
            _ => inputs.push(Input { place, attribute: attribute.clone(), descriptions, is_element }),
        }
    }
}
