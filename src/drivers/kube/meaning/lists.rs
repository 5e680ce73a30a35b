//! What tells the elements of a list apart, and which parts of an object mean something else when somebody adds to
//! them. Facts of the Kubernetes APIs, as tables.

use serde_json::Value as Json;

/// A place in a manifest, as a path from the inside out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    /// The object's kind.
    pub(super) kind: &'a str,
    /// The field's name; [`ELEMENT`] for a list's element, empty for the whole.
    pub(super) name: &'a str,
    pub(super) parent: Option<&'a Place<'a>>,
}

/// The name of a list's element.
pub(super) const ELEMENT: &str = "[]";

/// How the elements of two lists find each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// Order counts.
    Position,
    /// Scalars, or objects that are told apart by all that they say.
    Whole,
    /// The fields that tell objects apart.
    Keys(&'static [&'static str]),
    /// A metric's type and name.
    Metric,
}

/// How a list is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListRule {
    pub(super) by: By,
    /// What somebody else adds counts as a difference.
    pub(super) is_closed: bool,
}

const OPEN_BY_NAME: [&str; 8] = [
    "containers",
    "initContainers",
    "ephemeralContainers",
    "env",
    "volumes",
    "imagePullSecrets",
    "resourceClaims",
    "schedulingGates",
];
const SETS: [&str; 7] =
    ["validationActions", "policyTypes", "accessModes", "scopes", "finalizers", "tolerations", "mountOptions"];
/// Kinds of which every word narrows or widens what is allowed.
const CLOSED_KINDS: [&str; 5] = [
    "NetworkPolicy",
    // Another label, and it is of fewer nodes.
    "ResourceFlavor",
    "RoleBinding",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
];
/// Fields that are ours whether or not anything is said: without one the queue is on its own, pods are replaced when
/// something changes, and a budget has no second number, beside which the server takes none of ours.
const OURS_WHEN_ABSENT: [(&str, &[&str]); 3] = [
    ("ClusterQueue", &["borrowWithinCohort", "borrowingLimit", "cohort", "cohortName", "lendingLimit"]),
    ("Deployment", &["paused"]),
    ("PodDisruptionBudget", &["minAvailable"]),
];
/// Objects that may be sent empty without meaning "all" or "nothing".
const OPEN_WHEN_EMPTY: [&str; 9] =
    ["annotations", "data", "labels", "metadata", "resources", "securityContext", "spec", "strategy", "template"];
/// Objects of which one field alone may be set beside those that all have: how a variable gets its value, where a
/// volume comes from, how a probe asks. Elements of a list are meant by the list's name.
const UNIONS: [&str; 9] = [
    "env",
    "livenessProbe",
    "postStart",
    "preStop",
    "readinessProbe",
    "startupProbe",
    "strategy",
    "valueFrom",
    "volumes",
];
const QUANTITIES: [&str; 6] =
    ["averageValue", "borrowingLimit", "divisor", "lendingLimit", "nominalQuota", "sizeLimit"];
const MAPS_OF_QUANTITIES: [&str; 10] = [
    "capacity",
    "default",
    "defaultRequest",
    "hard",
    "limits",
    "max",
    "maxLimitRequestRatio",
    "min",
    "overhead",
    "requests",
];
const DURATIONS: [&str; 4] = ["interval", "refreshInterval", "scrapeTimeout", "timeout"];
/// What a server writes where nothing is said, and drops where it is said.
const DEFAULTS: [(&str, &str); 6] = [
    ("apiGroup", "rbac.authorization.k8s.io"),
    ("failurePolicy", "Fail"),
    ("matchPolicy", "Equivalent"),
    ("protocol", "TCP"),
    ("scope", "*"),
    ("stopPolicy", "None"),
];
/// Kueue renamed the values when it went to v1beta2: field, old words, new word.
const RENAMED: [(&str, &[&str], &str); 2] =
    [("whenCanBorrow", &["Borrow"], "MayStopSearch"), ("whenCanPreempt", &["Preempt"], "MayStopSearch")];

// === impl Place ===

impl<'a> Place<'a> {
    pub(super) fn root(kind: &'a str) -> Self {
        Self { kind, name: "", parent: None }
    }

    pub(super) fn at<'b>(&'b self, name: &'b str) -> Place<'b> {
        Place { kind: self.kind, name, parent: Some(self) }
    }

