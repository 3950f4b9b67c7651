//! Test environment for `latch`: a folder with configuration, plan, database and the countable effects of its
//! tools.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};

use latchwork_engine::os::clock::now_us;

use crate::support::checkout;
use crate::support::program::{CommandOutput, run_latch};

/// Folder of one test, deleted on drop.
pub(crate) struct TestEnv {
    _temp: tempfile::TempDir,
    pub(crate) dir: PathBuf,
    approve: Vec<&'static str>,
    /// True if all jobs are replayed on drop.
    replay_on_drop: bool,
}

impl TestEnv {
    /// Creates an environment with witness tools of every class. A witness tool creates one file for each execution, so
    /// that tests can count the effects. Steps of the plan and a step plugin call the tools.
    pub(crate) fn witness(commit: &str) -> TestEnv {
        let root = checkout::copy().join("tests/guests-effects");
        let component = |name: &str| build_plugin(&root.join(name));
        let grants = r#"grants = { dirs = [{ host = "effects", guest = "/effects", write = true }] }"#;
        let place = TestEnv::new(vec!["o", "k", "q", "d"]);
        let config = format!(
            "commit = {commit:?}\n\
             [[plugin]]\nname = \"witness\"\nsource = {:?}\n{grants}\n\
             [[plugin]]\nname = \"witness-queryable\"\nsource = {:?}\n{grants}\n\
             [[plugin]]\nname = \"witness-step\"\nsource = {:?}\n",
            component("witness"),
            component("witness-queryable"),
            component("witness-step"),
        );
        std::fs::create_dir(place.dir.join("effects")).expect("a fresh folder");
        std::fs::write(place.dir.join("latch.toml"), config).expect("a fresh folder");
        std::fs::write(place.dir.join("plan.json"), witness_plan().to_string()).expect("a fresh folder");
        place.compile_plugins()
    }

    /// Creates an environment with tools that can undo their effects, and with witness tools that cannot.
    pub(crate) fn undo(commit: &str) -> TestEnv {
        let root = checkout::copy().join("tests/guests-effects");
        let effects = r#"{ host = "effects", guest = "/effects", write = true }"#;
        let place = TestEnv::new(vec![]);
        let config = format!(
            "commit = {commit:?}\n\
             [[plugin]]\nname = \"witness\"\nsource = {:?}\ngrants = {{ dirs = [{effects}] }}\n\
             [[plugin]]\nname = \"witness-undo\"\nsource = {:?}\n\
             grants = {{ dirs = [{effects}, {{ host = \"switch\", guest = \"/switch\" }}] }}\n\
             [[plugin]]\nname = \"witness-step\"\nsource = {:?}\n",
            build_plugin(&root.join("witness")),
            build_plugin(&root.join("witness-undo")),
            build_plugin(&root.join("witness-step")),
        );
        for folder in ["effects", "switch"] {
            std::fs::create_dir(place.dir.join(folder)).expect("a fresh folder");
        }
        std::fs::write(place.dir.join("latch.toml"), config).expect("a fresh folder");
        place.compile_plugins()
    }

    /// Creates an environment with the plan, data and plugins of `example-plugins/funding-outreach`. The
    /// tests call this plan the golden flow. Its step `s5` records a request, and its step `s6` sends a
    /// letter.
    pub(crate) fn golden(commit: &str) -> TestEnv {
        let examples = checkout::copy().join("example-plugins");
        let place = TestEnv::new(vec!["s5", "s6"]);
        let flow = examples.join("funding-outreach");
        for name in ["data", "plan.json"] {
            copy_tree(&flow.join(name), &place.dir.join(name));
        }
        for name in ["outbox", "requests"] {
            std::fs::create_dir(place.dir.join(name)).expect("a fresh folder");
        }
        let mut config = std::fs::read_to_string(flow.join("latch.toml")).expect("the example has a configuration");
        for plugin in ["funding-rust", "files-rust", "requests-rust", "mail-maildir-rust"] {
            let component = build_plugin(&examples.join(plugin));
            config = config.replace(&format!("\"../{plugin}\""), &format!("{component:?}"));
        }
        let config = format!("commit = {commit:?}\n{config}");
        std::fs::write(place.dir.join("latch.toml"), config).expect("a fresh folder");
        place.compile_plugins()
    }

