//! Operators of the same plugin that show what a call has changed.

use serde_json::{Map, Value, json};

use latchwork_core::model::effect::{Answer, Output};

use crate::check::tools::case::ToolCase;
use crate::check::tools::running_case::{RunningCase, ToolCheck, describe_answer};
use crate::check::tools::world::World;

/// Maximum number of cases of other operators for one source of members.
const OTHERS_MAX: usize = 4;
/// Maximum number of members of a call that another call gets alone.
const SINGLE_MAX: usize = 4;

/// Returns an operator that changes nothing in the world and answers differently in this world than before the call.
/// The operator gets each input of its cases three times: unchanged, with values from the call's input, and also with
/// values from the result of an undisturbed call. A member gets the value of the call's member of the same name.
pub(super) async fn seeing(running: &RunningCase<'_>, world: &World) -> std::io::Result<Option<String>> {
    if !running.all_cases.iter().any(|case| is_reading(running, case)) {
        return Ok(None);
    }
    let undisturbed = running.calling(running.case, &running.world()?, running.context(0), false).await;
    let result = match undisturbed.end.answer {
        Answer::Ok(done) => done.result,
        Answer::NotApplied(_) | Answer::Unknown { .. } => String::new(),
    };
    for reading in readings(running, &result) {
        let fresh = running.world()?;
        let (before, after) = (read(running, &reading, &fresh).await, read(running, &reading, world).await);
        if before != after {
            return Ok(Some(reading.operator));
        }
    }
    Ok(None)
}

/// Returns the answers to [`readings`], each with the name of the operator.
pub(super) async fn reading_answers(running: &RunningCase<'_>, world: &World, result: &str) -> Vec<(String, String)> {
    let mut answers = Vec::new();
    for reading in readings(running, result) {
        let answer = read(running, &reading, world).await;
        answers.push((reading.operator, answer));
    }
    answers
}

/// Returns calls of the operators that change nothing in the world. An operator gets each input of its cases three times:
/// unchanged, with values from the call's input, and also with values from `result`.
fn readings(running: &RunningCase<'_>, result: &str) -> Vec<ToolCase> {
    let cases = running.all_cases.iter().filter(|case| is_reading(running, case));
    let inputs = |case: &ToolCase| {
        let of_call = with_members_of(&case.input, &running.case.input);
        [case.input.clone(), with_members_of(&of_call, result), of_call].map(|input| ToolCase { input, ..case.clone() })
    };
    cases.flat_map(inputs).collect()
}

fn is_reading(running: &RunningCase<'_>, case: &ToolCase) -> bool {
    running.tools.plugin.operator(&case.operator).is_some_and(|spec| !spec.is_world_changing())
}

async fn read(running: &RunningCase<'_>, case: &ToolCase, world: &World) -> String {
    let mut context = running.context_of_other_call();
    context.permissions = running.permissions_of(&case.operator);
    let called = running.calling(case, world, context, false).await;
    match &called.end.answer {
        // A refusal is also compared, because the operator may not accept the changed input.
        Answer::Ok(_) | Answer::NotApplied(_) => describe_answer(&called.end.answer, world),
        Answer::Unknown { .. } => String::new(),
    }
}

/// Calls other operators of the plugin that change the world, with the inputs of their cases. If `result` has a member
/// with the same name as a member of an input, the input gets the value of `result`.
pub(super) async fn change_by_others(running: &RunningCase<'_>, world: &World, result: &str) {
    for case in changing_others(running, result) {
        call_other(running, world, &case).await;
    }
}

/// Returns the cases of other operators of the plugin that change the world. If `given` has a member with the same name
/// as a member of an input, the input gets the value of `given`. Cases with such a member come first,
/// and of these the cases with another value.
pub(super) fn changing_others(running: &RunningCase<'_>, given: &str) -> Vec<ToolCase> {
    let is_changing = |case: &&ToolCase| {
        let spec = running.tools.plugin.operator(&case.operator);
        case.operator != running.case.operator && spec.is_some_and(|spec| spec.is_world_changing())
    };
    let changing = |case: &ToolCase| {
        let input = with_members_of(&case.input, given);
        let (own, given) = (members(&case.input), members(given));
        let has_no_member = own.keys().all(|name| !given.contains_key(name));
        let is_as_before = own == members(&input);
        ((has_no_member, is_as_before), ToolCase { input, ..case.clone() })
    };
    let mut cases: Vec<((bool, bool), ToolCase)> = running.all_cases.iter().filter(is_changing).map(changing).collect();
    cases.sort_by_key(|(order, _)| *order);
    cases.into_iter().map(|(_, case)| case).collect()
}

