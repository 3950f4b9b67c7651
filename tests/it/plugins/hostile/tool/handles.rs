//! Handles of a tool, by kind.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use latchwork_core::model::bounds;
use latchwork_core::model::effect::Answer;
use latchwork_core::model::error::Code;
use latchwork_engine::Plugin;
use latchwork_engine::capability::grants::{DirGrant, Grants};

use crate::plugins::hostile::load;
use crate::plugins::hostile::tool::{
    answers_of, http_grant, invoke_script, minimal_grants, tcp_grant, tool_limits, unwrap_not_applied,
};
use crate::support::plugins::built_guests::guest;
use crate::support::program::{command_output, latch_command};
use crate::support::test_env::{TestEnv, step};

fn load_with_dir(dir: &Path) -> Arc<Plugin> {
    let grant = DirGrant { host: dir.to_owned(), guest: "/d".into(), write: true };
    load("hostile-tool", Grants { dirs: vec![grant], ..minimal_grants() }, tool_limits()).unwrap()
}

/// I221: bounds `open_files`, `directory_streams` and `sockets`. Opening more than a limit allows fails with an error.
/// At the end of a call, the host closes everything that the call still holds.
#[tokio::test]
async fn files_listings_and_sockets_of_a_call_are_limited() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "x").unwrap();
    let plugin = load_with_dir(dir.path());
    for (action, max, error) in [
        (json!({ "open": { "path": "/d/file", "count": 100 } }), bounds::OPEN_FILES, "quota"),
        (json!({ "list": { "path": "/d", "count": 20 } }), bounds::DIRECTORY_STREAMS, "quota"),
        (json!({ "sockets": 100 }), bounds::SOCKETS, "new-socket-limit"),
    ] {
        for _ in 0..2 {
            let answer = &answers_of(&plugin, "World.Change", json!([action])).await[0];
            assert_eq!(answer["made"], json!(max), "{action} {answer}");
            assert!(answer["error"].as_str().is_some_and(|message| message.contains(error)), "{action} {answer}");
        }
    }
    // A file that was closed no longer counts.
    let reads = Value::from(vec![json!({ "read": { "path": "/d/file" } }); bounds::OPEN_FILES + 10]);
    assert!(answers_of(&plugin, "World.Look", reads).await.iter().all(|answer| answer == "x"));
}

/// I239: bound `lookups`. A lookup beyond the limit fails at once, and each lookup counts until the end of the call.
#[tokio::test]
async fn lookups_of_a_call_are_limited() {
    let grants = Grants { tcp: vec![tcp_grant("localhost", 1)], ..minimal_grants() };
    let plugin = load("hostile-tool", grants, tool_limits()).unwrap();
    for _ in 0..2 {
        let actions = json!([{ "lookups": { "host": "localhost", "count": bounds::LOOKUPS + 10 } }]);
        let answer = &answers_of(&plugin, "World.Change", actions).await[0];
        assert_eq!(answer["made"], json!(bounds::LOOKUPS), "{answer}");
        assert!(
            answer["error"].as_str().is_some_and(|message| message.contains("permanent-resolver-failure")),
            "{answer}"
        );
    }
}

/// I239: a tool that waits for more requests to a name than lookups may run at the same time gets all answers.
#[tokio::test]
async fn requests_to_a_name_wait_for_their_lookups() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let grants = Grants { http: vec![http_grant("localhost", closed)], ..minimal_grants() };
    let plugin = load("hostile-tool", grants, tool_limits()).unwrap();
    let count = 2 * bounds::RUNNING_LOOKUPS;
    let url = format!("http://localhost:{closed}/");
    let answer = &answers_of(&plugin, "World.Look", json!([{ "requests": { "url": url, "count": count } }])).await[0];
    let message = answer["error"].as_str().unwrap_or_default();
    assert!(message.contains("ConnectionRefused") || message.contains("DestinationIpProhibited"), "{answer}");
}

/// I221: bound `requests`. The request beyond the limit is not sent. After the call, the next call may again send as
/// many requests.
#[tokio::test]
async fn requests_of_a_call_that_wait_for_an_answer_are_limited() {
    // The operating system accepts connections for a listener that never reads.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let grants = Grants { http: vec![http_grant("127.0.0.1", port)], ..minimal_grants() };
    let plugin = load("hostile-tool", grants, tool_limits()).unwrap();
    let url = format!("http://127.0.0.1:{port}/");
    for _ in 0..2 {
        for (count, is_refused) in [(bounds::REQUESTS, false), (bounds::REQUESTS + 1, true)] {
            let actions = json!([{ "requests": { "url": url, "count": count } }]);
            let answer = &answers_of(&plugin, "World.Look", actions).await[0];
            let is_limit = answer["error"].as_str().is_some_and(|message| message.contains("ConnectionLimitReached"));
            assert_eq!((is_limit, answer == "pending"), (is_refused, !is_refused), "{count} {answer}");
        }
    }
}

/// I221: opening a FIFO would wait for its other end, on a thread of the host that cannot be stopped. The host
/// therefore refuses to open a FIFO.
#[tokio::test]
async fn file_that_is_not_regular_is_not_opened() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = dir.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    std::os::unix::fs::symlink("fifo", dir.path().join("link")).unwrap();
    let plugin = load_with_dir(dir.path());
    let read = json!({ "read": { "path": "/d/fifo" } });
    let write = json!({ "write": { "path": "/d/fifo", "text": "x" } });
    let through_link = json!({ "read": { "path": "/d/link", "follow": true } });
    let actions = json!([read, write, through_link]);
    let answers = answers_of(&plugin, "World.Change", actions).await;
    assert!(
        answers.iter().all(|answer| answer["error"].as_str().is_some_and(|message| message.contains("not-permitted"))),
        "{answers:?}"
    );
}

