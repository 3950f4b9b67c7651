//! D109: another operator of the plugin changes the map during a call. A call that then reports no change must have
//! left none.

use latchwork_core::model::effect::Answer;

use crate::check::tools::applied;
use crate::check::tools::case::ToolCase;
use crate::check::tools::case_map::Access;
use crate::check::tools::fault_profile::FaultProfile;
use crate::check::tools::readers::{call_other, changing_others};
use crate::check::tools::running_case::RunningCase;
use crate::check::tools::world::World;

/// Number of reads of a call. Another operator is called before each of these reads except the first one.
const READS_MAX: usize = 8;
/// Maximum number of cases of other operators.
const OTHERS_MAX: usize = 4;

/// Calls another operator before each read of the call except the first read. The call's writes after this read succeed
/// in one run and fail in another run.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if running.case.error.is_some() || !running.spec.is_world_changing() {
        return Ok(());
    }
    for other in changing_others(running, &running.case.input).iter().take(OTHERS_MAX) {
        let alone = running.world()?;
        if !call_other(running, &alone, other).await {
            continue;
        }
        let alone = alone.state();
        for read in 1..READS_MAX {
            for is_refused in [false, true] {
                let world = running.world()?;
                let Some(answer) = interrupted_by(running, &world, (read, is_refused), other).await else {
                    return Ok(());
                };
                let then = if is_refused { ", and each later write fails" } else { "" };
                let when = format!("{} is called before read {} of the call{then}", other.operator, read + 1);
                if applied::check(running, &when, &alone, &world, &answer) {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// Makes the call of the case, and calls the other operator before the read with this number. Returns `None` if the
/// call makes fewer reads.
async fn interrupted_by(
    running: &RunningCase<'_>,
    world: &World,
    (read, is_refused): (usize, bool),
    other: &ToolCase,
) -> Option<Answer> {
    let paused = world.pause_before(Access::Read(read));
    let mut call = std::pin::pin!(running.calling(running.case, world, running.context(0), false));
    tokio::select! {
        biased;
        reached = paused.reached => reached.ok()?,
        _ = &mut call => return None,
    }
    call_other(running, world, other).await;
    if is_refused {
        world.set_faults(FaultProfile::WriteRefused { number: 0, and_later: true });
    }
    // The call waits for this message.
    let _ = paused.resume.send(());
    Some(call.await.end.answer)
}