    /// Creates an environment with this configuration. The steps in `approve` are approved in advance.
    pub(crate) fn configured(config: &str, approve: Vec<&'static str>) -> TestEnv {
        let place = TestEnv::new(approve);
        std::fs::write(place.dir.join("latch.toml"), config).expect("a fresh folder");
        place
    }

    fn new(approve: Vec<&'static str>) -> TestEnv {
        let temp = tempfile::tempdir().expect("a temporary folder");
        let dir = temp.path().to_owned();
        TestEnv { _temp: temp, dir, approve, replay_on_drop: true }
    }

    /// Compiles the plugins once, so that copies of the environment use the compiled plugins.
    pub(crate) fn compile_plugins(self) -> TestEnv {
        let listed = self.latch(&["plugin", "list", "--json"]);
        assert_eq!(listed.code, 0, "{} {}", listed.stdout, listed.stderr);
        self
    }

    /// Returns a copy of the environment in a separate folder.
    pub(crate) fn fresh_copy(&self) -> TestEnv {
        let place = TestEnv::new(self.approve.clone());
        copy_tree(&self.dir, &place.dir);
        place
    }

    /// Replaces the plan by a plan with these steps.
    pub(crate) fn with_plan(self, steps: &[Value]) -> TestEnv {
        let plan = json!({ "plan_id": "p", "schema_version": "1.0", "steps": steps });
        std::fs::write(self.dir.join("plan.json"), plan.to_string()).expect("writable");
        self
    }

    /// Replaces the steps that are approved in advance.
    pub(crate) fn with_approved(mut self, approve: Vec<&'static str>) -> TestEnv {
        self.approve = approve;
        self
    }

    /// True if all jobs are replayed from every prefix when the environment is dropped.
    pub(crate) fn is_replayed_on_drop(&self) -> bool {
        self.replay_on_drop
    }

    /// Turns off the replay on drop, because the test damages the data that a replay needs.
    pub(crate) fn skip_replay_of_damaged_jobs(&mut self) {
        self.replay_on_drop = false;
    }

    /// Turns off the replay on drop, because replaying the many jobs of the test would take longer than the test.
    pub(crate) fn skip_replay_of_many_jobs(&mut self) {
        self.replay_on_drop = false;
    }

    /// Replaces the text of the configuration.
    pub(crate) fn edit_config(self, edit: impl FnOnce(&str) -> String) -> TestEnv {
        let file = self.dir.join("latch.toml");
        let config = std::fs::read_to_string(&file).expect("the configuration was written");
        std::fs::write(file, edit(&config)).expect("writable");
        self
    }

    /// Adds lines at the beginning of the configuration, above its tables.
    pub(crate) fn configure_first(self, lines: &str) -> TestEnv {
        self.edit_config(|config| format!("{lines}\n{config}"))
    }

    /// Limits the duration of the calls of plugins that have grants. The default duration is 30 seconds. If the process
    /// of a call is unreachable, the call is reconciled only after this duration.
    pub(crate) fn with_call_timeout(self, timeout: &str) -> TestEnv {
        self.edit_config(|config| {
            assert!(config.contains("grants ="), "no plugin has grants: {config}");
            config.replace("grants =", &format!("limits = {{ timeout = {timeout:?} }}\ngrants ="))
        })
    }

    /// Adds lines at the end of the configuration.
    pub(crate) fn configure(self, lines: &str) -> TestEnv {
        self.edit_config(|config| format!("{config}\n{lines}\n"))
    }

    /// Uses the database at `url` instead of a file in the folder.
    pub(crate) fn with_database(self, url: &str) -> TestEnv {
        self.edit_config(|config| {
            let rest = config.lines().filter(|line| !line.starts_with("database = ")).collect::<Vec<_>>().join("\n");
            format!("database = {url:?}\n{rest}\n")
        })
    }

    pub(crate) fn latch(&self, args: &[&str]) -> CommandOutput {
        run_latch(&self.dir, args)
    }

    /// Returns the arguments that run the plan with its steps approved in advance.
    pub(crate) fn run_args(&self) -> Vec<&str> {
        let mut args = vec!["run", "plan.json", "--json", "--actor", "ada"];
        for step in &self.approve {
            args.extend(["--approve", step]);
        }
        args
    }