/// Two paths whose files a thread exchanges all the time. The thread acts like another process.
#[cfg(target_os = "linux")]
struct ExchangedFiles {
    paths: [PathBuf; 2],
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

#[cfg(target_os = "linux")]
impl ExchangedFiles {
    fn start(paths: [PathBuf; 2]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (is_over, [one, two]) = (stop.clone(), paths.clone());
        let exchange = move || {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &one, CWD, &two, RenameFlags::EXCHANGE).unwrap();
            }
        };
        Self { paths, stop, thread: Some(std::thread::spawn(exchange)) }
    }
}

#[cfg(target_os = "linux")]
impl Drop for ExchangedFiles {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(ended.is_none_or(|ended| ended.is_ok()));
        // Opens both ends of the FIFO. A thread of the host that waits for the other end then continues, and ends with
        // this test.
        let both_ends = |path: &PathBuf| std::fs::OpenOptions::new().read(true).write(true).open(path);
        std::mem::forget(self.paths.each_ref().map(both_ends));
    }
}

/// I221: a FIFO takes the place of a file after the host has looked at the file.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn fifo_in_place_of_a_file_holds_no_thread() {
    let dir = tempfile::tempdir().unwrap();
    let [file, fifo] = ["file", "fifo"].map(|name| dir.path().join(name));
    std::fs::write(&file, "x").unwrap();
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let plugin = load_with_dir(dir.path());
    let _exchanged = ExchangedFiles::start([file, fifo]);
    let reads = Value::from(vec![json!({ "read": { "path": "/d/file" } }); 300]);
    let answers = answers_of(&plugin, "World.Look", reads).await;
    let is_refused = |answer: &Value| answer["error"].as_str().is_some_and(|message| message.contains("not-permitted"));
    assert_eq!(answers.len(), 300);
    assert!(answers.iter().all(|answer| answer == "x" || is_refused(answer)), "{answers:?}");
}

/// I221: a tool that opens 4,096 files takes no descriptor that another job needs. This also holds if the process was
/// started with a low limit of descriptors.
#[test]
fn tool_that_opens_many_files_leaves_descriptors_to_other_jobs() {
    let config = format!(
        "[[plugin]]\nname = \"world\"\nsource = {:?}\ngrants = {{ http = [\"http://127.0.0.1:9\"], \
         tcp = [\"127.0.0.1:9\"], dirs = [{{ host = \"data\", guest = \"/data\" }}] }}\n",
        guest("hostile-tool"),
    );
    let open =
        |id: &str| step(id, "World.Look", &[], json!({ "do": [{ "open": { "path": "/data/file", "count": 4096 } }] }));
    let place = TestEnv::configured(&config, vec![]).with_plan(&[open("a"), open("b"), open("c")]);
    std::fs::create_dir(place.dir.join("data")).unwrap();
    std::fs::write(place.dir.join("data/file"), "x").unwrap();
    let latch = latch_command(&place.dir, &place.run_args());
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -S -n 64; exec \"$@\"", "sh"]).arg(latch.get_program()).args(latch.get_args());
    limited.current_dir(&place.dir).envs(latch.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = command_output(limited.output().unwrap());
    assert_eq!((ran.code, &ran.json()["state"]), (0, &json!("COMPLETED")), "{} {}", ran.stdout, ran.stderr);
}

/// I225: bounds `kv_key_bytes` and `kv_value_bytes`.
#[tokio::test]
async fn keys_and_values_of_the_map_are_limited() {
    let plugin = load("hostile-tool", Grants { kv: Some("m".into()), ..minimal_grants() }, tool_limits()).unwrap();
    let set = |key: usize, value: usize| json!({ "kv-set": { "key": "k".repeat(key), "value": "v".repeat(value) } });
    let (key, value) = (bounds::KV_KEY_BYTES, bounds::KV_VALUE_BYTES);
    let sets = json!([set(key, value), set(key + 1, 1), set(1, value + 1)]);
    let answers = answers_of(&plugin, "World.Keep", sets).await;
    assert_eq!(answers[0], json!(true));
    for refused in &answers[1..] {
        assert!(refused["error"].as_str().is_some_and(|message| message.contains("TooLarge")), "{refused}");
    }
}

/// I221: bounds `handles` and `field_bytes`. The table of handles has entries of the host, too.
#[tokio::test]
async fn handles_and_header_fields_are_limited() {
    let plugin = load("hostile-tool", minimal_grants(), tool_limits()).unwrap();
    let most = bounds::HANDLES - 20;
    assert_eq!(answers_of(&plugin, "World.Look", json!([{ "fields": most }])).await[0]["made"], json!(most));
    let end = invoke_script(&plugin, "World.Look", json!([{ "fields": bounds::HANDLES + 1 }])).await;
    assert_eq!(unwrap_not_applied(end).code, Code::PluginTrap);
    let most = bounds::FIELD_BYTES - 200;
    assert_eq!(answers_of(&plugin, "World.Look", json!([{ "field": most }])).await[0], json!(true));
    let end = invoke_script(&plugin, "World.Look", json!([{ "field": bounds::FIELD_BYTES + 1 }])).await;
    let is_refused = match end.answer {
        Answer::Ok(output) => output.result.contains("error"),
        _ => true,
    };
    assert!(is_refused);
}
