//! D102 and D103: the host is killed in the middle of a call. There is one run for each operation of the call that may
//! change the world, and the host is killed before this operation.
//!
//! After a restart the host asks `reconcile`, or repeats the call under the same key. Folders and map must then be as
//! after a call that was not interrupted. Servers of a case have no state, so their part is left to `lost_record`.

use std::collections::{BTreeMap, BTreeSet};

use latchwork_core::model::effect::Answer;
use latchwork_core::model::manifest::RecoveryClass;
use latchwork_engine::ReconcileVerdict;

use crate::check::tools::applied::difference;
use crate::check::tools::lost_record::ask;
use crate::check::tools::readers;
use crate::check::tools::running_case::RunningCase;
use crate::check::tools::stub_servers::ReceivedRequest;
use crate::check::tools::world::{World, WorldSnapshot, snapshot};

/// Maximum number of operations of a call at which the host is killed.
const KILLS_MAX: u32 = 32;

/// Traces of calls that were not interrupted.
struct WholeCalls {
    before: WorldSnapshot,
    /// State after the first try, and after a second try in a new world. They can differ in times.
    states: [WorldSnapshot; 2],
    /// Number of new entries of a call that have other names in each try, such as random ones.
    renamed: usize,
    changes_a_server: bool,
}

/// Maximum number of entries of a killed call that are looked for.
const LEFT_MAX: usize = 2;
const LEFT_HINT: &str = "write the entry of the key first, or name all entries by the key";

impl WholeCalls {
    /// Describes the first difference between a state and the states after the whole calls. New files that a killed
    /// call has left behind do not count.
    fn missing_in(&self, state: &WorldSnapshot) -> Option<String> {
        let [first, second] = &self.states;
        let is_new = |name: &&String| !self.before.contains_key(*name);
        let found = state.keys().filter(is_new).count();
        if self.renamed > 0 && found < first.keys().filter(is_new).count() {
            return Some("an entry is missing".to_owned());
        }
        for name in self.before.keys().chain(first.keys()).chain(second.keys()) {
            let expected = [first.get(name), second.get(name)];
            if !expected.contains(&state.get(name)) {
                let words = match (state.contains_key(name), first.contains_key(name)) {
                    (false, _) => "is missing",
                    (true, true) => "has other contents",
                    (true, false) => "is not deleted",
                };
                return Some(format!("{name} {words}"));
            }
        }
        None
    }
}

pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    // Skipped after a finding of D104. If `reconcile` reports calls that were never made, the same defect would be
    // found again.
    let is_invented = running.found.iter().any(|finding| finding.rule == "D104");
    if running.case.error.is_some() || !running.spec.is_world_changing() || is_invented {
        return Ok(());
    }
    let Some(whole) = whole_calls(running).await? else { return Ok(()) };
    // The servers of the case can answer as after an earlier try.
    let untouched = running.world()?;
    let is_found_before =
        running.tools.plugin.reconcile && matches!(ask(running, &untouched).await, Ok(ReconcileVerdict::Happened(_)));
    for operations in 0..KILLS_MAX {
        let mut world = running.world()?;
        let before = world.state();
        if !running.call_interrupted(&mut world, operations).await {
            break;
        }
        let requests = world.received();
        let killed = world.contents();
        let is_untouched = snapshot(&killed) == before && requests.is_empty();
        let is_unsent = !requests.iter().any(ReceivedRequest::may_change_state);
        let place = format!("killed before operation {} of the call", operations + 1);
        let verdict = match running.tools.plugin.reconcile {
            true => ask(running, &world).await.ok(),
            false => None,
        };
        match verdict {
            Some(ReconcileVerdict::Happened(_)) => {
                let unsent =
                    (is_unsent && whole.changes_a_server && !is_found_before).then(|| "no request was sent".to_owned());
                if let Some(missing) = whole.missing_in(&world.state()).or(unsent) {
                    let message = format!("{place}, reconcile says that the call happened, but {missing}");
                    running.add_finding("D103", message).hint =
                        Some("write the mark of the call last, or look at everything that the call writes".to_owned());
                    return Ok(());
                }
                continue;
            }
            // The host repeats the call, unless its job is cancelled.
            Some(ReconcileVerdict::DidNotHappen) => {
                if !is_untouched && let Some(reader) = readers::seeing(running, &world).await? {
                    let message =
                        format!("{place}, reconcile says that it did not happen, but {reader} shows its effect");
                    running.add_finding("D103", message).hint =
                        Some("let the last write make the call visible, or answer unknown".to_owned());
                    return Ok(());
                }
            }
            _ if running.class == RecoveryClass::Keyed || is_untouched => {}
            _ => continue,
        }
        let again = running.call(&world, 1).await;
        if !matches!(again.end.answer, Answer::Ok(_)) {
            continue;
        }
        let sent = world.received().iter().any(ReceivedRequest::may_change_state);
        let unsent = (is_unsent && whole.changes_a_server && !sent).then(|| "no request was sent".to_owned());
        if let Some(missing) = whole.missing_in(&world.state()).or(unsent) {
            let message = format!("{place} and called again under the same key, it succeeds, but {missing}");
            running.add_finding("D102", message).hint = Some(
                "look at the world and not at the number of the try; one write, under the key, must complete the call"
                    .to_owned(),
            );
            return Ok(());
        }
        if let Some(left) = left_entry(running, &whole, &killed, &world).await? {
            let message = format!("{place} and called again under the same key, it leaves {left}");
            running.add_finding("D102", message).hint = Some(LEFT_HINT.to_owned());
            return Ok(());
        }
    }
    Ok(())
}

