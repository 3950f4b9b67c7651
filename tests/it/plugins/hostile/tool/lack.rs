//! Calls of tools for which the machine lacks descriptors.

use std::process::Command;

use serde_json::json;

use crate::support::plugins::built_guests::guest;
use crate::support::program::{command_output, latch_command};
use crate::support::test_env::{TestEnv, step};

/// Descriptors of a process that can run a job of one tool, but has too few for 60 files, sockets or requests more.
const DESCRIPTORS: u32 = 60;

/// I245: a lack of descriptors is no answer of the tool. The tool of this test handles every error and answers, but the
/// call is tried again, and then its job parks.
#[test]
fn lack_of_descriptors_is_a_fault_of_the_machine() {
    // The operating system accepts connections for a listener that never reads.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://127.0.0.1:{}", silent.local_addr().unwrap().port());
    let config = format!(
        "[[plugin]]\nname = \"world\"\nsource = {:?}\ngrants = {{ http = [{url:?}], tcp = [\"127.0.0.1:9\"], \
         dirs = [{{ host = \"data\", guest = \"/data\" }}] }}\n",
        guest("hostile-tool"),
    );
    let (open, sockets) = (json!({ "open": { "path": "/data/file", "count": 60 } }), json!({ "sockets": 60 }));
    let requests = json!({ "requests": { "url": format!("{url}/"), "count": 31 } });
    let list = json!({ "list": { "path": "/data", "count": 1 } });
    for actions in [json!([open]), json!([sockets]), json!([open, list]), json!([sockets, requests])] {
        let look = step("a", "World.Look", &[], json!({ "do": actions }));
        let place = TestEnv::configured(&config, vec![]).with_plan(&[look]);
        std::fs::create_dir(place.dir.join("data")).unwrap();
        std::fs::write(place.dir.join("data/file"), "x").unwrap();
        let latch = latch_command(&place.dir, &place.run_args());
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -n \"$0\"; exec \"$@\"", &DESCRIPTORS.to_string()]);
        limited.arg(latch.get_program()).args(latch.get_args());
        limited.current_dir(&place.dir).envs(latch.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ran = command_output(limited.output().unwrap());
        let printed = format!("{actions}: {} {} {}", ran.code, ran.stdout, ran.stderr);
        let answer = ran.json();
        let state = (&answer["state"], &answer["blocked_on"]["reason_code"]);
        assert_eq!(state, (&json!("PARKED"), &json!("MACHINE_FAULT")), "{printed}");
        assert!(ran.stderr.matches("next try in").count() == 3 && !ran.stdout.contains("made"), "{printed}");
        // The machine has enough descriptors again.
        let job = answer["job_id"].as_str().expect("an id");
        assert_eq!(place.latch(&["job", "resolve", job, "--continue"]).code, 0, "{printed}");
        assert_eq!(place.latch(&["resume", job, "--json"]).json()["state"], json!("COMPLETED"), "{printed}");
    }
}
