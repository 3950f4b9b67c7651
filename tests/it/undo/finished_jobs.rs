//! `latch job undo`, with real components, processes and databases.

use serde_json::{Value, json};

use crate::support::plans::bookings::{
    assert_replayable_and_verified, bookings, job_id, run_plan, show_job, write_plan,
};
use crate::support::program::{CommandOutput, latch_command};
use crate::support::test_env::{TestEnv, step};

/// Runs a job that makes three bookings. Returns the environment and the job's id.
fn run_bookings(place: TestEnv) -> (TestEnv, String) {
    let mut steps = bookings();
    steps.truncate(3);
    write_plan(&place, "keep", &steps);
    let ran = run_plan(&place, &[]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    let response = ran.json();
    assert_eq!((&response["state"], &response["next_actions"]), (&json!("COMPLETED"), &json!([])));
    assert_eq!(place.effect_counts().len(), 3);
    (place, job_id(&response))
}

fn undo_job(place: &TestEnv, job: &str, more: &[&str]) -> CommandOutput {
    place.latch(&[&["job", "undo", job, "--json", "--actor", "eve", "--reason", "wrong room"], more].concat())
}

fn assert_all_undone(place: &TestEnv, job: &str, when: &str) {
    let response = show_job(place, job);
    assert_eq!((&response["state"], &response["undone_by"]), (&json!("CANCELLED"), &json!("eve")), "{when}");
    let views = response["compensations"].as_array().expect("a list");
    let slots: Vec<_> = views.iter().map(|view| view["slot"].as_str().unwrap()).collect();
    assert_eq!(slots, ["d/0", "b", "a"], "{when}");
    assert!(views.iter().all(|view| view["state"] == "compensated"), "{when}: {response:#}");
    let world = place.effect_counts();
    assert_eq!(world.len(), 6, "{when}: {world:?}");
    assert!(world.values().all(|times| *times == 1), "{when}: {world:?}");
    assert_replayable_and_verified(place, job, when);
}

fn assert_refused(ran: &CommandOutput, what: &str) {
    assert_eq!(ran.code, 2, "{} {}", ran.stdout, ran.stderr);
    let error = &ran.json()["error"];
    assert_eq!(error["code"], "L0015", "{error:#}");
    assert!(error["message"].as_str().unwrap().contains(what), "{error:#}");
}

/// I155: a completed job can be undone, and every later answer about that job states that it was undone.
#[test]
fn completed_job_is_undone_and_reported_as_undone() {
    let (place, job) = run_bookings(TestEnv::undo("atomic").fresh_copy());
    let ran = undo_job(&place, &job, &[]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("to be undone, the last effect first:"), "{}", ran.stderr);
    assert!(ran.stderr.contains("  b Booking.Make, by Booking.Cancel"), "{}", ran.stderr);
    assert_all_undone(&place, &job, "undone");
    // The same request attaches to the undone job.
    let again = run_plan(&place, &[]);
    let response = again.json();
    assert_eq!((again.code, &response["job_id"], &response["status"]), (1, &json!(job), &json!("cancelled")));
    assert_eq!(response["undone_by"], "eve");
    let text = place.latch(&["job", "show", &job]).stdout;
    assert!(text.contains("the job was undone, as requested by eve"), "{text}");
    assert!(place.latch(&["job", "list", "--state", "CANCELLED"]).stdout.contains(&job));
    let events = place.latch(&["job", "events", &job, "--json"]).json();
    let events = events["events"].as_array().expect("a list");
    let reopened = events.iter().find(|event| event["type"] == "job_reopened").expect("it is there");
    let printed = (&reopened["purpose"], &reopened["actor"], &reopened["reason"], &reopened["schema_version"]);
    assert_eq!(printed, (&json!("undo"), &json!("eve"), &json!("wrong room"), &json!(2)));
    // After the undo the job can only be forked, and the fork waits for approval first.
    assert_refused(&undo_job(&place, &job, &[]), "was already undone");
    assert_refused(&place.latch(&["job", "retry", &job, "--json"]), "CANCELLED");
    assert_eq!(place.latch(&["job", "cancel", &job, "--json"]).code, 2);
    let fork = place.latch(&["job", "fork", &job, "--at", "b", "--json", "--actor", "ada"]).json();
    assert_eq!(fork["blocked_on"]["slot"], "a", "a step of which something was undone is not copied: {fork:#}");
    // The action keys are free, so another job performs the actions again.
    assert_eq!(run_plan(&place, &["--new"]).code, 0);
    assert_eq!(place.effect_counts().values().sum::<u32>(), 9, "{:?}", place.effect_counts());
}

/// I156: an undo of a job that has nothing to undo is refused, and nothing is written.
#[test]
fn undo_of_a_job_without_undoable_effects_is_refused() {
    let place = TestEnv::undo("atomic").fresh_copy();
    write_plan(&place, "keep", &[step("e", "Effect.Opaque", &[], json!({ "note": 2 }))]);
    let job = job_id(&run_plan(&place, &["--approve", "e"]).json());
    let events = || place.latch(&["job", "events", &job, "--json"]).stdout;
    let before = events();
    assert_refused(&undo_job(&place, &job, &[]), "nothing can undo the effects of job");
    write_plan(&place, "keep", &[step("r", "Effect.Read", &[], json!({ "note": 1 }))]);
    let read = job_id(&run_plan(&place, &[]).json());
    assert_refused(&undo_job(&place, &read, &[]), "has no committed effect");
    write_plan(&place, "keep", &bookings());
    let parked = job_id(&run_plan(&place, &[]).json());
    assert_refused(&undo_job(&place, &parked, &[]), &format!("latch job cancel {parked}"));
    let unknown = undo_job(&place, "job_0000000000000000000000000", &[]);
    assert_eq!((unknown.code, &unknown.json()["error"]["code"]), (2, &json!("L0014")));
    assert_eq!(events(), before);
}

/// I155: a stored request to undo a job takes effect even if the process that stored the request dies. The next claim
/// of the job starts the undo. Until then, a retry and a fork are refused, and a cancellation does not replace the
/// undo.
#[test]
fn acknowledged_undo_survives_its_process() {
    let (place, job) = run_bookings(TestEnv::undo("staged").fresh_copy());
    let mut command = latch_command(&place.dir, &["job", "undo", &job, "--json", "--actor", "eve"]);
    let output = command.env("LATCH_CRASH_AT", "inbox_insert:after:1").output().expect("latch runs");
    assert_eq!(output.status.code(), None, "the process was killed");
    let asked = show_job(&place, &job);
    assert_eq!(asked["pending"][0]["asked"], "undo", "{asked:#}");
    assert_eq!(asked["next_actions"], json!([format!("latch resume {job}")]), "{asked:#}");
    assert_replayable_and_verified(&place, &job, "asked for");
    assert_refused(&place.latch(&["job", "retry", &job, "--json"]), "COMPLETED");
    assert_refused(&place.latch(&["job", "fork", &job, "--at", "d", "--json"]), "PENDING");
    assert_eq!(place.effect_counts().len(), 3);
    let cancelled = place.latch(&["job", "cancel", &job, "--json", "--actor", "bob"]);
    assert_eq!(cancelled.code, 0, "{} {}", cancelled.stdout, cancelled.stderr);
    assert_all_undone(&place, &job, "resumed by a cancel");
}

/// I155: each effect is undone once, even if several workers execute the undo or two people request it at the
/// same moment.
#[test]
fn concurrent_undo_requests_undo_each_effect_once() {
    let (place, job) = run_bookings(TestEnv::undo("atomic").fresh_copy());
    let left = undo_job(&place, &job, &["--detach"]);
    let document = left.json();
    assert_eq!((left.code, document["undo"].as_array().map(Vec::len)), (0, Some(3)), "{document:#}");
    assert_eq!(place.effect_counts().len(), 3, "`--detach` undoes nothing itself");
    let listed = place.latch(&["job", "list"]);
    assert!(listed.stdout.contains("being undone"), "{}", listed.stdout);
    let again = undo_job(&place, &job, &["--detach"]);
    assert!(again.code == 0 && again.stderr.contains("is being undone already"), "{}", again.stderr);
    let workers: Vec<_> =
        (0..2).map(|_| latch_command(&place.dir, &["worker", "--until-idle"]).spawn().expect("latch runs")).collect();
    for mut worker in workers {
        assert!(worker.wait().expect("it ends").success());
    }
    assert_all_undone(&place, &job, "by two workers");

    let (place, job) = run_bookings(TestEnv::undo("atomic").fresh_copy());
    let people: Vec<_> = (0..2)
        .map(|_| {
            let mut command = latch_command(&place.dir, &["job", "undo", &job, "--json", "--actor", "eve"]);
            command.stdout(std::process::Stdio::piped()).spawn().expect("latch runs")
        })
        .collect();
    let codes: Vec<_> = people.into_iter().map(|person| person.wait_with_output().expect("it ends")).collect();
    for output in codes {
        // The slower request may find that the job was already undone.
        let printed = String::from_utf8_lossy(&output.stdout);
        let late = output.status.code() == Some(2) && printed.contains("was already undone");
        assert!(output.status.code() == Some(0) || late, "{printed}");
    }
    assert_all_undone(&place, &job, "by two people");
}

/// I155, I38: a failed compensation waits for a person, and the exit code shows that effects are left.
#[test]
fn failed_undo_waits_for_a_person() {
    let (place, job) = run_bookings(TestEnv::undo("atomic").fresh_copy());
    std::fs::write(place.dir.join("switch/closed"), "").unwrap();
    let ran = undo_job(&place, &job, &[]);
    let response = ran.json();
    assert_eq!((ran.code, &response["state"]), (3, &json!("PARKED")), "{response:#}");
    assert_eq!(response["blocked_on"]["reason_code"], "COMPENSATION_FAILED");
    let text = place.latch(&["job", "show", &job]).stdout;
    assert!(text.contains("the job is being undone, as requested by eve"), "{text}");
    assert_replayable_and_verified(&place, &job, "parked");
    let again = undo_job(&place, &job, &[]);
    assert_eq!(again.code, 3, "the job is already being undone: {}", again.stdout);
    assert_eq!(place.latch(&["job", "resolve", &job, "--abort", "--reason", "let it be"]).code, 0);
    let ended = place.latch(&["resume", &job, "--json"]).json();
    assert_eq!((&ended["state"], &ended["undone_by"]), (&json!("CANCELLED"), &json!("eve")));
    let states: Vec<&Value> = ended["compensations"].as_array().unwrap().iter().map(|view| &view["state"]).collect();
    assert_eq!(states, ["left", "left", "left"]);
    assert_eq!(place.effect_counts().len(), 3);
    assert_replayable_and_verified(&place, &job, "given up");
}

/// I158: for the configured time, `plugin prune` keeps the components that an undo of a completed job needs. Without
/// these components an undo is refused, and the job stays unchanged.
#[test]
fn prune_keeps_the_components_of_jobs_that_can_be_undone() {
    let place = TestEnv::undo("atomic").fresh_copy();
    let file = place.dir.join("latch.toml");
    let config = std::fs::read_to_string(&file).expect("readable");
    let source = config.lines().filter_map(|line| line.strip_prefix("source = ")).nth(1).expect("three plugins");
    let component = place.dir.join("tool.wasm");
    std::fs::copy(source.trim_matches('"'), &component).expect("copied");
    std::fs::write(&file, config.replace(source, "\"tool.wasm\"")).expect("writable");
    let (place, job) = run_bookings(place);
    // From here on, another version of the plugin is configured. The new version differs only by a custom section.
    let mut bytes = std::fs::read(&component).expect("readable");
    bytes.extend_from_slice(&[0, 5, 4, b'n', b'o', b't', b'e']);
    std::fs::write(&component, bytes).expect("writable");
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    let pruned = |keep: &str| {
        for entry in std::fs::read_dir(place.dir.join(".latch/components")).expect("there") {
            let path = entry.expect("readable").path();
            std::fs::File::options().write(true).open(path).expect("opened").set_modified(old).expect("set");
        }
        let text = std::fs::read_to_string(&file).expect("readable");
        let text = text.lines().filter(|line| !line.starts_with("keep_undoable")).collect::<Vec<_>>().join("\n");
        std::fs::write(&file, format!("{keep}\n{text}")).expect("writable");
        let ran = place.latch(&["plugin", "prune", "--json"]);
        assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
        ran.json()["pruned"].as_array().expect("a list").len()
    };
    assert_eq!(pruned(""), 0, "30 days are the default");
    let template = place.fresh_copy();
    assert_eq!(undo_job(&template, &job, &[]).code, 0, "the pinned version is available");
    assert_all_undone(&template, &job, "with the pinned version");
    assert_eq!(pruned("keep_undoable = \"0s\""), 1);
    let missing = undo_job(&place, &job, &[]);
    assert_eq!((missing.code, &missing.json()["error"]["code"]), (2, &json!("L0020")), "{}", missing.stdout);
    assert_eq!((&show_job(&place, &job)["state"], place.effect_counts().len()), (&json!("COMPLETED"), 3));
    // A key of the configuration with a spelling mistake is refused, and the error suggests the known key with a
    // similar name.
    std::fs::write(&file, format!("keep_undoabel = \"1day\"\n{config}")).expect("writable");
    let wrong = place.latch(&["doctor"]);
    assert!(
        wrong.code == 1 && wrong.stdout.contains("did you mean `keep_undoable`?"),
        "{} {}",
        wrong.stdout,
        wrong.stderr
    );
    std::fs::write(&file, config).expect("writable");
}
