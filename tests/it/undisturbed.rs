//! What a crash changes in a log that nothing was in doubt in: who claimed the job and when a step was
//! started anew, times and nonces, and that a record was caught up with; nothing else.

use serde_json::Value;

use crate::place::Place;

/// Events of claims and tries, not of what the job did.
const OF_THE_ATTEMPT: &[&str] = &["job_claimed", "job_released", "step_started"];
/// What an event says beside times, hashes and who wrote it.
const SAID: &[&str] = &["type", "step_id", "slot", "operator", "result_type", "ok", "timer", "try", "reason", "code"];

/// What the one job did; none where a call was in doubt, or was made again.
pub(crate) fn story(place: &Place) -> Option<Vec<String>> {
    let job = place.the_job()["job_id"].as_str().expect("an id").to_owned();
    let ran = place.latch(&["job", "events", &job, "--json"]);
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
    let kept = events.iter().filter(|event| !OF_THE_ATTEMPT.contains(&event["type"].as_str().expect("a type")));
    let said =
        |event: &Value| SAID.iter().filter_map(|name| Some(event.get(name)?.to_string())).collect::<Vec<_>>().join(" ");
    Some(kept.map(said).collect())
}
