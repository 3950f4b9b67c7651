//! Step plugins built by ordinary toolchains without Latchwork: stock Python, both JavaScript engines, and
//! Rust with its standard library. They import all of WASI. The sources are in `tests/guests-stock`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use serde_json::{Value, json};

use latchwork_core::model::ids::Hash;

use crate::support::checkout;
use crate::support::program::target_dir;
use crate::support::test_env::{TestEnv, step};

/// Build tools, at versions that are known to build the guests.
const PYTHON: &str = "componentize-py==0.25.1";
const SCRIPT: [&str; 2] = ["componentize-qjs@0.4.5", "@bytecodealliance/componentize-js@0.23.0"];
/// Variable that `.ci/run` sets if these tests must not be skipped.
const REQUIRED: &str = "LATCH_GUEST_TOOLS_REQUIRED";

fn tools_dir() -> PathBuf {
    target_dir().join("guest-tools")
}

/// Runs a build program. On failure, returns the program's output.
fn run_tool(command: &mut Command) -> Result<(), String> {
    let displayed = format!("{command:?}");
    let output = command.output().map_err(|error| format!("{displayed}: {error}"))?;
    let printed = || [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    if output.status.success() { Ok(()) } else { Err(format!("{displayed}:\n{}", printed())) }
}

/// Returns a folder in which `install` has succeeded once.
fn install_once(name: &str, install: impl FnOnce(&Path) -> Result<(), String>) -> Result<PathBuf, String> {
    let dir = tools_dir().join(name);
    let done = dir.join("installed");
    if !done.exists() {
        std::fs::create_dir_all(&dir).map_err(|error| error.to_string())?;
        install(&dir)?;
        std::fs::write(done, "").map_err(|error| error.to_string())?;
    }
    Ok(dir)
}

fn install_python_tools() -> Result<PathBuf, String> {
    install_once(&PYTHON.replace("==", "-"), |dir| {
        run_tool(Command::new("python3").args(["-m", "venv"]).arg(dir.join("venv")))?;
        run_tool(Command::new(dir.join("venv/bin/pip")).args(["install", "--quiet", PYTHON]))
    })
}

fn install_script_tools() -> Result<PathBuf, String> {
    install_once(&SCRIPT.map(|name| name.replace(['/', '@'], "-")).concat(), |dir| {
        std::fs::write(dir.join("package.json"), "{\"private\":true}").map_err(|error| error.to_string())?;
        run_tool(
            Command::new("npm")
                .current_dir(dir)
                .args(["install", "--save-exact", "--no-audit", "--no-fund"])
                .args(SCRIPT),
        )
    })
}

/// Returns a guest of `tests/guests-stock`, rebuilt if its source or `wit/` has changed. If the build tools
/// are not available here, returns `None` and prints that the guest's tests are skipped.
fn built_guest(
    name: &str,
    source: &str,
    is_required: bool,
    build: impl FnOnce(&Path, &Path) -> Result<(), String>,
) -> Option<PathBuf> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let source = checkout::copy().join("tests/guests-stock").join(source);
    let mut all = vec![std::fs::read(&source).unwrap(), PYTHON.into(), SCRIPT.concat().into()];
    // The file name of the component contains a hash of the sources. The hash includes the WIT file of the guest's own
    // interfaces, if there is one.
    all.extend(std::fs::read(source.with_extension("wit")));
    let mut wit: Vec<_> =
        std::fs::read_dir(checkout::copy().join("wit")).unwrap().map(|entry| entry.unwrap().path()).collect();
    wit.sort();
    all.extend(wit.iter().filter(|path| path.is_file()).map(|path| std::fs::read(path).unwrap()));
    let parts: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
    let wasm = tools_dir().join(format!("{name}-{}.wasm", &Hash::of(&parts).to_hex()[..16]));
    if wasm.exists() {
        return Some(wasm);
    }
    let half = tools_dir().join(format!("{name}.new"));
    std::fs::create_dir_all(tools_dir()).unwrap();
    match build(&source, &half) {
        Ok(()) => {
            std::fs::rename(half, &wasm).unwrap();
            Some(wasm)
        }
        Err(why) if is_required && std::env::var_os(REQUIRED).is_some() => panic!("{name} cannot be built:\n{why}"),
        Err(why) => {
            // Written directly to standard error, because the test harness hides the output of a passing
            // test.
            let printed = format!("\n*** SKIPPED: {name} cannot be built here, so its tests did not run. ***\n{why}\n");
            std::io::stderr().write_all(printed.as_bytes()).unwrap();
            None
        }
    }
}

