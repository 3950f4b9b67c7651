//! A worker that is suspended in the middle of a request, while another worker completes its job.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::cuts::through;
use super::live::a_database;
use super::live_call::until;
use super::proxy::Proxy;
use crate::place::Place;
use crate::stopped::{go_on, is_stopped};
use crate::witness::Witness;
use crate::workers::{Working, detached, events, until_over, worker};

/// Returns a body size of more than twice the kernel's largest send buffer, so that half of the body cannot
/// be sent without a reader.
fn more_than_fits() -> usize {
    let sizes = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_wmem").expect("Linux says it");
    let most: usize = sizes.split_whitespace().last().and_then(|most| most.parse().ok()).expect("a number");
    2 * (most + (2 << 20))
}

fn shown(place: &Place, job: &str) -> Value {
    place.latch(&["job", "show", job, "--json"]).json()
}

/// Returns the job's document and events.
fn record(place: &Place, job: &str) -> (Value, Vec<Value>) {
    (shown(place, job), events(place, job))
}

/// I1, I14, I46, I111: a worker is suspended while it sends a request. After the call's timeout and the lease
/// have passed, the call is in doubt. A person resolves it as not applied, as the witness shows, and another
/// worker repeats the call. When the first worker continues, its request could be read again and no server
/// reports the lost job. It must neither send the rest of the request nor write anything.
#[test]
fn a_worker_that_stands_still_in_a_half_sent_request_does_not_complete_it() {
    let Some(url) = a_database() else { return };
    let witness = Witness::start();
    let lease = "lease = \"2s\"\nheartbeat = \"500ms\"\nclock_margin = \"200ms\"";
    let place = witness.place("atomic", "limits = { timeout = \"6s\" }").on_server(&url).configure_first(lease);
    let place = place.plan(&[witness.step("o", "Post.Opaque", &[], 1, more_than_fits())]).approved(vec!["o"]);
    let job = detached(&place);
    witness.stall();
    let cuts = Arc::new(AtomicBool::new(false));
    let is = cuts.clone();
    let proxy = Proxy::start(&url, move |_| is.load(Ordering::SeqCst));
    let mut first = through(&place, &proxy);
    witness.until_halfway();
    kill_process(Pid::from_child(&first.child), Signal::STOP).expect("it is there");
    until("the worker is suspended", || is_stopped(&first.child));

    // The second worker simulates another machine, so it does not wait for locks in this machine's state
    // directory.
    let place = place.configure_first("state_dir = \".elsewhere\"");
    let second = Working::start(&place, worker(&place, &[]));
    until("the call is in doubt", || shown(&place, &job)["state"] == "PARKED");
    let parked = shown(&place, &job);
    assert_eq!(
        (&parked["blocked_on"]["reason_code"], &parked["blocked_on"]["slot"]),
        (&json!("INDETERMINATE_EFFECT"), &json!("o")),
        "{parked:#}"
    );
    assert_eq!(witness.whole(&job), [], "no complete body was received");
    let resolved = place.resolve(&job, "o", None);
    assert_eq!(resolved.code, 0, "{} {}", resolved.stdout, resolved.stderr);
    assert_eq!(until_over(&place, "the second worker calls again"), 0);
    let before = record(&place, &job);
    assert_eq!(before.0["state"], "COMPLETED", "{:#}", before.0);
    assert_eq!(witness.whole(&job).len(), 1, "the body of the second worker");
    assert_eq!(witness.broken(), 0, "the first request is still open");

    cuts.store(true, Ordering::SeqCst);
    witness.go_on();
    go_on(&first.child);
    witness.until_over(2);
    assert_eq!(
        (witness.whole(&job).len(), witness.broken()),
        (1, 1),
        "the worker's own clock stops the call: {}",
        first.notes()
    );
    cuts.store(false, Ordering::SeqCst);
    first.until_idle();
    let (notes, (code, tally)) = (first.notes(), first.stop());
    assert_eq!((code, &tally["lost"]), (Some(0), &json!(1)), "{tally} {notes}");
    let bodies = witness.whole(&job);
    assert_eq!((bodies.len(), bodies[0].text.as_str(), witness.broken()), (1, "1", 1), "{notes}");
    assert_eq!(record(&place, &job), before, "the first worker wrote after its lease had expired: {notes}");
    let (code, tally) = second.stop();
    assert_eq!((code, &tally["failed"]), (Some(0), &json!(0)), "{tally}");
}
