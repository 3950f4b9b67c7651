//! Detached jobs that fetch from a server of the test.

use serde_json::{Value, json};

use crate::support::checkout;
use crate::support::program::CommandOutput;
use crate::support::servers::http::TestServer;
use crate::support::test_env::{TestEnv, build_plugin, step};

/// Creates an environment with a tool that fetches from the server, with these lines at the top of the
/// configuration.
pub(crate) fn env_with_fetch_tool(server: &TestServer, lines: &str) -> TestEnv {
    let root = checkout::copy();
    let config = format!(
        "{lines}\n[[plugin]]\nname = \"web\"\nsource = {:?}\ngrants = {{ http = [\"http://127.0.0.1:{}\"] }}\n\
         [[plugin]]\nname = \"witness-step\"\nsource = {:?}\n",
        build_plugin(&root.join("example-plugins/web-fetch-rust")),
        server.port,
        build_plugin(&root.join("tests/guests-effects/witness-step")),
    );
    let place = TestEnv::configured(&config, vec![]);
    let listed = place.latch(&["plugin", "list", "--json"]);
    assert_eq!(listed.code, 0, "{} {}", listed.stdout, listed.stderr);
    place
}

pub(crate) fn fetch_step(id: &str, depends_on: &[&str], url: String) -> Value {
    let mut step = step(id, "Web.Fetch", depends_on, json!({ "url": url }));
    step["effects"] = json!(["read_only"]);
    step
}

pub(crate) fn write_plan(place: &TestEnv, steps: &[Value]) {
    let plan = json!({ "plan_id": "p", "schema_version": "1.0", "steps": steps });
    std::fs::write(place.dir.join("plan.json"), plan.to_string()).expect("writable");
}

pub(crate) fn run_detached(place: &TestEnv, more: &[&str]) -> CommandOutput {
    place.latch(&[&["run", "plan.json", "--json", "--actor", "ada", "--detach"], more].concat())
}

pub(crate) fn submit_detached(place: &TestEnv, more: &[&str]) -> String {
    let ran = run_detached(place, more);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    assert_eq!(ran.json()["state"], "PENDING");
    ran.json()["job_id"].as_str().expect("an id").to_owned()
}

pub(crate) fn show_job(place: &TestEnv, job: &str) -> Value {
    place.latch(&["job", "show", job, "--json"]).json()
}