/// Returns the cases of [`changing_others`] for a call that had this result. First come those that have a member of the call
/// as they are. The others get members of the result of the call, of its arguments, of both, or a single one.
pub(super) fn changing_others_after(running: &RunningCase<'_>, result: &str) -> Vec<ToolCase> {
    let of_result = merged(&running.case.input, result);
    // The cases as they are, if they already have a member of the call. The other operator can then write another value.
    let is_of_call = |case: &ToolCase| has_member_of(&case.input, &of_result);
    let own = changing_others(running, "{}").into_iter().filter(is_of_call);
    let mut others: Vec<ToolCase> = own.take(OTHERS_MAX).collect();
    // With a single member of the call, the other operator can change the entry of the call. With all of them, it can write
    // the same entry.
    let inputs: Vec<Map<String, Value>> =
        changing_others(running, "{}").iter().map(|case| members(&case.input)).collect();
    let of_both = members(result).into_iter().chain(members(&running.case.input));
    let used = of_both.filter(|(name, _)| inputs.iter().any(|input| input.contains_key(name)));
    let single: Vec<String> = used.map(|(name, value)| json!({ name: value }).to_string()).take(SINGLE_MAX).collect();
    let all = [result, &running.case.input, &of_result].into_iter().chain(single.iter().map(String::as_str));
    for given in all {
        for other in changing_others(running, given).into_iter().take(OTHERS_MAX) {
            if !others.contains(&other) {
                others.push(other);
            }
        }
    }
    others
}

/// Makes a call of another operator. Returns true if it succeeds.
pub(super) async fn call_other(running: &RunningCase<'_>, world: &World, case: &ToolCase) -> bool {
    output_of_other(running, world, case).await.is_some()
}

/// Makes a call of another operator. Returns its output if it succeeds.
pub(super) async fn output_of_other(running: &RunningCase<'_>, world: &World, case: &ToolCase) -> Option<Output> {
    let mut context = running.context_of_other_call();
    context.permissions = running.permissions_of(&case.operator);
    match running.calling(case, world, context, false).await.end.answer {
        Answer::Ok(done) => Some(done),
        Answer::NotApplied(_) | Answer::Unknown { .. } => None,
    }
}

/// Returns the case with members of the arguments and the result of a call of another operator. Returns `None` if its input
/// has no such member, or if the schema of the operator does not allow the new input.
pub(super) fn linked_case(tools: &ToolCheck<'_>, case: &ToolCase, args: &str, result: &str) -> Option<ToolCase> {
    let parsed = |input: &str| -> Value { serde_json::from_str(input).expect("a case's input is JSON") };
    let input = with_members_of(&case.input, &merged(args, result));
    let value = parsed(&input);
    let is_allowed = tools.plugin.check_input(&case.operator, &value).is_ok();
    (is_allowed && value != parsed(&case.input)).then(|| ToolCase { input, ..case.clone() })
}

/// Returns an operator that shows an entry of the map. Its input has the members of the entry. Removes the entry, and compares
/// the answers.
pub(super) async fn showing_entry(
    running: &RunningCase<'_>,
    world: &World,
    name: &str,
    content: &str,
) -> std::io::Result<Option<String>> {
    let reading = |case: &ToolCase| ToolCase { input: with_members_of(&case.input, content), ..case.clone() };
    let cases = running.all_cases.iter().filter(|case| is_reading(running, case)).map(reading);
    let mut showing = Vec::new();
    for case in cases.filter(|case| has_member_of(&case.input, content)) {
        if let Some(output) = output_of_other(running, world, &case).await {
            showing.push((case, output.result));
        }
    }
    world.remove(&[name.to_owned()])?;
    for (case, result) in showing {
        if output_of_other(running, world, &case).await.is_none_or(|output| output.result != result) {
            return Ok(Some(case.operator));
        }
    }
    Ok(None)
}

/// Returns true if two objects have a member with the same name and value.
pub(super) fn has_member_of(input: &str, result: &str) -> bool {
    let (input, result) = (members(input), members(result));
    result.iter().any(|(name, value)| input.get(name) == Some(value))
}

/// Returns the members of two objects as one object. A member of `result` replaces a member of `input`.
fn merged(input: &str, result: &str) -> String {
    let mut all = members(input);
    all.extend(members(result));
    Value::Object(all).to_string()
}

/// Returns the members of an object. A value that is no object has none.
fn members(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_default()
}

/// Replaces members of the object `input` by the members of the same name in `other`, if both values have the same
/// type.
fn with_members_of(input: &str, other: &str) -> String {
    let (Ok(Value::Object(mut input)), Ok(Value::Object(other))) =
        (serde_json::from_str(input), serde_json::from_str(other))
    else {
        return input.to_owned();
    };
    for (name, value) in &mut input {
        if let Some(of_call) = other.get(name)
            && std::mem::discriminant(of_call) == std::mem::discriminant(value)
        {
            *value = of_call.clone();
        }
    }
    Value::Object(input).to_string()
}
