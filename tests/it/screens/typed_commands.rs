//! Commands to type next are printed without line breaks, so that they can be copied from the screen.

use serde_json::json;

use crate::support::plans::bookings;
use crate::support::program::latch_command;
use crate::support::terminal::{Terminal, TerminalKind};
use crate::support::test_env::{TestEnv, step};

/// Runs commands in copies of this folder, on terminals narrower than the commands that the screens print.
/// Asserts that each screen shows the listed commands, and all commands in backquotes, without line breaks.
fn assert_commands_unbroken(place: &TestEnv, screens: &[(&str, &[&str])]) {
    let job = place.only_job()["job_id"].as_str().unwrap_or_default().to_owned();
    for (args, commands) in screens {
        for columns in [40, 60] {
            let copy = place.fresh_copy();
            let args = args.replace("JOB", &job);
            let args: Vec<&str> = args.split(' ').collect();
            let output = Terminal::start(latch_command(&copy.dir, &args), columns, TerminalKind::Dumb).wait_for_end();
            // Checks the written bytes, because the terminal wraps longer lines by itself.
            let written = String::from_utf8(output.bytes.clone()).unwrap();
            let new = copy.only_job()["job_id"].as_str().unwrap_or_default().to_owned();
            for command in *commands {
                let command = command.replace("JOB", if job.is_empty() { &new } else { &job });
                assert!(written.lines().any(|line| line.contains(&command)), "{command}, {columns}:\n{written}");
            }
            for line in written.lines().filter(|line| line.contains("`latch ")) {
                assert_eq!(line.matches('`').count() % 2, 0, "{args:?}, {columns}: {line}");
            }
        }
    }
}

/// I132: the commands that continue a job are printed without line breaks, and so are the commands in errors.
#[test]
fn commands_to_type_are_not_broken() {
    let send = step("send-a-message", "Effect.Opaque", &[], json!({ "note": 2 }));
    let mut place = TestEnv::witness("atomic").with_plan(&[send]);
    place.skip_replay_of_many_jobs();
    assert_commands_unbroken(
        &place,
        &[
            ("run plan.json --detach", &["latch job show JOB"]),
            ("run nofile", &["latch explain L0011"]),
            ("call Effect.Opaque {\"note\":1}", &["--effect external_send"]),
        ],
    );
    assert_eq!(place.latch(&["run", "plan.json", "--detach"]).code, 0);
    assert_commands_unbroken(
        &place,
        &[
            ("run plan.json --detach", &["latch job show JOB"]),
            ("job wait JOB --timeout 1ms", &["latch resume JOB", "latch job wait JOB", "latch job show JOB"]),
            ("worker --until-idle", &["latch job approve JOB send-a-message"]),
        ],
    );
    assert_eq!(place.latch(&["worker", "--until-idle"]).code, 0);
    assert_commands_unbroken(
        &place,
        &[
            ("job approve JOB send-a-message", &["latch resume JOB"]),
            ("job output JOB", &["latch job show JOB"]),
            ("job export JOB --out exported-to-a-file-of-some-length.jsonl", &["latch verify exported-to-a-file"]),
        ],
    );
    assert_eq!(place.latch(&["job", "approve", &job_id(&place), "send-a-message"]).code, 0);
    assert_commands_unbroken(&place, &[("job reject JOB send-a-message", &["latch resume JOB"])]);
    assert_eq!(place.latch(&["resume"]).code, 0);
    assert_commands_unbroken(&place, &[("job cancel JOB", &["latch job undo JOB"])]);
}

fn job_id(place: &TestEnv) -> String {
    place.only_job()["job_id"].as_str().expect("an id").to_owned()
}

/// I132: `latch job undo --detach` leaves the undo to a worker. The printed command that shows the job has no line
/// breaks.
#[test]
fn commands_to_type_after_an_undo_are_not_broken() {
    let mut place = TestEnv::undo("atomic");
    place.skip_replay_of_many_jobs();
    let mut steps = bookings::bookings();
    steps.truncate(1);
    bookings::write_plan(&place, "keep", &steps);
    let ran = bookings::run_plan(&place, &[]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    assert_commands_unbroken(&place, &[("job undo JOB --detach", &["latch job show JOB"])]);
}