/// Describes an entry of the killed call that its repetition has not replaced, and an operator that shows this entry. The
/// entries of the call have other names in each try.
async fn left_entry(
    running: &RunningCase<'_>,
    whole: &WholeCalls,
    killed: &BTreeMap<String, Vec<u8>>,
    world: &World,
) -> std::io::Result<Option<String>> {
    let state = world.state();
    let new_in = |state: &WorldSnapshot| state.keys().filter(|name| !whole.before.contains_key(*name)).count();
    if whole.renamed == 0 || new_in(&state) <= new_in(&whole.states[0]) {
        return Ok(None);
    }
    let is_left = |name: &&String| !whole.before.contains_key(*name) && state.contains_key(*name);
    for name in killed.keys().filter(is_left).take(LEFT_MAX) {
        let Ok(content) = std::str::from_utf8(&killed[name]) else { continue };
        if let Some(reader) = readers::showing_entry(running, world, name, content).await? {
            return Ok(Some(format!("{name} of the first try, which {reader} shows")));
        }
    }
    Ok(None)
}

/// Makes the call as a first try, and in a new world as a second try. Returns `None` if the first try fails or changes
/// nothing.
async fn whole_calls(running: &mut RunningCase<'_>) -> std::io::Result<Option<WholeCalls>> {
    let world = running.world()?;
    let before = world.state();
    let first = running.call(&world, 0).await;
    let changes_a_server = world.received().iter().any(ReceivedRequest::may_change_state);
    let state = world.state();
    if !matches!(first.end.answer, Answer::Ok(_)) || difference(&before, &state).is_none() && !changes_a_server {
        return Ok(None);
    }
    let world = running.world()?;
    running.call(&world, 1).await;
    let later = world.state();
    // The state after the second try counts only if the second try leaves the same entries and changes everything that
    // the first try changes.
    let is_changed = |name: &String| later.get(name) != before.get(name);
    let is_whole = later.keys().eq(state.keys())
        && state.iter().filter(|(name, hash)| before.get(*name) != Some(hash)).all(|(name, _)| is_changed(name));
    let new_names = |state: &WorldSnapshot| -> BTreeSet<String> {
        state.keys().filter(|name| !before.contains_key(*name)).cloned().collect()
    };
    let (of_first, of_second) = (new_names(&state), new_names(&later));
    let renamed = if of_first.len() == of_second.len() { of_first.difference(&of_second).count() } else { 0 };
    let later = if is_whole || renamed > 0 { later } else { state.clone() };
    Ok(Some(WholeCalls { before, states: [state, later], renamed, changes_a_server }))
}
