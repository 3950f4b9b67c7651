//! `latch dev`: rounds of build, check and dry run.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::support::plugins::sdk_tools;
use crate::support::program;
use crate::support::terminal::{Terminal, TerminalKind};

/// Maximum number of polls. Polls are 50 ms apart, so a test waits at most five minutes, which is enough on a busy
/// machine.
const MAX_POLLS: u32 = 6_000;

/// Creates a project with a greeter in C. Returns the temporary directory, the project and the directory for
/// temporary files of its commands.
fn greeter_project() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let (dir, scratch) = (temp.path().join("hello"), temp.path().join("tmp"));
    std::fs::create_dir(&scratch).unwrap();
    let made = sdk_tools::run_latch(temp.path(), &["init", "hello", "--lang", "c"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    (temp, dir, scratch)
}

fn count_entries(dir: &Path) -> usize {
    std::fs::read_dir(dir).unwrap().count()
}

/// I154: a round changes only the build output. It changes no other file and not the project's database.
#[test]
fn dev_once_prints_the_output_and_leaves_no_database() {
    let (_temp, dir, scratch) = greeter_project();
    let once = |args: &[&str]| {
        let mut command = sdk_tools::latch_command(&dir, &[&["dev", "plan.json", "--once"], args].concat());
        program::command_output(command.env("TMPDIR", &scratch).output().unwrap())
    };
    let ran = once(&[]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("greet succeeded") && ran.stdout.contains("Hello, Ada!"), "{}", ran.stdout);
    assert!(!dir.join("latch.db").exists() && !dir.join(".latch").exists());
    assert_eq!(count_entries(&scratch), 0, "the scratch database is removed");

    let source = dir.join("greeter/plugin.c");
    let text = std::fs::read_to_string(&source).unwrap();
    std::fs::write(&source, format!("{text}\n#error broken\n")).unwrap();
    let broken = once(&[]);
    assert_eq!(broken.code, 1);
    assert!(broken.stderr.contains("broken"), "{}", broken.stderr);
    let live = once(&["--live"]);
    assert_eq!(live.code, 2, "{}", live.stderr);
}

/// I154: after an error, `latch dev` keeps watching. After a change, the command shows how the new output differs from
/// the previous output. Ctrl-c leaves no files behind.
#[test]
fn dev_rebuilds_after_each_change_and_continues_after_errors() {
    let (_temp, dir, scratch) = greeter_project();
    let (out, err) = (scratch.with_extension("out"), scratch.with_extension("err"));
    let file = |path: &Path| Stdio::from(std::fs::File::create(path).unwrap());
    let mut child = sdk_tools::latch_command(&dir, &["dev", "plan.json"])
        .env("TMPDIR", &scratch)
        .stdout(file(&out))
        .stderr(file(&err))
        .spawn()
        .unwrap();
    let output = |path: &Path| std::fs::read_to_string(path).unwrap();
    let until = |path: &Path, wanted: &str| {
        for _ in 0..MAX_POLLS {
            if output(path).contains(wanted) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{wanted:?} was never shown: {} {}", output(&out), output(&err));
    };
    until(&out, "Hello, Ada!");
    until(&err, "ctrl-c to stop");
    let source = dir.join("greeter/plugin.c");
    let text = std::fs::read_to_string(&source).unwrap();
    std::fs::write(&source, format!("{text}\n#error broken\n")).unwrap();
    until(&err, "broken");
    std::fs::write(&source, text.replace("Hello, %s!", "Goodbye, %s!")).unwrap();
    until(&out, "Goodbye, Ada!");
    let output = output(&out);
    let line = |mark: &str, text: &str| output.lines().any(|line| line.starts_with(mark) && line.contains(text));
    assert!(line("-", "Hello, Ada!") && line("+", "Goodbye, Ada!"), "{output}");
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(count_entries(&scratch), 0, "the scratch database is removed");
    assert!(!dir.join("latch.db").exists());
}

/// I154: with `--live`, the command asks for permission to execute the plan of the last dry run, and executes no other
/// plan. If the plan or its input changes, the command withdraws the question. An answer that was typed before the
/// command noticed the change has no effect.
#[test]
fn dev_live_executes_only_the_plan_that_was_dry_run() {
    let (_temp, dir, scratch) = greeter_project();
    let (plan, values) = (dir.join("plan.json"), dir.join("values.json"));
    let of_person = std::fs::read_to_string(&plan).unwrap();
    let mut with_values: serde_json::Value = serde_json::from_str(&of_person).unwrap();
    with_values["parameters"] = serde_json::json!({ "properties": { "person": { "type": "string" } } });
    with_values["steps"][0]["payload"]["name"] = serde_json::json!({ "$ref": "intent#/person" });
    let text = with_values.to_string();
    std::fs::write(&plan, &text).unwrap();
    std::fs::write(&values, r#"{ "person": "Ada" }"#).unwrap();
    let mut command = sdk_tools::latch_command(&dir, &["dev", "plan.json", "--input", "values.json", "--live"]);
    command.env("TMPDIR", &scratch);
    let mut terminal = Terminal::start(command, 100, TerminalKind::NoColor);
    terminal.wait_until_contains("run it for real?");
    std::fs::write(&values, r#"{ "person": "Eve" }"#).unwrap();
    terminal.type_line("y");
    terminal.wait_until_contains("changed: values.json");
    terminal.wait_until_contains("not run for real");
    terminal.wait_until_contains("Hello, Eve!");
    let question = "run it for real? [y]es, anything else: no";
    terminal.wait_until_ends_with(question);
    std::fs::write(&plan, text.replace(r#"{"$ref":"intent#/person"}"#, r#""Mallory""#)).unwrap();
    terminal.wait_until_contains("the question is withdrawn");
    terminal.wait_until_contains("Hello, Mallory!");
    assert!(!dir.join("latch.db").exists(), "nothing was run for real");
    terminal.wait_until_ends_with(question);
    terminal.type_line("y");
    terminal.wait_until_contains("COMPLETED");
    assert!(dir.join("latch.db").exists());
    terminal.wait_until_ends_with("ctrl-c to stop");
    terminal.interrupt();
    let output = terminal.wait_for_end();
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(output.text().ends_with("stopped"), "{}", output.text());
}

/// I154: with `--log-format json`, every line of stderr is JSON, including the lines of a round's child processes. The
/// message about a problem in the plan contains the position of the problem once. Each compilation is announced before
/// it starts.
#[test]
fn dev_logs_json_lines_and_names_positions_of_plan_problems() {
    let (_temp, dir, scratch) = greeter_project();
    let once = |args: &[&str]| {
        let mut command = sdk_tools::latch_command(&dir, &[&["dev", "plan.json", "--once"], args].concat());
        command.env("TMPDIR", &scratch).env("LATCH_CACHE_DIR", scratch.with_extension("cache"));
        program::command_output(command.output().unwrap())
    };
    let ran = once(&["--log-format", "json"]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    let message = |line: &str| -> String {
        let line: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{}", ran.stderr));
        line["message"].as_str().unwrap().to_owned()
    };
    let messages: Vec<String> = ran.stderr.lines().map(message).collect();
    let at = |begins: &str, ends: &str| {
        let is_it = |message: &String| message.starts_with(begins) && message.ends_with(ends);
        messages.iter().position(is_it).unwrap_or_else(|| panic!("{begins} {ends}: {messages:#?}"))
    };
    let (usual, other) =
        (at("compiling greeter (", "B)"), at("compiling greeter (", "without optimization, to compare"));
    assert!(at("building greeter", "") < usual && usual < other && other < at("checked greeter", ""), "{messages:#?}");

    std::fs::write(dir.join("plan.json"), "{\n  \"plan_id\": \"p\",\n}").unwrap();
    let refused = once(&[]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("  3:1 (the plan): ") && !refused.stderr.contains("line 3"), "{}", refused.stderr);
    let refused = sdk_tools::run_latch(&dir, &["plan", "check", "plan.json"]);
    assert!(refused.stderr.contains("  3:1 (the plan): ") && !refused.stderr.contains("line 3"), "{}", refused.stderr);
}

/// I134: compiler output is printed once. With `--json`, the error document contains the full output.
#[test]
fn compiler_output_is_printed_once() {
    let (_temp, dir, _) = greeter_project();
    let source = dir.join("greeter/plugin.c");
    let text = std::fs::read_to_string(&source).unwrap();
    std::fs::write(&source, format!("{text}\n#error broken on purpose\n")).unwrap();
    let run = |args: &[&str]| sdk_tools::run_latch(&dir.join("greeter"), args);
    let output = run(&["plugin", "build", "."]);
    assert_eq!(output.code, 1, "{}", output.stderr);
    assert_eq!(output.stderr.matches("error: broken on purpose").count(), 1, "{}", output.stderr);
    assert!(output.stderr.starts_with("building greeter\n"), "{}", output.stderr);
    let document = run(&["plugin", "build", ".", "--json"]);
    assert!(document.stdout.contains("error: broken on purpose"), "{}", document.stdout);
}
