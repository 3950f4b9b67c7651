//! Runs the same cases in another process with another memory layout, environment, time zone and language.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use latchwork::evidence::jobless_step_settings;
use latchwork_core::model::manifest::WasiMode;
use latchwork_engine::capability::settings::PluginSettings;
use latchwork_engine::{Engine, EngineOptions, PoolSize};

use crate::check::dynamic::baseline::{CaseBaseline, host_difference};
use crate::check::dynamic::host_inputs::OtherProcess;
use crate::check::dynamic::hosts::HostVariants;
use crate::check::dynamic::script::RunScript;
use crate::check::dynamic::trace::{Trace, compare_with_usage};
use crate::check::report::CheckReport;
use crate::inspect;

/// Environment of the other process, which inherits no other variables.
const ENVIRONMENT: [(&str, &str); 6] = [
    ("TZ", "Pacific/Kiritimati"),
    ("LANG", "tr_TR.UTF-8"),
    ("LC_ALL", "tr_TR.UTF-8"),
    ("HOME", "/nonexistent"),
    ("PYTHONHASHSEED", "4242"),
    ("LATCH_CHECK", "a variable that no step may see"),
];

/// Request to the other process.
#[derive(Serialize, Deserialize)]
struct RunRequest {
    wasm: PathBuf,
    cache_dir: Option<PathBuf>,
    wasi: WasiMode,
    scripts: Vec<RunScript>,
}

/// Runs the scripts of a request in this process. The request and the response are JSON.
///
/// # Errors
/// Returns the reason if the request cannot be served.
pub async fn serve(question: &[u8]) -> Result<String, String> {
    let question: RunRequest = serde_json::from_slice(question).map_err(|error| error.to_string())?;
    let bytes = std::fs::read(&question.wasm).map_err(|error| error.to_string())?;
    let options = EngineOptions {
        cache_dir: question.cache_dir,
        explain: inspect::EXPLAIN,
        pool_size: PoolSize::Small,
        ..EngineOptions::default()
    };
    let engine = Engine::new(options).map_err(|error| error.to_string())?;
    let settings = bare_settings(&question.wasm, question.wasi);
    let load = || engine.load(&bytes, settings).map_err(|error| error.to_string());
    let plugin = tokio::task::block_in_place(load)?;
    let mut traces = Vec::new();
    for script in &question.scripts {
        traces.push(script.run(&plugin).await);
    }
    serde_json::to_string(&traces).map_err(|error| error.to_string())
}

/// D066: compares the runs with runs in another process.
pub(super) async fn compare(hosts: &HostVariants<'_>, ran: &[CaseBaseline<'_>], report: &mut CheckReport) {
    let Some(process) = hosts.process else { return };
    let calm: Vec<_> = ran.iter().filter(|ran| ran.base.fault().is_none()).collect();
    if calm.is_empty() {
        return;
    }
    let scripts = calm.iter().map(|ran| ran.script.clone()).collect();
    let (wasm, cache_dir) = (process.wasm.clone(), process.cache_dir.clone());
    let question = RunRequest { wasm, cache_dir, wasi: hosts.settings.wasi, scripts };
    match tokio::task::block_in_place(|| run_in_process(process, &question)) {
        Ok(traces) => {
            for (ran, trace) in calm.iter().zip(&traces) {
                if let Some(parting) = compare_with_usage(&ran.base, trace) {
                    let host = "in another process with another environment, time zone and language";
                    report.add([host_difference(ran, host, &parting, trace)]);
                }
            }
            for run in &mut report.cases {
                run.runs += u64::from(calm.iter().any(|ran| ran.case.name == run.name));
            }
        }
        Err(why) => report.notes.push(format!("cases were not run in another process: {why}")),
    }
}

fn run_in_process(process: &OtherProcess, question: &RunRequest) -> Result<Vec<Trace>, String> {
    let mut command = Command::new(&process.program);
    command.args(&process.args).env_clear().envs(ENVIRONMENT).current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let text = serde_json::to_vec(question).map_err(|error| error.to_string())?;
    let mut stdin = child.stdin.take().expect("stdin is piped");
    // The two pipes cannot deadlock, because the other process reads the whole request before it writes its response.
    let written = stdin.write_all(&text);
    drop(stdin);
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    written.map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("it ended with {}", output.status));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}

fn bare_settings(wasm: &Path, wasi: WasiMode) -> PluginSettings {
    let name = wasm.file_stem().unwrap_or_default().to_string_lossy();
    PluginSettings { wasi, ..jobless_step_settings(&name) }
}
