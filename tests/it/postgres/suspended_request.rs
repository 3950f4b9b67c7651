//! A worker that is suspended in the middle of a request, while another worker completes its job.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::database::blocking_database;
use crate::support::running_worker::{
    RunningWorker, events_of, resolve_until_over, submit_detached, worker_command, worker_through,
};
use crate::support::servers::postgres::proxy::Proxy;
use crate::support::servers::witness::Witness;
use crate::support::suspension::{continue_process, is_suspended};
use crate::support::test_env::TestEnv;
use crate::support::waiting::wait_until;

/// Returns a body size of more than twice the kernel's largest send buffer. Even half of the body can then be sent only
/// while the server reads.
fn body_larger_than_send_buffer() -> usize {
    let sizes = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_wmem").expect("Linux says it");
    let most: usize = sizes.split_whitespace().last().and_then(|most| most.parse().ok()).expect("a number");
    2 * (most + (2 << 20))
}

fn show_job(place: &TestEnv, job: &str) -> Value {
    place.latch(&["job", "show", job, "--json"]).json()
}

/// Returns the job's document and events.
fn recorded_state(place: &TestEnv, job: &str) -> (Value, Vec<Value>) {
    (show_job(place, job), events_of(place, job))
}

/// I1, I14, I46, I111, I175: a worker that is suspended in the middle of sending a request does not complete the
/// request after the lease has expired. The suspension lasts until the call's timeout and the lease have passed. The
/// call is then in doubt. The witness has received no complete body, so a person resolves the call as not applied, and
/// another worker repeats it.
///
/// Then the first worker continues, and the witness resumes reading the half-sent request. The database cannot report
/// the lost lease, because the proxy has cut the first worker's database connections. The first worker must neither
/// send the rest of the request nor write to the database.
#[test]
fn suspended_worker_does_not_complete_a_half_sent_request() {
    let Some(url) = blocking_database() else { return };
    let witness = Witness::start();
    let lease = "lease = \"2s\"\nheartbeat = \"500ms\"\nclock_margin = \"200ms\"";
    let place = witness.env("atomic", "limits = { timeout = \"6s\" }").with_database(&url).configure_first(lease);
    let place = place
        .with_plan(&[witness.step("o", "Post.Opaque", &[], 1, body_larger_than_send_buffer())])
        .with_approved(vec!["o"]);
    let job = submit_detached(&place);
    witness.stall_next_body();
    let cuts = Arc::new(AtomicBool::new(false));
    let is = cuts.clone();
    let proxy = Proxy::start(&url, move |_| is.load(Ordering::SeqCst));
    let mut first = worker_through(&place, &proxy);
    witness.wait_until_halfway();
    kill_process(Pid::from_child(&first.child), Signal::STOP).expect("it is there");
    wait_until("the worker is suspended", || is_suspended(&first.child));

    // The second worker has another state directory, as on another machine. This worker therefore does not wait for the
    // locks in the first worker's state directory.
    let place = place.configure_first("state_dir = \".elsewhere\"");
    let second = RunningWorker::start(&place, worker_command(&place, &[]));
    wait_until("the call is in doubt", || show_job(&place, &job)["state"] == "PARKED");
    let parked = show_job(&place, &job);
    assert_eq!(
        (&parked["blocked_on"]["reason_code"], &parked["blocked_on"]["slot"]),
        (&json!("INDETERMINATE_EFFECT"), &json!("o")),
        "{parked:#}"
    );
    assert_eq!(witness.bodies_of_job(&job), [], "no complete body was received");
    let resolved = place.resolve(&job, "o", None);
    assert_eq!(resolved.code, 0, "{} {}", resolved.stdout, resolved.stderr);
    assert_eq!(resolve_until_over(&place, "the second worker calls again"), 0);
    let before = recorded_state(&place, &job);
    assert_eq!(before.0["state"], "COMPLETED", "{:#}", before.0);
    assert_eq!(witness.bodies_of_job(&job).len(), 1, "the body of the second worker");
    assert_eq!(witness.broken_count(), 0, "the first request is still open");

    cuts.store(true, Ordering::SeqCst);
    witness.continue_reading();
    continue_process(&first.child);
    witness.wait_for_bodies(2);
    assert_eq!(
        (witness.bodies_of_job(&job).len(), witness.broken_count()),
        (1, 1),
        "the worker's own clock stops the call: {}",
        first.messages()
    );
    cuts.store(false, Ordering::SeqCst);
    first.wait_until_idle();
    let (notes, (code, tally)) = (first.messages(), first.stop());
    assert_eq!((code, &tally["lost"]), (Some(0), &json!(1)), "{tally} {notes}");
    let bodies = witness.bodies_of_job(&job);
    assert_eq!((bodies.len(), bodies[0].text.as_str(), witness.broken_count()), (1, "1", 1), "{notes}");
    assert_eq!(recorded_state(&place, &job), before, "the first worker wrote after its lease had expired: {notes}");
    let (code, tally) = second.stop();
    assert_eq!((code, &tally["failed"]), (Some(0), &json!(0)), "{tally}");
}