    /// Returns the only job, or null.
    pub(crate) fn only_job(&self) -> Value {
        let listed = self.latch(&["job", "list", "--json"]);
        assert_eq!(listed.code, 0, "{}", listed.stderr);
        let jobs = listed.json()["jobs"].clone();
        assert!(jobs.as_array().is_some_and(|jobs| jobs.len() <= 1), "one request is one job: {jobs:#}");
        jobs[0].clone()
    }

    /// Submits the plan again until the job is completed. Resolves each call in doubt as applied or not
    /// applied, as its effects show.
    pub(crate) fn finish_with_observed_effects(&self) {
        self.finish_resolving(|id, slot| self.resolve_as_observed(id, slot));
    }

    /// Submits the plan again until the job is completed. Resolves each call in doubt with `resolve`.
    pub(crate) fn finish_resolving(&self, resolve: impl Fn(&str, &str) -> CommandOutput) {
        for _ in 0..12 {
            // Submitting the same request again attaches to the job. If the process was killed before the job
            // was stored, the request creates the job.
            let ran = self.latch(&self.run_args());
            assert!(matches!(ran.code, 0 | 3), "{} {}", ran.stdout, ran.stderr);
            let response = ran.json();
            if response["state"] == "COMPLETED" {
                return;
            }
            let blocked = &response["blocked_on"];
            assert_eq!(blocked["reason_code"], "INDETERMINATE_EFFECT", "{response:#}");
            let id = response["job_id"].as_str().expect("a job has an id");
            let slot = blocked["slot"].as_str().expect("a call in doubt has a slot");
            let resolved = resolve(id, slot);
            assert_eq!(resolved.code, 0, "{} {}", resolved.stdout, resolved.stderr);
        }
        panic!("the job does not end: {:#}", self.only_job());
    }

