//! D118: an operator that a plan names as the compensation of another operator of the plugin, with `compensate_with`.

use serde_json::{Value, json};

use latchwork_core::model::effect::{Answer, Output};

use crate::check::tools::case::ToolCase;
use crate::check::tools::readers::{call_other, reading_answers};
use crate::check::tools::running_case::RunningCase;

/// Undoes the call of the case with each operator whose cases undo calls of this operator. The operators that only read and
/// that show the call must answer differently after the undo.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    // The answers of servers do not show that an undo has removed an effect.
    let has_servers = !running.case.http.is_empty();
    if running.case.error.is_some() || has_servers || !running.spec.is_world_changing() {
        return Ok(());
    }
    let undoing: Vec<&ToolCase> =
        running.all_cases.iter().filter(|case| undoes(case, &running.case.operator)).collect();
    for (number, undo) in undoing.iter().enumerate() {
        if undoing[..number].iter().any(|before| before.operator == undo.operator) {
            continue;
        }
        let world = running.world()?;
        let Answer::Ok(done) = running.call(&world, 0).await.end.answer else { return Ok(()) };
        let before = reading_answers(running, &running.world()?, &done.result).await;
        let after = reading_answers(running, &world, &done.result).await;
        let undo = ToolCase { input: compensation_of(running, &done), ..(*undo).clone() };
        if !call_other(running, &world, &undo).await {
            continue;
        }
        let undone = reading_answers(running, &world, &done.result).await;
        let mut showing = (0..after.len()).filter(|n| before[*n] != after[*n]).peekable();
        let Some(first) = showing.peek().copied() else { continue };
        if showing.all(|n| after[n] == undone[n]) {
            let message = format!(
                "{} succeeds as the compensation of the call, but {} still answers as before it",
                undo.operator, after[first].0
            );
            let hint = "undo what the key in the arguments names: the compensation has its own key";
            running.add_finding("D118", message).hint = Some(hint.to_owned());
            return Ok(());
        }
    }
    Ok(())
}

/// Returns true if the arguments of the case are those of a compensation of this operator.
fn undoes(case: &ToolCase, operator: &str) -> bool {
    let input: Value = serde_json::from_str(&case.input).unwrap_or_default();
    let has = |name: &str| input.get(name).is_some();
    input.get("operator").and_then(Value::as_str) == Some(operator) && has("external_key") && has("result")
}

/// Returns the arguments with which the host undoes the call of the case.
fn compensation_of(running: &RunningCase<'_>, done: &Output) -> String {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    json!({
        "operator": running.case.operator,
        "external_key": running.key(),
        "args": parsed(&running.case.input),
        "result": parsed(&done.result),
        "receipt": done.receipt.as_deref().map(parsed),
    })
    .to_string()
}
