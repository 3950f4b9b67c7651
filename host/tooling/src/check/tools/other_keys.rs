//! D102, D103 and D123: calls with other external keys must not share an entry with the call of the case, nor remove
//! entries of this call.

use std::collections::BTreeSet;

use serde_json::Value;

use latchwork_core::model::effect::Answer;
use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::RecoveryClass;
use latchwork_engine::ReconcileVerdict;
use latchwork_engine::guest::tool_call::ToolCallContext;

use crate::check::tools::applied::difference;
use crate::check::tools::case::ToolCase;
use crate::check::tools::lost_record::ask;
use crate::check::tools::running_case::RunningCase;
use crate::check::tools::stub_servers::ReceivedRequest;
use crate::check::tools::world::World;
use crate::check::variations::variations;

/// Keys of calls in the form that jobs use. Two of these keys differ in a few characters. A name that is made from a
/// key loses the difference if it replaces characters, ignores case, or leaves out the beginning or the end. The last keys
/// have the greatest length of a key.
const SIMILAR_KEYS: [&str; 11] = [
    "latch:job_01JZ7N3Q0V4X8C2M6K9RTB5WDF:s3/0:1",
    "latch:job_01JZ7N3Q0V4X8C2M6K9RTB5WDF:s3-0:1",
    "latch:job_01JZ7N3Q0V4X8C2M6K9RTB5WDF:s3_0:1",
    "latch:job_01JZ7N3Q0V4X8C2M6K9RTB5WDF:s3~0:1",
    "latch:job_01JZ7N3Q0V4X8C2M6K9RTB5WDF:S3/0:1",
    "latch:job_01JZ7N3Q0V4X8C2M6K9RTB5WDF:s3/0:2",
    "latch:job_01JZ7N3Q0V4X8C2M6K9RTB5WDF:s3/1:1",
    "latch:job_01JZ7N3Q0V4X8C2M6K9RTB5WDG:s3/0:1",
    "latch:job_01JZ7N3Q0V4X8C2M6K9RTB5WDF:summon_the_neighbours_north_of_the_mill_and_of_the_old_bridge_before_the_hearing_of_sp/11:2",
    "latch:job_01JZ7N3Q0V4X8C2M6K9RTB5WDF:summon_the_neighbours_north_of_the_mill_and_of_the_old_bridge_before_the_hearing_of_sp/11:3",
    "latch:job_01JZ7N3Q0V4X8C2M6K9RTB5WDF:summon_the_neighbours_north_of_the_mill_and_of_the_old_bridge_before_the_hearing_of_sp/12:2",
];
/// Minimum length of a header that can be made from a key, in bytes.
const KEYED_BYTES_MIN: usize = 8;
/// Maximum number of other inputs of the calls of other jobs.
const INPUTS_MAX: usize = 31;
/// Number of calls of other jobs, each of a different job.
const OTHER_CALLS: u32 = 110;
/// Maximum number of other inputs of a further call, after which the call of the case is repeated.
const LAST_INPUTS_MAX: usize = 4;

pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if running.case.error.is_some() || !running.spec.is_world_changing() {
        return Ok(());
    }
    check_names(running).await?;
    check_survival(running).await
}

/// D123: a call with each of the similar keys must create as many entries as a call with an unrelated key, of another job
/// and another slot, in a second world.
async fn check_names(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    let (world, apart) = (running.world()?, running.world()?);
    let mut sent: Vec<Vec<ReceivedRequest>> = Vec::new();
    for (number, key) in SIMILAR_KEYS.iter().enumerate() {
        let other = Hash::of(&[b"another key", key.as_bytes()]).to_hex();
        let Some(expected) =
            created_with(running, &apart, &format!("latch:job_01{}:t{number}:1", other[..24].to_uppercase())).await
        else {
            return Ok(());
        };
        let found = created_with(running, &world, key).await;
        let (requests, unrelated) = (world.received(), apart.received());
        let is_shared = |earlier: &Vec<ReceivedRequest>| shared_part(&requests, earlier, &unrelated);
        if let Some(part) = sent.iter().find_map(is_shared) {
            let message = format!("a call with the key {key} sends {part} as a call with a similar key does");
            running.add_finding("D123", message).hint =
                Some("send the whole key, and replace none of its characters".to_owned());
            return Ok(());
        }
        sent.push(requests);
        if found.as_ref().is_some_and(|found| found.len() >= expected.len()) {
            continue;
        }
        let message = match (&found, number) {
            (None, 0) => format!("a call with the key {key} fails, one with another key succeeds"),
            (None, _) => format!("a call with the key {key} fails after calls with similar keys"),
            (Some(_), _) => {
                format!("a call with the key {key} takes the entry of a call with a similar key for its own")
            }
        };
        let finding = running.add_finding("D123", message);
        finding.expected = Some(entries(expected.len()));
        finding.found = found.map(|found| entries(found.len()));
        finding.hint = Some(
            "replace `:` and `/` by characters that no key has, use the whole key, or a hash of it as its name"
                .to_owned(),
        );
        return Ok(());
    }
    Ok(())
}

