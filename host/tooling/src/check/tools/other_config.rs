//! D109: the plugin's configuration has a value of another type. A call that fails for it must have changed nothing, or must
//! say that it may have changed something.

use serde_json::{Value, json};

use crate::check::tools::applied;
use crate::check::tools::running_case::RunningCase;

/// Calls the tool with configurations that have a value of one type for each text of the sources. One of the texts is the
/// name of each value that the plugin reads.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    let names = running.tools.known.texts();
    if running.case.error.is_some() || !running.spec.is_world_changing() || names.is_empty() {
        return Ok(());
    }
    for (what, value) in values() {
        let mut world = running.world()?;
        world.configure(names, &value);
        let before = world.state();
        let called = running.calling(running.case, &world, running.context(0), false).await;
        let when = format!("with {what} for each value of its configuration");
        if applied::check(running, &when, &before, &world, &called.end.answer) {
            break;
        }
    }
    Ok(())
}

/// Returns a value of each type.
fn values() -> [(&'static str, Value); 6] {
    [
        ("the number 4", json!(4)),
        ("the number -1", json!(-1)),
        ("a text", json!("x")),
        ("an empty text", json!("")),
        ("a list", json!([])),
        ("an object", json!({})),
    ]
}
