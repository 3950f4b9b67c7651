//! D109: the map refuses a later write of a call, after it took the earlier ones.

use crate::check::tools::applied;
use crate::check::tools::running_case::RunningCase;
use crate::check::tools::world::FaultProfile;

/// Writes of a call from this number on, counted from 0, are not refused by themselves.
const WRITES_MAX: usize = 16;

pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if !running.spec.is_world_changing() {
        return Ok(());
    }
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