/// Returns the part of a request that is the same for two keys, although an unrelated key changes this part.
fn shared_part(
    requests: &[ReceivedRequest],
    earlier: &[ReceivedRequest],
    unrelated: &[ReceivedRequest],
) -> Option<String> {
    if requests.len() != earlier.len() || requests.len() != unrelated.len() {
        return None;
    }
    let of_one = |((one, earlier), unrelated): ((&ReceivedRequest, &ReceivedRequest), &ReceivedRequest)| {
        let header_of = |request: &ReceivedRequest, name: &str| -> Option<String> {
            let mut headers = request.headers.iter();
            headers.find(|(other, _)| other == name).map(|(_, value)| value.clone())
        };
        let is_shared_header = |(name, value): &&(String, String)| {
            let (earlier, unrelated) = (header_of(earlier, name), header_of(unrelated, name));
            // A length depends on the key as well.
            value.len() >= KEYED_BYTES_MIN
                && earlier.as_ref() == Some(value)
                && unrelated.is_some_and(|unrelated| unrelated != *value)
        };
        if one.url == earlier.url && one.url != unrelated.url {
            return Some(format!("{} {}", one.method, one.url));
        }
        if one.body == earlier.body && one.body != unrelated.body {
            return Some(format!("the same body to {} {}", one.method, one.url));
        }
        let (name, _) = one.headers.iter().find(is_shared_header)?;
        Some(format!("the same header {name} to {}", one.url))
    };
    requests.iter().zip(earlier).zip(unrelated).find_map(of_one)
}

fn entries(count: usize) -> String {
    if count == 1 { "1 new entry".to_owned() } else { format!("{count} new entries") }
}

/// Calls the tool under a key. Returns the names of the entries that it creates, or `None` if it fails.
async fn created_with(running: &RunningCase<'_>, world: &World, key: &str) -> Option<Vec<String>> {
    let before: BTreeSet<String> = world.state().into_keys().collect();
    let called = running.calling(running.case, world, context_of(running, key), false).await;
    let names = world.state().into_keys().filter(|name| !before.contains(name));
    matches!(called.end.answer, Answer::Ok(_)).then(|| names.collect())
}

/// The case, and the same case with other inputs.
fn other_inputs(running: &RunningCase<'_>) -> Vec<ToolCase> {
    let input: Value = serde_json::from_str(&running.case.input).expect("a case's input is JSON");
    let is_allowed = |input: &Value| running.tools.plugin.check_input(&running.case.operator, input).is_ok();
    let others = variations(&input, &Value::Null, INPUTS_MAX, is_allowed).into_iter();
    let others = others.filter(|variation| !variation.is_large);
    let of = |input: String| ToolCase { input, ..running.case.clone() };
    std::iter::once(running.case.clone()).chain(others.map(|variation| of(variation.value.to_string()))).collect()
}

/// D102 and D103: after many calls of other jobs, a repetition of a keyed call still changes nothing, and `reconcile`
/// does not deny the call.
async fn check_survival(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    // The answers of servers do not depend on the key.
    if !running.case.http.is_empty() {
        return Ok(());
    }
    let is_keyed = running.class == RecoveryClass::Keyed;
    let world = running.world()?;
    let before = world.state();
    if !matches!(running.call(&world, 0).await.end.answer, Answer::Ok(_))
        || difference(&before, &world.state()).is_none()
    {
        return Ok(());
    }
    let is_found = |verdict: &Result<ReconcileVerdict, String>| matches!(verdict, Ok(ReconcileVerdict::Happened(_)));
    let has_reconcile = running.tools.plugin.reconcile && is_found(&ask(running, &world).await);
    if is_keyed {
        let first = world.state();
        running.call(&world, 1).await;
        // A repetition that already changes the world without calls of other jobs is another finding.
        if world.state() != first {
            return Ok(());
        }
    } else if !has_reconcile {
        return Ok(());
    }
    let inputs = other_inputs(running);
    for number in 0..OTHER_CALLS {
        // The last of these calls has the input of the case.
        let input = &inputs[(OTHER_CALLS - 1 - number) as usize % inputs.len()];
        call_of_other_job(running, &world, input, number).await;
    }
    if has_reconcile && matches!(ask(running, &world).await, Ok(ReconcileVerdict::DidNotHappen)) {
        let message = format!("after {OTHER_CALLS} calls of other jobs, reconcile denies a call that happened");
        running.add_finding("D103", message).hint = Some("keep the entry of each call, or answer unknown".to_owned());
    }
    if !is_keyed || is_changed_again(running, &world, 2, OTHER_CALLS).await {
        return Ok(());
    }
    // After a call with another input, an entry of the input of the case can name another key.
    for (number, input) in (0..).zip(inputs.iter().skip(1).take(LAST_INPUTS_MAX)) {
        call_of_other_job(running, &world, input, OTHER_CALLS + number).await;
        if is_changed_again(running, &world, 3 + number, OTHER_CALLS + number + 1).await {
            break;
        }
    }
    Ok(())
}

/// Makes a call of another job, whose key has this number.
async fn call_of_other_job(running: &RunningCase<'_>, world: &World, case: &ToolCase, number: u32) {
    let key = format!("latch:job_01JZ{number:022}:s1:1");
    running.calling(case, world, context_of(running, &key), false).await;
}

/// Returns the context of the call with this key. The key has the form `latch:JOB:SLOT:NUMBER`.
fn context_of(running: &RunningCase<'_>, key: &str) -> ToolCallContext {
    let mut context = ToolCallContext { external_key: key.to_owned(), ..running.context_of_other_call() };
    if let [_, job, slot, _] = key.split(':').collect::<Vec<_>>()[..] {
        (context.step.job_id, context.slot) = (job.to_owned(), slot.to_owned());
    }
    context
}

/// D102: repeats the call of the case after calls of other jobs. Returns true if there is a finding.
async fn is_changed_again(running: &mut RunningCase<'_>, world: &World, tries_before: u32, others: u32) -> bool {
    let before = world.state();
    running.call(world, tries_before).await;
    let Some(difference) = difference(&before, &world.state()) else { return false };
    let message = format!(
        "called again under the same key after {others} calls of other jobs, it changes the world again: {difference}"
    );
    running.add_finding("D102", message).hint =
        Some("keep the entry of each key for the whole declared window".to_owned());
    true
}
