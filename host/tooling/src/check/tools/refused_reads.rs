//! D108 and D109: the map does not answer a read of a call. The call must not treat the entry as missing. After its first
//! change, it must not report that it changed nothing.

use latchwork_core::model::effect::Answer;

use crate::check::tools::applied;
use crate::check::tools::applied::difference;
use crate::check::tools::fault_profile::FaultProfile;
use crate::check::tools::running_case::{RunningCase, describe_answer};

/// Maximum number of reads of a call that are made to fail, one read in each run.
const READS_MAX: usize = 8;

pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if running.case.error.is_some() || !running.spec.is_world_changing() {
        return Ok(());
    }
    let world = running.world()?;
    if !matches!(running.call(&world, 0).await.end.answer, Answer::Ok(_)) {
        return Ok(());
    }
    let usual = world.contents();
    for number in 0..READS_MAX {
        let world = running.world()?;
        let before = world.state();
        world.set_faults(FaultProfile::ReadRefused(number));
        let called = running.call(&world, 0).await;
        if !world.is_map_refused() {
            return Ok(());
        }
        let when = format!("read {} of the map fails", number + 1);
        let requests = world.received();
        if applied::check(running, &when, &before, &world, &called.end.answer)
            || applied::check_requests(running, &when, &requests, &world, &called.end.answer)
        {
            return Ok(());
        }
        // The entries of a tool with a server can be a cache.
        let is_cache = !running.case.http.is_empty();
        if is_cache || !matches!(called.end.answer, Answer::Ok(_)) || difference(&before, &world.state()).is_none() {
            continue;
        }
        // A read that changes nothing of the effect can be one for a log. Entries with other names can have random ones.
        let other =
            world.contents().into_iter().find(|(name, value)| usual.get(name).is_some_and(|usual| usual != value));
        if let Some((name, _)) = other {
            let message = format!("{when}, and the call writes other contents into {name} and succeeds");
            let displayed = describe_answer(&called.end.answer, &world);
            let finding = running.add_finding("D108", message);
            finding.found = Some(displayed);
            finding.hint = Some("return the error of a read, and write nothing".to_owned());
            return Ok(());
        }
    }
    Ok(())
}