    /// Resolves a call in doubt of a witness tool: as applied if its effect exists, and otherwise as not
    /// applied.
    pub(crate) fn resolve_as_observed(&self, job: &str, slot: &str) -> CommandOutput {
        let happened = self.effect_counts_by_job().contains_key(&(job.to_owned(), slot.to_owned()));
        self.resolve(job, slot, happened.then_some(r#"{"file":null,"note":null}"#))
    }

    /// Resolves a call in doubt as applied with `result`, or as not applied.
    pub(crate) fn resolve(&self, job: &str, slot: &str, result: Option<&str>) -> CommandOutput {
        let verdict: &[&str] = if result.is_some() { &["--applied", "result.json"] } else { &["--not-applied"] };
        std::fs::write(self.dir.join("result.json"), result.unwrap_or_default()).expect("writable");
        self.latch(&[&["job", "resolve", job, slot, "--reason", "looked", "--actor", "bob"], verdict].concat())
    }

    /// Counts effects by label: `<slot>` for executions, `applied <slot>` for keyed effects applied
    /// downstream, and `undone <slot>` for undone calls.
    pub(crate) fn effect_counts(&self) -> BTreeMap<String, u32> {
        let mut world = BTreeMap::new();
        for ((_, label), times) in self.effect_counts_by_job() {
            *world.entry(label).or_default() += times;
        }
        world
    }

    /// Counts effects by job and label. The labels are those of `effect_counts`.
    pub(crate) fn effect_counts_by_job(&self) -> BTreeMap<(String, String), u32> {
        let mut worlds = BTreeMap::new();
        let mut keys: BTreeMap<(String, String), String> = BTreeMap::new();
        for entry in std::fs::read_dir(self.dir.join("effects")).expect("the effects folder exists") {
            let name = entry.expect("readable").file_name().into_string().expect("plain names");
            let mut parts = name.split('.');
            let (what, key) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            // A file name contains the external key of a call, as `latch-<job>-<slot>-<attempt>`. Every character of
            // the key that is not alphanumeric is written as `-`, including the underscore of `job_…`.
            let mut words = key.splitn(4, '-').skip(1);
            let job = format!("{}_{}", words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let (slot, _attempt) =
                words.next().and_then(|rest| rest.rsplit_once('-')).expect("a key ends with an attempt");
            let slot = slot.replace('-', "/");
            let before = keys.insert((job.clone(), slot.clone()), key.to_owned());
            assert!(before.is_none_or(|before| before == key), "one key for all tries of {slot}");
            let label = if matches!(what, "applied" | "undone") { format!("{what} {slot}") } else { slot };
            *worlds.entry((job, label)).or_default() += 1;
        }
        worlds
    }
}

/// I2: every job that a test leaves replays identically from every prefix of its log. The check runs when the
/// environment is dropped.
impl Drop for TestEnv {
    fn drop(&mut self) {
        // A folder without a database has nothing to replay. If the database is on a server, the process that opens it
        // creates a state directory. This directory shows that the database was used.
        let used = ["latch.db", ".latch/servers"].iter().any(|path| self.dir.join(path).exists());
        if std::thread::panicking() || !self.replay_on_drop || !used {
            return;
        }
        let replayed = self.latch(&["job", "replay", "--all", "--every-prefix", "--json"]);
        assert_eq!(replayed.code, 0, "a job does not replay: {} {}", replayed.stdout, replayed.stderr);
    }
}

/// Returns a step with a witness operator.
pub(crate) fn step(id: &str, name: &str, depends_on: &[&str], payload: Value) -> Value {
    json!({
        "step_id": id, "kind": "operator", "name": name, "payload": payload, "depends_on": depends_on,
        "effects": ["read_only", "internal_write", "external_write", "external_send"], "policy_tags": [],
        "gate": "none", "cache_policy": "never", "idempotency_template": format!("crash:{id}"),
    })
}

pub(crate) fn witness_plan() -> Value {
    let note = |n: u32| json!({ "note": n });
    let calls = [("Effect.Opaque", 4), ("Effect.Queryable", 5), ("Effect.Keyed", 6), ("Effect.Read", 7)]
        .map(|(operator, n)| json!({ "operator": operator, "args": note(n) }));
    json!({
        "plan_id": "crash", "schema_version": "1.0", "steps": [
            wait("w", json!({ "wait_kind": "timer", "duration": "50ms" })),
            step("r", "Effect.Read", &["w"], note(0)),
            step("o", "Effect.Opaque", &["r"], note(1)),
            step("k", "Effect.Keyed", &["o"], note(2)),
            step("q", "Effect.Queryable", &["k"], note(3)),
            step("d", "Driver.Run", &["q"], json!({ "calls": calls })),
        ]
    })
}

/// Returns the witness plan with the number in its action keys. Jobs of plans with different numbers share no action
/// key.
pub(crate) fn witness_plan_of(number: u64) -> Value {
    let mut plan = witness_plan();
    for step in plan["steps"].as_array_mut().expect("a list") {
        if step["kind"] == "operator" {
            step["idempotency_template"] = json!(format!("{}:{number}", step["step_id"].as_str().expect("an id")));
        }
    }
    plan
}

/// Returns a wait step.
pub(crate) fn wait(id: &str, payload: Value) -> Value {
    json!({
        "step_id": id, "kind": "wait", "name": "Wait", "payload": payload, "effects": [], "policy_tags": [],
        "cache_policy": "never", "idempotency_template": id,
    })
}

/// Builds the plugin in a folder once and returns its component. Builds run one at a time, because they share
/// a target folder.
pub(crate) fn build_plugin(dir: &Path) -> PathBuf {
    static BUILT: Mutex<BTreeMap<PathBuf, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut known = BUILT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(component) = known.get(dir) {
        return component.clone();
    }
    let options = latchwork_tooling::build::BuildOptions::from_env().unwrap();
    let built = latchwork_tooling::build::build(dir, &options, &mut |_| {}).expect("the plugin builds");
    known.insert(dir.to_owned(), built.wasm.clone());
    built.wasm
}

/// Sleeps until a time from a response has passed. The time is in microseconds of the wall clock.
pub(crate) fn sleep_past(until_us: &Value) {
    let until_us = until_us.as_i64().expect("a time");
    while now_us() <= until_us {
        std::thread::sleep(Duration::from_millis(50));
    }
}

pub(crate) fn copy_tree(from: &Path, to: &Path) {
    if !from.is_dir() {
        std::fs::copy(from, to).expect("copied");
        return;
    }
    std::fs::create_dir_all(to).expect("made");
    for entry in std::fs::read_dir(from).expect("readable") {
        let entry = entry.expect("readable");
        copy_tree(&entry.path(), &to.join(entry.file_name()));
    }
}