    fn parent_name(&self) -> &'a str {
        self.parent.map_or("", |parent| parent.name)
    }

    fn is_within(&self, test: impl Fn(&str) -> bool + Copy) -> bool {
        test(self.name) || self.parent.is_some_and(|parent| parent.is_within(test))
    }

    pub(super) fn list_rule(&self) -> ListRule {
        let open = |by| ListRule { by, is_closed: false };
        let closed = |by| ListRule { by, is_closed: true };
        match (self.kind, self.name) {
            ("Service", "ports") => closed(By::Keys(&["port", "protocol"])),
            (_, "ports") if self.is_within(|name| OPEN_BY_NAME.contains(&name)) => {
                open(By::Keys(&["containerPort", "protocol"]))
            }
            ("HorizontalPodAutoscaler", "metrics") => closed(By::Metric),
            ("ClusterQueue", "resources") => closed(By::Keys(&["name"])),
            (_, "subjects") => closed(By::Keys(&["kind", "namespace", "name"])),
            (_, "volumeMounts") => open(By::Keys(&["mountPath"])),
            (_, "volumeDevices") => open(By::Keys(&["devicePath"])),
            (_, "topologySpreadConstraints") => open(By::Keys(&["topologyKey", "whenUnsatisfiable"])),
            (_, "hostAliases") => open(By::Keys(&["ip"])),
            (_, name) if OPEN_BY_NAME.contains(&name) => open(By::Keys(&["name"])),
            (_, name) if SETS.contains(&name) => closed(By::Whole),
            _ => closed(By::Position),
        }
    }

    /// Whether what somebody adds to this object changes what it means: a selector selects less.
    pub(super) fn is_closed(&self) -> bool {
        CLOSED_KINDS.contains(&self.kind) || self.is_within(is_selector)
    }

    /// Whether this field counts although we say nothing of it.
    pub(super) fn is_ours_when_absent(&self) -> bool {
        OURS_WHEN_ABSENT.iter().any(|(kind, fields)| *kind == self.kind && fields.contains(&self.name))
    }

    /// Whether an empty object here leaves the rest to others, instead of saying "all" or "nothing".
    pub(super) fn is_open_when_empty(&self) -> bool {
        self.parent.is_none() || OPEN_WHEN_EMPTY.contains(&self.name)
    }

    /// Whether an empty object and none differ here.
    pub(super) fn has_meaning_when_empty(&self) -> bool {
        is_selector(self.name) || matches!(self.name, "emptyDir" | ELEMENT)
    }

    /// Whether only one of the object's fields may be set, so that what somebody else set keeps ours out.
    pub(super) fn is_union(&self) -> bool {
        let name = if self.name == ELEMENT { self.parent_name() } else { self.name };
        UNIONS.contains(&name)
    }

    /// Of this list, a field beside the keys that no two elements may share.
    pub(super) fn unique(&self) -> Option<&'static str> {
        (self.name == "ports").then_some("name")
    }

    pub(super) fn is_quantity(&self) -> bool {
        QUANTITIES.contains(&self.name)
            || MAPS_OF_QUANTITIES.contains(&self.parent_name())
            || (self.name == "value" && self.parent_name() == "target")
    }

    pub(super) fn is_duration(&self) -> bool {
        DURATIONS.contains(&self.name)
    }

    pub(super) fn is_default(&self, value: &Json) -> bool {
        // Derived by the server from the rules that are there.
        self.name == "policyTypes"
            || value.as_str().is_some_and(|text| DEFAULTS.contains(&(self.name, text)))
            || (self.name == "borrowWithinCohort" && value.get("policy").is_some_and(|policy| policy == "Never"))
            || (value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(serde_json::Map::is_empty))
    }

    /// A word in its newest form.
    pub(super) fn newest<'t>(&self, text: &'t str) -> &'t str {
        let renamed = RENAMED.iter().find(|(field, old, _)| *field == self.name && old.contains(&text));
        renamed.map_or(text, |(_, _, new)| new)
    }
}

/// What tells an element apart from the others of its list.
pub(super) fn identity(by: By, element: &Json) -> String {
    match by {
        By::Position => String::new(),
        By::Whole => element.to_string(),
        By::Keys(keys) => keys.iter().map(|key| key_of(element, key)).collect::<Vec<_>>().join("\n"),
        By::Metric => {
            let kind = text(element, "type");
            let section = kind.split_at_checked(1).map(|(first, rest)| format!("{}{rest}", first.to_lowercase()));
            let about = section.and_then(|section| element.get(section)).unwrap_or(&Json::Null);
            let metric = about.get("metric").unwrap_or(about);
            let described = about.get("describedObject").unwrap_or(&Json::Null);
            [kind, text(metric, "name"), text(about, "container"), text(described, "name")].join("\n")
        }
    }
}

fn key_of(element: &Json, key: &str) -> String {
    match (element.get(key), key) {
        (None | Some(Json::Null), "protocol") => "TCP".to_owned(),
        (None | Some(Json::Null), "whenUnsatisfiable") => "DoNotSchedule".to_owned(),
        (None | Some(Json::Null), _) => String::new(),
        (Some(Json::String(text)), _) => text.clone(),
        (Some(other), _) => other.to_string(),
    }
}

fn text(json: &Json, field: &str) -> String {
    json.get(field).and_then(Json::as_str).unwrap_or_default().to_owned()
}

fn is_selector(name: &str) -> bool {
    name.ends_with("elector")
}
