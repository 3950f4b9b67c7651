//! A person resolves a call in doubt before and after its settling time.

use serde_json::json;

use crate::support::plugins::component_builder::{ComponentSpec, OperatorSpec, VALID_OPERATOR, VALID_TOOL};
use crate::support::test_env::{TestEnv, step};

/// Operator of a tool. Each call of the operator calls `set` of `kv` and then traps, so the call is in doubt. The
/// settling time is eight seconds.
const SLOW_SETTLING: OperatorSpec =
    OperatorSpec { name: "Made.Send", effects: &[4], settling: 8_000, ..VALID_OPERATOR };
const CALLS: &[(&str, &str, &str)] = &[("invoke", "latchwork:plugin/kv@0.1.0", "set")];

/// I46: a call in doubt cannot be resolved before its settling time has passed.
#[test]
fn resolution_is_refused_before_the_settling_time() {
    let place = TestEnv::configured(
        "[[plugin]]\nname = \"made\"\nsource = \"made.wasm\"\ngrants = { kv = \"made\" }\n",
        vec!["s"],
    );
    let made = ComponentSpec { operators: &[SLOW_SETTLING], calls: CALLS, ..VALID_TOOL };
    std::fs::write(place.dir.join("made.wasm"), made.build_component()).expect("writable");
    let place = place.with_plan(&[step("s", "Made.Send", &[], json!({}))]);
    let parked = place.latch(&place.run_args());
    assert_eq!(parked.code, 3, "{} {}", parked.stdout, parked.stderr);
    let response = parked.json();
    let id = response["job_id"].as_str().expect("an id");
    assert_eq!(response["blocked_on"]["reason_code"], "INDETERMINATE_EFFECT", "{response:#}");
    let resolve = || place.latch(&["job", "resolve", id, "s", "--abort", "--reason", "looked", "--json"]);
    let refused = resolve();
    assert_eq!(refused.code, 2, "{} {}", refused.stdout, refused.stderr);
    let error = &refused.json()["error"];
    assert_eq!(error["code"], "L0015", "{error:#}");
    let message = error["message"].as_str().expect("a text");
    assert!(message.contains("ms to show") && message.contains("check the external system again then"), "{message}");
    let mut taken = refused;
    for _ in 0..100 {
        std::thread::sleep(std::time::Duration::from_millis(200));
        taken = resolve();
        if taken.code == 0 {
            break;
        }
    }
    assert_eq!(taken.code, 0, "{} {}", taken.stdout, taken.stderr);
    let failed = place.latch(&["resume", id, "--json"]).json();
    assert_eq!((&failed["state"], &failed["failed"][0]["reason_code"]), (&json!("FAILED"), &json!("INVOCATION_LOST")));
    let unknown = place.latch(&["job", "resolve", id, "nothing", "--abort"]);
    assert!(
        unknown.code == 2 && unknown.stderr.contains("no call at this slot"),
        "{} {}",
        unknown.stdout,
        unknown.stderr
    );
}
