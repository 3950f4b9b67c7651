//! Runs scripts in another process, so that a crash of the engine ends that process and not the check.
//!
//! The request is one JSON document on stdin. Each line of the response on stdout is one JSON document. The first line
//! has the result of the load. Each further line has the trace of one script, and is written when the script ends. The
//! first missing trace belongs to the script that ended the process.

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use serde::{Deserialize, Serialize};

use latchwork::evidence::jobless_step_settings;
use latchwork_core::model::manifest::WasiMode;
use latchwork_engine::capability::settings::PluginSettings;
use latchwork_engine::{Engine, EngineOptions, EngineVariation, PoolSize};

use crate::check::dynamic::host_inputs::OtherProcess;
use crate::check::dynamic::script::RunScript;
use crate::check::dynamic::trace::Trace;
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

/// Engine of the other process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChildHost {
    /// The engine that jobs use.
    Usual,
    /// The engine of [`EngineVariation::Unoptimized`].
    Unoptimized,
}

/// Request to the other process.
#[derive(Serialize, Deserialize)]
struct RunRequest {
    host: ChildHost,
    wasm: PathBuf,
    cache_dir: Option<PathBuf>,
    cache_secret_dir: Option<PathBuf>,
    wasi: WasiMode,
    scripts: Vec<RunScript>,
}

/// One line of the response.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ResponseLine {
    Refused(String),
    Loaded,
    Ran(Box<Trace>),
}

/// Result of a request. It is incomplete if the other process ended early.
#[derive(Debug)]
pub(super) struct ChildRun {
    /// Traces of the first scripts, in order.
    pub(super) traces: Vec<Trace>,
    pub(super) end: ChildEnd,
}

/// End of the other process.
#[derive(Debug)]
pub(super) enum ChildEnd {
    /// Every script ran.
    Complete,
    /// The engine of the other process refuses the component.
    Refused(String),
    /// A signal ended the process. Holds the name of the signal. `is_loaded` is false if the signal came before the
    /// component was completely loaded.
    Killed { signal: String, is_loaded: bool },
    /// The process could not be started, ended with an error, sent an invalid response, or was killed from outside.
    /// Contains the reason.
    Unusable(String),
}

/// Runs the scripts of a request in this process. Passes each line of the response to `respond`.
///
/// # Errors
/// Returns the reason if the request cannot be served.
pub async fn serve(question: &[u8], respond: &(dyn Fn(&str) + Sync)) -> Result<(), String> {
    let question: RunRequest = serde_json::from_slice(question).map_err(|error| error.to_string())?;
    let respond = |line: &ResponseLine| {
        let mut text = serde_json::to_string(line).expect("a response is JSON");
        text.push('\n');
        respond(&text);
    };
    let bytes = std::fs::read(&question.wasm).map_err(|error| error.to_string())?;
    let options = EngineOptions {
        cache_dir: question.cache_dir,
        cache_secret_dir: question.cache_secret_dir,
        explain: inspect::EXPLAIN,
        pool_size: PoolSize::Small,
        ..EngineOptions::default()
    };
    let mut engine = Engine::new(options).map_err(|error| error.to_string())?;
    if question.host == ChildHost::Unoptimized {
        engine = engine.with_variation(EngineVariation::Unoptimized).map_err(|error| error.to_string())?;
    }
    let settings = bare_settings(&question.wasm, question.wasi);
    let plugin = match tokio::task::block_in_place(|| engine.load(&bytes, settings)) {
        Ok(plugin) => plugin,
        Err(error) => {
            respond(&ResponseLine::Refused(error.to_string()));
            return Ok(());
        }
    };
    respond(&ResponseLine::Loaded);
    for script in &question.scripts {
        respond(&ResponseLine::Ran(Box::new(script.run(&plugin).await)));
    }
    Ok(())
}

/// Runs the scripts in another process. Blocks the thread until the process ends.
pub(super) fn run_in_process(
    process: &OtherProcess,
    host: ChildHost,
    wasi: WasiMode,
    scripts: Vec<RunScript>,
) -> ChildRun {
    let wanted = scripts.len();
    let request = RunRequest {
        host,
        wasm: process.wasm.clone(),
        cache_dir: process.cache_dir.clone(),
        cache_secret_dir: process.cache_secret_dir.clone(),
        wasi,
        scripts,
    };
    match exchange(process, &request) {
        Ok((stdout, status)) => read_response(&stdout, status, wanted),
        Err(why) => ChildRun { traces: vec![], end: ChildEnd::Unusable(why) },
    }
}

/// Starts the process, and returns its output and its exit status.
fn exchange(process: &OtherProcess, request: &RunRequest) -> Result<(Vec<u8>, ExitStatus), String> {
    let mut command = Command::new(&process.program);
    command.args(&process.args).env_clear().envs(ENVIRONMENT).current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let text = serde_json::to_vec(request).map_err(|error| error.to_string())?;
    let mut stdin = child.stdin.take().expect("stdin is piped");
    // The two pipes cannot deadlock, because the other process reads the whole request before it writes its response.
    let written = stdin.write_all(&text);
    drop(stdin);
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if output.status.signal().is_none() {
        written.map_err(|error| error.to_string())?;
    }
    Ok((output.stdout, output.status))
}

fn read_response(stdout: &[u8], status: ExitStatus, wanted: usize) -> ChildRun {
    let (mut traces, mut is_loaded, mut wrong) = (Vec::new(), false, None);
    for line in stdout.split_inclusive(|byte| *byte == b'\n') {
        match serde_json::from_slice(line) {
            Ok(ResponseLine::Loaded) => is_loaded = true,
            Ok(ResponseLine::Ran(trace)) => traces.push(*trace),
            Ok(ResponseLine::Refused(why)) => return ChildRun { traces, end: ChildEnd::Refused(why) },
            Err(error) => {
                wrong = Some(error.to_string());
                break;
            }
        }
    }
    let signal = signal_name(status);
    let end = match (signal.as_deref(), wrong) {
        _ if traces.len() == wanted && status.success() => ChildEnd::Complete,
        (Some("SIGKILL" | "SIGTERM" | "SIGINT"), _) => {
            ChildEnd::Unusable(format!("a signal from outside ended it ({status}); the machine may lack memory"))
        }
        // An invalid last line is not an error here, because a signal may end the process in the middle of a line.
        (Some(signal), _) => ChildEnd::Killed { signal: signal.to_owned(), is_loaded },
        (None, Some(wrong)) if status.success() => ChildEnd::Unusable(wrong),
        (None, _) => ChildEnd::Unusable(format!("it ended with {status}")),
    };
    ChildRun { traces, end }
}

/// Returns the name of the signal that ended a process. A shell reports a signal of its child as exit code 128 +
/// signal.
fn signal_name(status: ExitStatus) -> Option<String> {
    let number = status.signal().or_else(|| status.code().filter(|code| *code > 128).map(|code| code - 128))?;
    let name = match number {
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        15 => "SIGTERM",
        2 => "SIGINT",
        _ => return Some(format!("signal {number}")),
    };
    Some(name.to_owned())
}

fn bare_settings(wasm: &Path, wasi: WasiMode) -> PluginSettings {
    let name = wasm.file_stem().unwrap_or_default().to_string_lossy();
    PluginSettings { wasi, ..jobless_step_settings(&name) }
}
