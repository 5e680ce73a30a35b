//! When a container counts as started, alive and ready.
//!
//! A start gets the whole budget by a startup probe; until it succeeded no other probe runs, so these two need no
//! delay and can be tight.

use serde_json::{Map, Value as Json, json};

use super::super::Engine;

const STARTUP_PERIOD_SECONDS: u32 = 10;

/// The probes, by the container's fields. None without a health path.
pub(super) fn probes(engine: &Engine) -> Map<String, Json> {
    let Some(path) = engine.health_path.get() else { return Map::new() };
    let budget = engine.startup_seconds.get().copied().unwrap_or_default();
    let probe = |period: u32, timeout: u32, failures: u32| {
        json!({
            "httpGet": { "path": path, "port": "http" },
            "periodSeconds": period,
            "timeoutSeconds": timeout,
            "failureThreshold": failures,
        })
    };
    let attempts = budget.div_ceil(STARTUP_PERIOD_SECONDS).max(1);
    Map::from_iter([
        ("startupProbe".to_owned(), probe(STARTUP_PERIOD_SECONDS, 5, attempts)),
        // A server under full load answers late; only one that hangs for a minute is started again.
        ("livenessProbe".to_owned(), probe(10, 10, 6)),
        ("readinessProbe".to_owned(), probe(5, 5, 3)),
    ])
}
