//! D100, D105, D109 and D110: calls in worlds that calls of other operators of the plugin have changed, also much later.

use latchwork_core::model::effect::Answer;

use crate::check::tools::applied;
use crate::check::tools::case::ToolCase;
use crate::check::tools::other_inputs::{is_broken, is_denied};
use crate::check::tools::readers::linked_case;
use crate::check::tools::running_case::RunningCase;

/// Maximum number of cases of other operators.
const OTHERS_MAX: usize = 12;
/// Numbers of the tries: at once, after a day, a year and ninety years. The clock of the stub advances by an hour in each
/// try.
const TRIES: [u32; 4] = [0, 24, 8_784, 788_940];

/// Calls another operator, and then the operator of the case with members of its arguments and its result.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if !running.case.http.is_empty() {
        return Ok(());
    }
    for other in others(running) {
        for tries in TRIES {
            let world = running.world()?;
            let mut context = running.context_of_other_call();
            context.permissions = running.permissions_of(&other.operator);
            let Answer::Ok(done) = running.calling(&other, &world, context, false).await.end.answer else { break };
            let Some(case) = linked_case(running.tools, running.case, &other.input, &done.result) else { break };
            let before = world.state();
            let called = running.calling(&case, &world, running.context(tries), false).await;
            let later = if tries == 0 { String::new() } else { format!(", {tries} hours later") };
            let when = format!("after a call of {}{later}", other.operator);
            if applied::check(running, &when, &before, &world, &called.end.answer)
                || is_denied(running, &called, &when)
                || is_broken(running, &called, &when)
            {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Returns cases of other operators that change the world, at most one for each operator first.
fn others(running: &RunningCase<'_>) -> Vec<ToolCase> {
    let is_changing = |case: &&ToolCase| {
        let spec = running.tools.plugin.operator(&case.operator);
        let is_other = case.operator != running.case.operator;
        is_other && case.error.is_none() && case.http.is_empty() && spec.is_some_and(|spec| spec.is_world_changing())
    };
    let cases: Vec<&ToolCase> = running.all_cases.iter().filter(is_changing).collect();
    let is_first = |index: usize| cases[..index].iter().all(|before| before.operator != cases[index].operator);
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|index| !is_first(*index));
    order.into_iter().take(OTHERS_MAX).map(|index| cases[index].clone()).collect()
}
