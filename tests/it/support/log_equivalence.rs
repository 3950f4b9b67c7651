//! Compares the log of a job that crashed with the log of an undisturbed job. Jobs with a call in doubt or a repeated
//! call are left out. The two logs may differ only in claims, restarts of steps, times, nonces, and the mark that an
//! answer was recovered.

use serde_json::Value;

use crate::support::test_env::TestEnv;

/// Events about claims and tries. They are not part of the job's effects.
const CLAIM_AND_TRY_EVENTS: &[&str] = &["job_claimed", "job_released", "step_started"];
/// Fields of an event that are compared. Times, hashes and the writer are left out.
const COMPARED_FIELDS: &[&str] =
    &["type", "step_id", "slot", "operator", "result_type", "ok", "timer", "try", "reason", "code"];

/// Returns the comparable events of the job. Returns `None` if a call was in doubt or was repeated.
pub(crate) fn comparable_log(place: &TestEnv, job: &str) -> Option<Vec<String>> {
    let ran = place.latch(&["job", "events", job, "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let document = ran.json();
    let events = document["events"].as_array().expect("a list");
    let doubted = |event: &Value| {
        let resolved =
            ["invocation_resolved", "step_blocked", "job_parked"].contains(&event["type"].as_str().expect("a type"));
        let provenance = event["provenance"].as_str();
        resolved
            || event["try"].as_u64() > Some(1)
            || provenance.is_some_and(|how| how != "caught_up" && how != "executed")
    };
    if events.iter().any(doubted) {
        return None;
    }
    let kept = events.iter().filter(|event| !CLAIM_AND_TRY_EVENTS.contains(&event["type"].as_str().expect("a type")));
    let comparable = |event: &Value| {
        COMPARED_FIELDS.iter().filter_map(|name| Some(event.get(name)?.to_string())).collect::<Vec<_>>().join(" ")
    };
    Some(kept.map(comparable).collect())
}
