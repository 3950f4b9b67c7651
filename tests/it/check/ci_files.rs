//! Files for CI systems. The tests execute every command in these files, and use this program in place of a release.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::checkout::root;
use crate::support::plugins::built_guests::guest;
use crate::support::program::{CommandOutput, command_output, latch_binary};

fn yaml(path: &str) -> Value {
    let text = std::fs::read_to_string(root().join(path)).unwrap();
    serde_norway::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A folder of a CI system with a release of the program.
struct Runner {
    folder: tempfile::TempDir,
    /// Download address of the release and its SHA-256.
    release: (String, String),
}

impl Runner {
    fn new(is_archive: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["project", "home", "temp"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        // A script that starts the program is small, so that downloads and hashes take no time.
        let program = folder.path().join("latch");
        std::fs::write(&program, format!("#!/bin/sh\nexec '{}' \"$@\"\n", latch_binary().display())).unwrap();
        let file = if is_archive { "latch.tar.gz" } else { "latch" };
        if is_archive {
            let tar = Command::new("tar").args(["-czf", file, "latch"]).current_dir(folder.path()).status();
            assert!(tar.unwrap().success());
        }
        let path = folder.path().join(file);
        let hash = hex::encode(Sha256::digest(std::fs::read(&path).unwrap()));
        Self { release: (format!("file://{}", path.display()), hash), folder }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn path_file(&self) -> PathBuf {
        self.folder.path().join("path")
    }

    /// Runs a script as a runner does: in the project, with the folders that earlier steps added to PATH.
    fn bash(&self, script: &str, variables: &[(String, String)]) -> CommandOutput {
        let mut bash = Command::new("bash");
        let added = std::fs::read_to_string(self.path_file()).unwrap_or_default();
        let path = format!("{}{}", added.replace('\n', ":"), std::env::var("PATH").unwrap());
        bash.args(["-c", script]).current_dir(self.project()).env_clear().env("PATH", path);
        bash.env("HOME", self.folder.path().join("home")).env("RUNNER_TEMP", self.folder.path().join("temp"));
        bash.env("GITHUB_PATH", self.path_file()).env("TMPDIR", self.folder.path().join("temp"));
        bash.envs(variables.iter().cloned());
        command_output(bash.output().unwrap())
    }

    /// Runs the steps of the composite action that have commands. Stops at the first step that fails. Returns the
    /// output of the step that ran last.
    fn action(&self, inputs: &[(&str, &str)]) -> CommandOutput {
        let action = yaml("docs/ci/github/action.yml");
        let value = |name: &str| match inputs.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => (*value).to_owned(),
            None => action["inputs"][name]["default"].as_str().unwrap_or_default().to_owned(),
        };
        let mut last = None;
        for step in action["runs"]["steps"].as_array().unwrap().iter().filter(|step| step["run"].is_string()) {
            assert_eq!(step["shell"], "bash", "{step}");
            let variable = |(name, text): (&String, &Value)| {
                let input = text.as_str().unwrap().strip_prefix("${{ inputs.").unwrap().strip_suffix(" }}").unwrap();
                (name.clone(), value(input))
            };
            let variables: Vec<_> = step["env"].as_object().unwrap().iter().map(variable).collect();
            let ran = self.bash(step["run"].as_str().unwrap(), &variables);
            let is_failed = ran.code != 0;
            last = Some(ran);
            if is_failed {
                break;
            }
        }
        last.unwrap()
    }
}

/// Asserts that both reports are in the folder.
fn assert_reports(folder: &Path) {
    let sarif: Value = serde_json::from_slice(&std::fs::read(folder.join("latch-check.sarif")).unwrap()).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert!(std::fs::read_to_string(folder.join("latch-check.xml")).unwrap().contains("</testsuites>"));
}

/// I230: the action runs only the release whose hash is given.
#[test]
fn github_action_checks_plugins_with_a_pinned_release() {
    let runner = Runner::new(false);
    let (url, hash) = runner.release.clone();
    let plugin = guest("wasi-step");
    let version = env!("CARGO_PKG_VERSION");
    let inputs = |more: &[(&'static str, &'static str)]| {
        let mut inputs = vec![("plugins", plugin.to_str().unwrap()), ("url", &url), ("sha256", &hash)];
        inputs.push(("version", version));
        inputs.splice(0..0, more.iter().copied());
        inputs
    };
    let other_hash = runner.action(&inputs(&[("sha256", "00")]));
    assert!(other_hash.code != 0 && !runner.path_file().exists(), "{}", other_hash.stderr);
    let other_version = runner.action(&inputs(&[("version", "9.9.9")]));
    assert_eq!(other_version.code, 2, "{}", other_version.stderr);
    assert!(!runner.path_file().exists() && other_version.stderr.contains("not latch 9.9.9"));

    // The guest breaks a rule, so the check fails and the reports are there.
    let failed = runner.action(&inputs(&[]));
    assert_eq!(failed.code, 1, "{} {}", failed.stdout, failed.stderr);
    assert_reports(&runner.project());
    assert!(runner.folder.path().join("home/.cache/latchwork-ci/compiled/secret").is_file());
    let known = runner.action(&inputs(&[("baseline", "known.json"), ("args", "--write-baseline")]));
    assert_eq!(known.code, 0, "{} {}", known.stdout, known.stderr);
    assert_eq!(runner.action(&inputs(&[("baseline", "known.json")])).code, 0);
}

#[test]
fn workflow_gives_the_action_its_inputs() {
    let action = yaml("docs/ci/github/action.yml");
    let text = std::fs::read_to_string(root().join("docs/ci/github/action.yml")).unwrap();
    let declared = action["inputs"].as_object().unwrap();
    for (name, input) in declared {
        assert!(text.contains(&format!("${{{{ inputs.{name} }}}}")), "{name} is not used");
        assert!(input["required"] == json!(true) || input["default"].is_string(), "{name}");
    }
    let workflow = yaml("docs/examples/plugin-check.yml");
    let steps = workflow["jobs"]["check"]["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["uses"] == "./.github/actions/latch-check").unwrap();
    let given = step["with"].as_object().unwrap();
    assert!(given.keys().all(|name| declared.contains_key(name)), "{given:?}");
    let is_given = |(name, input): (&String, &Value)| input["required"] != json!(true) || given.contains_key(name);
    assert!(declared.iter().all(is_given), "{given:?}");
}

/// I230: the GitLab template runs only the release whose hash is given. The template never takes its cache of compiled
/// code from the repository.
#[test]
fn gitlab_template_checks_plugins_with_a_pinned_release() {
    let runner = Runner::new(true);
    let job = yaml("docs/ci/gitlab.yml")[".latch-check"].clone();
    let lines = |key: &str| {
        let lines: Vec<_> = job[key].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
        lines.join("\n")
    };
    // GitLab runs all commands of a job in one shell.
    let script = format!("{}\n{}", lines("before_script"), lines("script"));
    let (url, hash) = runner.release.clone();
    let run = |more: &[(&str, &str)]| {
        let plugin = guest("wasi-step").display().to_string();
        let named = [
            ("LATCH_URL", url.as_str()),
            ("LATCH_SHA256", &hash),
            ("LATCH_VERSION", env!("CARGO_PKG_VERSION")),
            ("LATCH_PLUGINS", &plugin),
        ];
        let defaults = job["variables"].as_object().unwrap();
        let mut variables: Vec<_> =
            defaults.iter().map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect();
        assert!(named.iter().all(|(name, _)| defaults.contains_key(*name)));
        let given = named.iter().chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        variables.extend(given);
        runner.bash(&script, &variables)
    };
    let git = |args: &[&str]| {
        let ran = Command::new("git").args(args).current_dir(runner.project()).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    };
    git(&["init", "--quiet"]);
    assert_ne!(run(&[("LATCH_SHA256", "00")]).code, 0);
    assert_eq!(run(&[("LATCH_VERSION", "9.9.9")]).code, 2);
    let failed = run(&[]);
    assert_eq!(failed.code, 1, "{} {}", failed.stdout, failed.stderr);
    assert_reports(&runner.project());
    // The cache is kept although the check has findings. The next run uses the cache again.
    let secret = runner.project().join(".latch-ci/compiled/secret");
    let first = std::fs::read(&secret).unwrap();
    let known = run(&[("LATCH_BASELINE", "known.json"), ("LATCH_ARGS", "--write-baseline")]);
    assert_eq!(known.code, 0, "{} {}", known.stdout, known.stderr);
    assert_eq!(std::fs::read(&secret).unwrap(), first);
    git(&["add", ".latch-ci"]);
    let refused = run(&[]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains(".latch-ci is part of the repository"), "{}", refused.stderr);
}
