//! Operators of the same plugin that show what a call has changed.

use serde_json::Value;

use latchwork_core::model::effect::Answer;

use crate::check::tools::case::ToolCase;
use crate::check::tools::running_case::{RunningCase, describe_answer};
use crate::check::tools::world::World;

/// Returns an operator that changes nothing and answers otherwise in this world than before the call. It gets the input of
/// its cases, also with the values that the call has for members of the same name.
pub(super) async fn seeing(running: &RunningCase<'_>, world: &World) -> std::io::Result<Option<String>> {
    for case in running.all_cases {
        let spec = running.tools.plugin.operator(&case.operator);
        if spec.is_none_or(|spec| spec.is_world_changing()) {
            continue;
        }
        let mut reading = case.clone();
        for input in [case.input.clone(), with_members_of(&case.input, &running.case.input)] {
            reading.input = input;
            let fresh = running.world()?;
            let (before, after) = (read(running, &reading, &fresh).await, read(running, &reading, world).await);
            if before != after {
                return Ok(Some(case.operator.clone()));
            }
        }
    }
    Ok(None)
}

async fn read(running: &RunningCase<'_>, case: &ToolCase, world: &World) -> String {
    let mut context = running.context_of_other_call();
    context.permissions = running.permissions_of(&case.operator);
    let called = running.calling(case, world, context, false).await;
    match &called.end.answer {
        // The input may be none that the operator accepts.
        Answer::Ok(_) | Answer::NotApplied(_) => describe_answer(&called.end.answer, world),
        Answer::Unknown { .. } => String::new(),
    }
}

/// Makes calls of other operators of the plugin that change the world. They get the input of their cases with the values that
/// the call has for members of the same name, in its arguments and in its result.
pub(super) async fn change_by_others(running: &RunningCase<'_>, world: &World, result: &str) {
    for case in running.all_cases {
        let spec = running.tools.plugin.operator(&case.operator);
        if case.operator == running.case.operator || !spec.is_some_and(|spec| spec.is_world_changing()) {
            continue;
        }
        let mut changing = case.clone();
        changing.input = with_members_of(&case.input, result);
        let mut context = running.context_of_other_call();
        context.permissions = running.permissions_of(&case.operator);
        running.calling(&changing, world, context, false).await;
    }
}

/// Replaces each member of an object that another object has with a value of the same type.
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
