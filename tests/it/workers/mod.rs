//! The command `latch worker`.

mod greedy;
mod limits;
mod missing_plugin;
mod queue;
mod stopping;

use std::process::{Child, Stdio};

use crate::support::program::{CommandOutput, command_output, latch_command};
use crate::support::running_worker::RunningWorker;
use crate::support::servers::http::TestServer;
use crate::support::test_env::TestEnv;
use crate::support::waiting::wait_until;

/// Returns the requested paths in order.
fn requested_paths(server: &TestServer) -> Vec<String> {
    server.requests().iter().filter_map(|asked| asked.line.split(' ').nth(1).map(str::to_owned)).collect()
}

fn start_worker(place: &TestEnv, args: &[&str]) -> Child {
    let mut command = latch_command(&place.dir, &[&["worker", "--json"], args].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("latch runs")
}

fn output_of_ended(child: Child) -> CommandOutput {
    command_output(child.wait_with_output().expect("it ends"))
}

/// Waits until the worker has received its first SIGTERM.
fn wait_until_stopping(worker: &RunningWorker) {
    wait_until("the worker has received the signal", || {
        worker.messages().contains("stopping: calls in flight end first")
    });
}

fn event_types(place: &TestEnv, job: &str) -> Vec<String> {
    let all = place.latch(&["job", "events", job, "--json"]).json()["events"].clone();
    all.as_array().expect("a list").iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}
