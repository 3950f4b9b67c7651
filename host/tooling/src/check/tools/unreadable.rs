//! D118: a call replaces an entry that it cannot read. `compensate` cannot put the earlier contents back then, so it must
//! not delete the entry.

use latchwork_core::model::effect::Answer;

use crate::check::tools::compensation::{compensate, report};
use crate::check::tools::fault_profile::FaultProfile;
use crate::check::tools::running_case::RunningCase;
use crate::check::tools::world::World;

/// Contents that are no text. Another version of the plugin can have written them.
const NO_TEXT: &[u8] = b"\xff\xfe\xff";
/// Maximum number of reads of a call that are made to fail, one read in each run.
const READS_MAX: usize = 8;

/// Makes and undoes the call in worlds with earlier entries that are no text, or whose reads fail.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    // The entries of a tool with a server can be a cache.
    if !running.is_undo_open() || !running.case.http.is_empty() {
        return Ok(());
    }
    for is_second in [false, true] {
        let world = running.earlier_world(is_second).await?;
        world.replace_all(NO_TEXT)?;
        if is_lost(running, &world, "was no text").await {
            return Ok(());
        }
    }
    for is_second in [false, true] {
        for number in 0..READS_MAX {
            let world = running.earlier_world(is_second).await?;
            world.set_faults(FaultProfile::ReadRefused(number));
            if is_lost(running, &world, "could not be read").await {
                return Ok(());
            }
            if !world.is_map_refused() {
                break;
            }
        }
    }
    Ok(())
}

/// Makes the call and undoes it after the faults have ended. Returns true if there is a finding: an entry from before the
/// call no longer exists, although the call is reported as undone.
async fn is_lost(running: &mut RunningCase<'_>, world: &World, what: &str) -> bool {
    let before = world.state();
    let Answer::Ok(done) = running.call(world, 0).await.end.answer else { return false };
    let after = world.state();
    world.set_faults(FaultProfile::Fair);
    let answer = compensate(running, world, &done).await;
    let undone = world.state();
    let is_replaced = |name: &String| after.contains_key(name) && after.get(name) != before.get(name);
    let is_gone = |name: &&String| is_replaced(name) && !undone.contains_key(*name);
    let (Answer::Ok(_), Some(lost)) = (&answer, before.keys().find(is_gone)) else { return false };
    let message = format!("{lost} {what} before the call, which replaced it, and compensate deletes it");
    report(running, message, &answer, world, "let the call fail if it cannot keep what it replaces");
    true
}
