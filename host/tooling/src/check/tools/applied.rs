//! D109: a tool that has changed its folders, its map or a server must not report that nothing was changed.

use latchwork_core::model::effect::Answer;

use crate::check::tools::question_by_post::is_question_by_post;
use crate::check::tools::running_case::{RunningCase, describe_answer};
use crate::check::tools::stub_servers::ReceivedRequest;
use crate::check::tools::world::{World, WorldSnapshot};

/// Checks the report of a call against the state of its world. `when` describes the situation. Returns true if there is
/// a finding.
pub(super) fn check(
    running: &mut RunningCase<'_>,
    when: &str,
    before: &WorldSnapshot,
    world: &World,
    answer: &Answer,
) -> bool {
    let Answer::NotApplied(_) = answer else { return false };
    let Some(difference) = difference(before, &world.state()) else { return false };
    let message = format!("{when}, {difference}, but the tool reports no change");
    let found = describe_answer(answer, world);
    let finding = running.add_finding("D109", message);
    finding.found = Some(found);
    finding.hint = Some("check everything before the first change, or report `applied` as unknown".to_owned());
    true
}

/// Checks the report of a call, or of an undo, against the answers to its requests. Returns true if there is a finding: the
/// server may have made a change, and no later request can have taken it back.
pub(super) fn check_requests(
    running: &mut RunningCase<'_>,
    when: &str,
    requests: &[ReceivedRequest],
    world: &World,
    answer: &Answer,
) -> bool {
    if !matches!(answer, Answer::NotApplied(_)) || !running.spec.is_world_changing() {
        return false;
    }
    let is_question = |request: &ReceivedRequest| is_question_by_post(&request.method, &request.url);
    let mut rest = requests.iter().skip_while(|one| !one.may_have_changed_state() || is_question(one));
    let Some(made) = rest.next() else { return false };
    if rest.any(|later| later.may_change_state() && later.is_successful()) {
        return false;
    }
    let status = made.status.map_or("not answered".to_owned(), |status| format!("answered with {status}"));
    let message = format!("{when}, {} {} is {status}, but the tool reports no change", made.method, made.url);
    let found = describe_answer(answer, world);
    let finding = running.add_finding("D109", message);
    finding.found = Some(found);
    finding.hint = Some("report `applied` as unknown: the server can have made the change".to_owned());
    true
}

/// Describes the first difference between two states of a world.
pub(super) fn difference(before: &WorldSnapshot, after: &WorldSnapshot) -> Option<String> {
    let made = after.keys().find(|name| !before.contains_key(*name)).map(|name| format!("{name} is created"));
    let gone = || before.keys().find(|name| !after.contains_key(*name)).map(|name| format!("{name} is deleted"));
    let other = || {
        after.iter().find(|(name, hash)| before.get(*name) != Some(hash)).map(|(name, _)| format!("{name} is changed"))
    };
    made.or_else(gone).or_else(other)
}
