//! D105 and D109: calls with other inputs that the operator's schema allows, and at other times.

use serde_json::Value;

use crate::check::tools::applied;
use crate::check::tools::case::ToolCase;
use crate::check::tools::running_case::{CallResult, RunningCase};
use crate::check::tools::single_call;
use crate::check::variations::variations;

/// Maximum number of other inputs of a case.
const INPUTS_MAX: usize = 100;
/// Numbers of the tries at other times: after hours, a day, a month, a year, eleven and ninety years. The clock of the
/// stub advances by an hour in each try. Authors use a year such as 2099 for an entry that never expires.
const TRIES: [u32; 7] = [3, 13, 24, 720, 8_784, 96_360, 788_940];

/// Checks two rules. After a call that reports no change, the folders and the map must be as before the call. An
/// operator must not change what it does not declare.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if running.case.error.is_some() || running.found.iter().any(|finding| finding.rule == "D105") {
        return Ok(());
    }
    for tries in TRIES {
        let world = running.world()?;
        let before = world.state();
        let called = running.calling(running.case, &world, running.context(tries), false).await;
        let when = format!("in a try {tries} hours later");
        if applied::check(running, &when, &before, &world, &called.end.answer) || is_denied(running, &called, &when) {
            return Ok(());
        }
    }
    let input: Value = serde_json::from_str(&running.case.input).expect("a case's input is JSON");
    let schema: Value = serde_json::from_str(&running.spec.input_schema).unwrap_or_default();
    let plugin = running.tools.plugin;
    let is_allowed = |input: &Value| plugin.check_input(&running.case.operator, input).is_ok();
    for variation in variations(&input, &schema, INPUTS_MAX, is_allowed) {
        let case = ToolCase { input: variation.value.to_string(), ..running.case.clone() };
        let world = running.world()?;
        let before = world.state();
        let called = running.calling(&case, &world, running.context(0), false).await;
        let when = format!("with another input, {}", variation.what);
        if applied::check(running, &when, &before, &world, &called.end.answer) || is_denied(running, &called, &when) {
            return Ok(());
        }
    }
    Ok(())
}

/// D105: reports a change that the host refused, because the operator does not declare it.
fn is_denied(running: &mut RunningCase<'_>, called: &CallResult, when: &str) -> bool {
    let Some(access) = single_call::undeclared_access(called) else { return false };
    let hint = "declare what it changes, or only read";
    running.add_finding("D105", format!("{when}, it {access}, which the host refuses")).hint = Some(hint.to_owned());
    true
}
