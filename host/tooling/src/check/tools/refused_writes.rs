//! D108 and D109: the map refuses all writes of a call, it accepts the first writes and refuses a later one, or its answer
//! to a write is lost.

use latchwork_core::model::effect::Answer;

use crate::check::tools::applied;
use crate::check::tools::applied::difference;
use crate::check::tools::fault_profile::FaultProfile;
use crate::check::tools::running_case::{RunningCase, describe_answer};
use crate::check::tools::world::World;

/// Number of writes of a call at which a run begins to refuse writes.
const WRITES_MAX: usize = 16;

pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if !running.spec.is_world_changing() {
        return Ok(());
    }
    check_all_refused(running).await?;
    check_lost_answers(running).await?;
    check_single_refused(running).await?;
    for number in 0..WRITES_MAX {
        // After a refused write, a tool may take back its earlier writes. Later writes therefore fail in one run and
        // succeed in another run. If the entries are not as before the call, the tool must report that the outcome is
        // unknown.
        for and_later in [true, false] {
            let world = running.world()?;
            let before = world.state();
            world.set_faults(FaultProfile::WriteRefused { number, and_later });
            let called = running.call(&world, 0).await;
            if !world.is_map_refused() {
                return Ok(());
            }
            let when = format!("write {} of the call to the map fails", number + 1);
            let requests = world.received();
            if applied::check(running, &when, &before, &world, &called.end.answer)
                || applied::check_requests(running, &when, &requests, &world, &called.end.answer)
            {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// D108: one change of a call that uses no server is refused. If the call succeeds, it must have made all of its changes.
async fn check_single_refused(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    let world = running.world()?;
    let before = world.state();
    let called = running.call(&world, 0).await;
    if !running.case.http.is_empty() || !matches!(called.end.answer, Answer::Ok(_)) {
        return Ok(());
    }
    let usual = world.state();
    for faults in single_changes(&world, WRITES_MAX) {
        for fault in faults {
            let world = running.world()?;
            world.set_faults(fault);
            let called = running.call(&world, 0).await;
            if !world.is_map_refused() && !world.is_folder_refused() {
                break;
            }
            let state = world.state();
            let is_missing = |name: &&String| {
                let [before, usual, found] = [&before, &usual, &state].map(|state| state.get(*name));
                usual != before && found == before
            };
            let is_lost = |name: &&String| usual.contains_key(*name) && !state.contains_key(*name);
            let missing = usual.keys().find(is_missing).or_else(|| before.keys().find(is_lost));
            if let (Answer::Ok(_), Some(name)) = (&called.end.answer, missing) {
                let what = describe_change(fault, "the call");
                let message =
                    format!("{what} fails, and the tool reports success, but {name} is not as after the call");
                let displayed = describe_answer(&called.end.answer, &world);
                let finding = running.add_finding("D108", message);
                finding.found = Some(displayed);
                finding.hint =
                    Some("return the error of a write, with `applied` as unknown after an earlier one".to_owned());
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Returns the faults that refuse one change of the map, and those that refuse one change of the folders, if there are
/// folders.
pub(super) fn single_changes(world: &World, max: usize) -> [Vec<FaultProfile>; 2] {
    let map = (0..max).map(|number| FaultProfile::WriteRefused { number, and_later: false });
    let folders = if world.folders().next().is_some() { max as u32 } else { 0 };
    [map.collect(), (0..folders).map(FaultProfile::FolderChangeRefused).collect()]
}

/// Describes the change that a fault refuses.
pub(super) fn describe_change(fault: FaultProfile, of: &str) -> String {
    match fault {
        FaultProfile::WriteRefused { number, .. } => format!("write {} of {of} to the map", number + 1),
        FaultProfile::FolderChangeRefused(number) => format!("change {} of {of} to its folders", number + 1),
        _ => format!("a change of {of}"),
    }
}

/// D109: after a failed write, the entry may have been written.
async fn check_lost_answers(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    for number in 0..WRITES_MAX {
        let world = running.world()?;
        let before = world.state();
        world.set_faults(FaultProfile::WriteUnanswered(number));
        let called = running.call(&world, 0).await;
        if !world.is_map_refused() {
            break;
        }
        let when = format!("write {} of the call to the map is made but its answer is lost", number + 1);
        if applied::check(running, &when, &before, &world, &called.end.answer) {
            break;
        }
    }
    Ok(())
}

/// D108: a call that changes the map alone cannot succeed without a write.
async fn check_all_refused(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    let world = running.world()?;
    let before = world.state();
    let called = running.call(&world, 0).await;
    let is_changed = difference(&before, &world.state()).is_some() && matches!(called.end.answer, Answer::Ok(_));
    // A tool that uses a server may use the map only as a cache. Its call can succeed without a write to the map.
    if !is_changed || !running.case.http.is_empty() {
        return Ok(());
    }
    let world = running.world()?;
    world.set_faults(FaultProfile::WriteRefused { number: 0, and_later: true });
    let called = running.call(&world, 0).await;
    if world.is_map_refused()
        && difference(&before, &world.state()).is_none()
        && matches!(called.end.answer, Answer::Ok(_))
    {
        let message = "every write of the call to the map fails, but the tool reports that its effect took place";
        let displayed = describe_answer(&called.end.answer, &world);
        running.add_finding("D108", message).found = Some(displayed);
    }
    Ok(())
}
