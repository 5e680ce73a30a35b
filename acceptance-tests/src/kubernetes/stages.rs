//! How pods behave: kwok's stages, and a policy that hands a namespace's script on to the pods made in it.
//!
//! The policy works in the API server, so that nothing which the provider wrote has to carry a test's annotations.

use super::{client::Client, processes::Processes};
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;

const STAGES: &str = include_str!("../../kubernetes/stages.yaml");
const PLAY: &str = "mlplat.test/play";
const READY_AFTER: &str = "mlplat.test/ready-after";
const RUNS_FOR: &str = "mlplat.test/runs-for";
const MESSAGE: &str = "mlplat.test/message";

/// How the pods of a namespace behave, once they are on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Script {
    /// Ready at once; the pod of a Job completes at once.
    Ready,
    /// Ready after this long, as a model that loads.
    ReadyAfter(Duration),
    /// The pod of a Job runs this long before it completes.
    RunsFor(Duration),
    /// The image is not there: ErrImagePull, then ImagePullBackOff. So is any image whose tag begins with "missing".
    ImagePullFailure,
    /// Killed for want of memory again and again: OOMKilled, CrashLoopBackOff.
    OutOfMemory,
    /// Ends with status 1 and these last words, which are its log as well, again and again: CrashLoopBackOff.
    Crash(String),
}

impl Script {
    /// The annotations for a pod or, by [`super::ControlPlane::play`], for a namespace.
    pub fn annotations(&self) -> Value {
        let (mut ready_after, mut runs_for, mut message) = (Duration::ZERO, Duration::ZERO, "");
        let play = match self {
            Self::Ready => "ready",
            Self::ReadyAfter(time) => {
                ready_after = *time;
                "ready"
            }
            Self::RunsFor(time) => {
                runs_for = *time;
                "ready"
            }
            Self::ImagePullFailure => "image-pull",
            Self::OutOfMemory => "oom",
            Self::Crash(words) => {
                message = words;
                "crash"
            }
        };
        let millis = |time: Duration| format!("{}ms", time.as_millis());
        // All of them each time: a new script leaves nothing of the last one.
        json!({PLAY: play, READY_AFTER: millis(ready_after), RUNS_FOR: millis(runs_for), MESSAGE: message})
    }
}

/// Write kwok's configuration.
pub(super) fn write(processes: &Processes) -> Result<String> {
    processes.write("stages.yaml", STAGES)
}

/// Let pods take over the annotations of [`Script`] that their namespace has.
pub(super) fn install_namespace_scripts(client: &Client) -> Result<()> {
    let annotations = [PLAY, READY_AFTER, RUNS_FOR, MESSAGE]
        .map(|key| format!("'{key}': namespaceObject.metadata.annotations['{key}']"))
        .join(", ");
    // Not a match condition: those are not given the namespace.
    let is_set =
        format!("has(namespaceObject.metadata.annotations) && '{PLAY}' in namespaceObject.metadata.annotations");
    let given = format!("Object{{metadata: Object.metadata{{annotations: {{{annotations}}}}}}}");
    let policy = object(
        "MutatingAdmissionPolicy",
        &json!({
            "failurePolicy": "Ignore",
            "reinvocationPolicy": "Never",
            "matchConstraints": {"resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]},
            ]},
            "mutations": [{
                "patchType": "ApplyConfiguration",
                "applyConfiguration": {"expression": format!("{is_set} ? {given} : Object{{}}")},
            }],
        }),
    );
    client.create(&policy)?;
    client.create(&object("MutatingAdmissionPolicyBinding", &json!({"policyName": "mlplat-test-scripts"})))?;
    Ok(())
}

/// A namespace with a script, to see when scripts are handed on.
pub(super) const PROBE: &str = "mlplat-test-probe";

/// The probe as an object.
pub(super) fn probe() -> Value {
    let metadata = json!({"name": PROBE, "annotations": Script::Ready.annotations()});
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
}

/// Whether a pod can be made in the probe's namespace, and is handed its script. A new policy needs a moment.
pub(super) fn are_handed_on(client: &Client) -> Result<bool> {
    let spec = json!({"containers": [{"name": "probe", "image": "probe"}]});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe"}, "spec": spec});
    let target = format!("/api/v1/namespaces/{PROBE}/pods?dryRun=All");
    let reply = client.send("POST", &target, "application/json", pod.to_string().as_bytes())?;
    Ok(reply.status == 201 && reply.json()?["metadata"]["annotations"][PLAY].is_string())
}

fn object(kind: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "mlplat-test-scripts"},
        "spec": spec,
    })
}