fn python_guest() -> Option<PathBuf> {
    built_guest("python", "python/app.py", true, |source, out| {
        let tools = install_python_tools()?;
        // The build tool writes bytecode next to the source, so the source is copied out of the checkout.
        let folder = tools.join("source");
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        std::fs::copy(source, folder.join("app.py")).map_err(|error| error.to_string())?;
        let mut command = Command::new(tools.join("venv/bin/componentize-py"));
        command.current_dir(&folder);
        run_tool(
            command
                .arg("-d")
                .arg(checkout::copy().join("wit"))
                .args(["-w", "step", "componentize", "app", "-o"])
                .arg(out),
        )
    })
}

fn quickjs_guest() -> Option<PathBuf> {
    built_guest("quickjs", "js/step.js", true, |source, out| {
        let tools = install_script_tools()?;
        let mut command = Command::new(tools.join("node_modules/.bin/componentize-qjs"));
        command
            .current_dir(source.parent().expect("a file lies in a folder"))
            .arg("--wit")
            .arg(checkout::copy().join("wit"));
        run_tool(command.args(["-n", "step", "--js", "step.js", "--module-root", ".", "--sync", "-o"]).arg(out))
    })
}

/// Returns a component of untyped functions, written in JavaScript.
pub(crate) fn untyped_script_guest() -> Option<PathBuf> {
    built_guest("plain", "js/plain.js", true, |source, out| {
        let tools = install_script_tools()?;
        let mut command = Command::new(tools.join("node_modules/.bin/componentize-qjs"));
        command.current_dir(source.parent().expect("a file lies in a folder")).args(["--wit", "plain.wit"]);
        run_tool(command.args(["-n", "plain", "--js", "plain.js", "--module-root", ".", "--sync", "-o"]).arg(out))
    })
}

fn starling_guest() -> Option<PathBuf> {
    built_guest("starling", "js/step.js", true, |source, out| {
        let tools = install_script_tools()?;
        let mut command = Command::new(tools.join("node_modules/.bin/componentize-js"));
        command.arg(source).arg("-w").arg(checkout::copy().join("wit"));
        run_tool(command.args(["-n", "step", "-o"]).arg(out))
    })
}

/// Returns the guest in Rust. The guest is optional even in CI, because its compiler target comes only from
/// rustup's own server.
fn rust_guest() -> Option<PathBuf> {
    built_guest("rust", "rust/src/lib.rs", false, |source, out| {
        let folder = source.parent().and_then(Path::parent).expect("a file lies in src");
        run_tool(Command::new("rustup").args(["target", "add", "wasm32-wasip2"]))?;
        let target = tools_dir().join("rust");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(folder).args(["build", "--release", "--locked", "--target", "wasm32-wasip2", "--target-dir"]);
        for variable in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET", "RUSTC", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
            cargo.env_remove(variable);
        }
        run_tool(cargo.arg(&target))?;
        let made = target.join("wasm32-wasip2/release/stock_rust.wasm");
        std::fs::copy(&made, out).map(drop).map_err(|error| format!("{}: {error}", made.display()))
    })
}

/// Creates an environment with one stock guest and the witness tools, and a plan of one step.
fn env_with_stock_guest(component: &Path, operator: &str, payload: &Value) -> TestEnv {
    let config = format!("[[plugin]]\nname = \"stock\"\nsource = {component:?}\nwasi = \"virtual\"\n");
    let place = TestEnv::witness("atomic").configure(&config);
    place.with_plan(&[step("s", operator, &[], payload.clone())])
}

