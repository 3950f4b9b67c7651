//! D108 and D109: the map refuses all writes of a call, or a later one after it took the earlier ones.

use latchwork_core::model::effect::Answer;

use crate::check::tools::applied;
use crate::check::tools::applied::difference;
use crate::check::tools::fault_profile::FaultProfile;
use crate::check::tools::running_case::{RunningCase, describe_answer};

/// Writes of a call from this number on, counted from 0, are not refused by themselves.
const WRITES_MAX: usize = 16;

pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if !running.spec.is_world_changing() {
        return Ok(());
    }
    check_all_refused(running).await?;
    for number in 1..WRITES_MAX {
        // A tool may take back its earlier writes. Then these have to be as before the call, or the tool reports that the
        // outcome is unknown.
        for and_later in [true, false] {
            let world = running.world()?;
            let before = world.state();
            world.set_faults(FaultProfile::WriteRefused { number, and_later });
            let called = running.call(&world, 0).await;
            if !world.is_map_refused() {
                return Ok(());
            }
            let when = format!("write {} of the call to the map fails", number + 1);
            if applied::check(running, &when, &before, &world, &called.end.answer) {
                return Ok(());
            }
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
    // Beside a server, the map can be a cache.
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
        let shown = describe_answer(&called.end.answer, &world);
        running.add_finding("D108", message).found = Some(shown);
    }
    Ok(())
}