/// Runs a new job to completion, and returns its id, its output and its log lines.
fn completed_job(place: &TestEnv) -> (String, Value, String) {
    let ran = place.latch(&["run", "plan.json", "--new", "--json", "--actor", "ada"]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    let id = ran.json()["job_id"].as_str().expect("a response names its job").to_owned();
    let exported = place.latch(&["job", "export", &id, "--json"]);
    assert_eq!(exported.code, 0, "{} {}", exported.stdout, exported.stderr);
    let evidence = std::fs::read_to_string(place.dir.join(format!("{id}.evidence.jsonl"))).expect("exported");
    let lines = evidence.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON lines"));
    let output = lines.filter(|line| line["label"] == "output/s").map(|line| line["content"]["text"].clone()).next();
    let text = output.as_ref().and_then(Value::as_str).expect("the output is in the evidence");
    (id, serde_json::from_str(text).expect("JSON"), ran.stderr)
}

/// Runs a new job whose step fails, and returns reason code, message and log lines.
fn failed_step(place: &TestEnv) -> (String, String, String) {
    let ran = place.latch(&["run", "plan.json", "--new", "--json", "--actor", "ada"]);
    assert_eq!(ran.code, 1, "{} {}", ran.stdout, ran.stderr);
    let failed = ran.json()["failed"][0].clone();
    let word = |key: &str| failed[key].as_str().expect("a failure has both fields").to_owned();
    let (code, message) = (word("reason_code"), word("message"));
    let id = ran.json()["job_id"].as_str().expect("a response names its job").to_owned();
    assert_replays(place, &id);
    (code, message, ran.stderr)
}

/// Checks that the job replays from every prefix of its log.
fn assert_replays(place: &TestEnv, id: &str) {
    let replay = place.latch(&["job", "replay", id, "--every-prefix", "--json"]);
    assert_eq!((replay.code, &replay.json()["divergence"]), (0, &Value::Null), "{} {}", replay.stdout, replay.stderr);
}

/// Runs two jobs and checks that their outputs differ exactly in the fields `differing`, and that both jobs replay.
fn check_differing_fields_and_replay(place: &TestEnv, differing: &[&str]) -> [(Value, String); 2] {
    let [(one, first, printed), (two, second, _)] = [completed_job(place), completed_job(place)];
    let differing: BTreeSet<&str> = differing.iter().copied().collect();
    // `loops` is not compared. It is the number of iterations of a loop that runs for 1 or 2 ms. The duration depends
    // on the start time of the loop.
    for (key, value) in first.as_object().expect("an object").iter().filter(|(key, _)| *key != "loops") {
        let differs = *value != second[key];
        assert_eq!(differs, differing.contains(key.as_str()), "{key}: {value} and {}", second[key]);
    }
    assert_replays(place, &one);
    assert_replays(place, &two);
    [(first, printed.clone()), (second, printed)]
}

/// I50 and I51: a step of unmodified CPython with its whole library runs and replays.
#[test]
#[ignore = "compiles a large interpreter; run by .ci/long"]
fn stock_python_runs_and_replays() {
    let Some(component) = python_guest() else { return };
    let place = env_with_stock_guest(&component, "Stock.Python", &json!({ "call": "Effect.Read" }));
    let jobs = check_differing_fields_and_replay(
        &place,
        &["began", "heard", "injected", "today", "random", "fresh", "system", "urandom", "uuid4"],
    );
    for (output, printed) in &jobs {
        let seconds = |key: &str| output[key].as_f64().expect("a number");
        assert!(seconds("heard") >= seconds("began"), "{output:#}");
        assert!((3600.0..3600.1).contains(&seconds("slept")), "sleeping for an hour takes no real time: {output:#}");
        assert!(output["loops"].as_u64().is_some_and(|loops| loops > 10), "{output:#}");
        let injected = output["injected"][0].as_f64().expect("whole seconds");
        assert!(injected + 1.0 >= seconds("began") + 3600.0, "both clocks agree: {output:#}");
        assert_eq!((&output["environ"], &output["argv"], &output["stdin"]), (&json!({}), &json!([]), &json!("")));
        for key in ["socket", "lookup", "file", "listdir"] {
            let refused = output[key].as_str().expect("text");
            assert!(refused.contains("Error "), "{key} leads out of the step: {refused}");
        }
        for line in ["to standard output", "to standard error", "wasi:sockets/tcp-create-socket@0.2"] {
            assert!(printed.contains(line), "{line} is logged: {printed}");
        }
    }
    for (payload, code, text, logged) in [
        (json!({ "exit": 3 }), "PLUGIN_TRAP", "exit(1)", ""),
        (json!({ "raise": true }), "PLUGIN_TRAP", "", "ValueError: as told"),
        (json!({ "err": true }), "INVALID_INPUT", "as told", ""),
    ] {
        let place = place.fresh_copy().with_plan(&[step("s", "Stock.Python", &[], payload.clone())]);
        let failed = failed_step(&place);
        assert_eq!(failed.0, code, "{payload}: {failed:?}");
        assert!(failed.1.contains(text) && failed.2.contains(logged), "{payload}: {failed:?}");
    }
}

/// I50: QuickJS seeds `Math.random` when the component is built, so the values are the same in every job.
/// QuickJS has no `crypto`.
#[test]
#[ignore = "installs and compiles an interpreter; run by .ci/long"]
fn stock_quickjs_runs_and_replays() {
    let Some(component) = quickjs_guest() else { return };
    let place = env_with_stock_guest(&component, "Stock.Script", &json!({ "call": "Effect.Read" }));
    let jobs = check_differing_fields_and_replay(&place, &["began", "heard", "injected", "today"]);
    for (output, _) in &jobs {
        assert!(output["loops"].as_u64().is_some_and(|loops| loops > 10), "{output:#}");
        assert!(output["heard"].as_f64() >= output["began"].as_f64(), "{output:#}");
        assert_eq!((&output["zone"], &output["performance"]), (&json!(0), &json!(true)), "{output:#}");
    }
}

/// I50 and I51: a step of StarlingMonkey with all its features, including HTTP, runs and replays.
#[test]
#[ignore = "compiles a large engine; run by .ci/long"]
fn stock_starlingmonkey_runs_and_replays() {
    let Some(component) = starling_guest() else { return };
    let place = env_with_stock_guest(&component, "Stock.Script", &json!({ "call": "Effect.Read" }));
    let jobs =
        check_differing_fields_and_replay(&place, &["began", "heard", "injected", "today", "random", "bytes", "uuid"]);
    for (output, printed) in &jobs {
        assert!(output["loops"].as_u64().is_some_and(|loops| loops > 10), "{output:#}");
        assert_eq!((&output["zone"], &output["performance"]), (&json!(0), &json!(true)), "{output:#}");
        assert_eq!(output["objects"], json!([["a", "b"], "/x"]), "what needs no network works: {output:#}");
        for line in ["to standard output", "to standard error"] {
            assert!(printed.contains(line), "{line} is logged: {printed}");
        }
    }
    let place = place.fresh_copy().with_plan(&[step("s", "Stock.Script", &[], json!({ "fetch": true }))]);
    let (code, message, _) = failed_step(&place);
    assert_eq!(code, "PLUGIN_TRAP");
    assert!(message.contains("wasi:http/") && message.contains("http grant"), "{message}");
}

/// I50 and I51: a step of ordinary Rust runs and replays, although its hash maps are seeded differently in
/// each job.
#[test]
#[ignore = "downloads a target of the compiler and builds for it; run by .ci/long"]
fn stock_rust_runs_and_replays() {
    let Some(component) = rust_guest() else { return };
    let place = env_with_stock_guest(&component, "Stock.Rust", &json!({ "call": "Effect.Read" }));
    let jobs = check_differing_fields_and_replay(&place, &["began", "heard", "set"]);
    for (output, printed) in &jobs {
        assert!(output["heard"].as_f64() > output["began"].as_f64(), "{output:#}");
        assert_eq!((&output["slept"], &output["answer"]), (&json!(60), &json!(true)), "{output:#}");
        assert_eq!((&output["variables"], &output["arguments"], &output["stdin"]), (&json!(0), &json!(0), &json!("")));
        for key in ["file", "made", "socket", "lookup"] {
            assert!(output[key].is_string(), "{key} leads out of the step: {output:#}");
        }
        for line in ["to standard output", "to standard error"] {
            assert!(printed.contains(line), "{line} is logged: {printed}");
        }
    }
    let place = place.fresh_copy().with_plan(&[step("s", "Stock.Rust", &[], json!({ "exit": 3 }))]);
    let (code, message, printed) = failed_step(&place);
    assert_eq!(code, "PLUGIN_TRAP");
    // On this target the standard library distinguishes only success and failure. The exit status 3 may therefore be
    // reported as 1.
    assert!(message.contains("exit(1)") || message.contains("exit(3)"), "{message}");
    assert!(printed.contains("ends"), "output before the exit is logged: {printed}");
}
