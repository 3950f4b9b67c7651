//! Runs the cases with code that is compiled without optimization. A stack frame of such code can be so large that the
//! engine ends its process. The runs are therefore made in another process if the check has one.

use std::thread::JoinHandle;

use latchwork_core::model::error::Code;
use latchwork_core::model::manifest::WasiMode;
use latchwork_engine::EngineVariation;

use crate::check::dynamic::baseline::{CaseBaseline, host_difference};
use crate::check::dynamic::child::{ChildEnd, ChildHost, run_in_process};
use crate::check::dynamic::host_inputs::OtherProcess;
use crate::check::dynamic::hosts::HostVariants;
use crate::check::dynamic::perturbed_runs::comparable_script;
use crate::check::dynamic::script::RunScript;
use crate::check::dynamic::trace::{Trace, compare_with_usage};
use crate::check::finding::Finding;
use crate::check::report::CheckReport;

/// Text of a finding about this host.
const HOST: &str = "compiled without optimization, with memory in other places";

/// Maximum number of cases that may end their process. The remaining cases are then left out, because each process
/// loads the component again.
const DEATHS_MAX: usize = 5;

/// Result of one script.
pub(super) enum UnoptimizedRun {
    Trace(Box<Trace>),
    /// The script ended its process with this signal.
    Killed(String),
}

/// Results of the scripts, as far as they ran.
pub(super) struct UnoptimizedRuns {
    runs: Vec<UnoptimizedRun>,
    /// Finding about the component as a whole, or the reason why the remaining scripts did not run.
    refused: Option<RunObstacle>,
}

pub(super) enum RunObstacle {
    Finding(&'static str, String),
    Note(String),
}

/// Runs of the cases that are being made, possibly in another process.
pub(super) enum PendingRuns {
    /// The other process, on a thread of its own.
    Process(JoinHandle<UnoptimizedRuns>),
    /// The scripts that this process still has to run.
    Here(Vec<RunScript>),
}

/// Starts the runs of all cases that the host did not end in the usual run. Returns `None` if there is no such case.
pub(super) fn start(hosts: &HostVariants<'_>, ran: &[CaseBaseline<'_>]) -> Option<PendingRuns> {
    let scripts: Vec<_> = calm(ran).map(comparable_script).collect();
    if scripts.is_empty() {
        return None;
    }
    let Some(process) = hosts.process else { return Some(PendingRuns::Here(scripts)) };
    if let Ok(engine) = hosts.engine.with_variation(EngineVariation::Unoptimized) {
        hosts.announce_compilation(&engine, hosts.bytes, "without optimization");
    }
    let (process, wasi) = (process.clone(), hosts.settings.wasi);
    Some(PendingRuns::Process(std::thread::spawn(move || run_in_processes(&process, wasi, scripts))))
}

fn calm<'r, 'c>(ran: &'r [CaseBaseline<'c>]) -> impl Iterator<Item = &'r CaseBaseline<'c>> {
    ran.iter().filter(|ran| ran.base.fault().is_none())
}

/// D066 and D072: waits for the runs and compares them. `differing` has the names of the cases for which a run under
/// another host already differs. The same defect appears under several hosts, so these cases get no second finding.
pub(super) async fn compare(
    hosts: &HostVariants<'_>,
    pending: PendingRuns,
    ran: &[CaseBaseline<'_>],
    differing: &[&str],
    report: &mut CheckReport,
) {
    let UnoptimizedRuns { runs, refused } = match pending {
        PendingRuns::Process(thread) => {
            let join = || thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            tokio::task::block_in_place(join)
        }
        PendingRuns::Here(scripts) => run_here(hosts, &scripts).await,
    };
    for (ran, run) in calm(ran).zip(runs) {
        for run in report.cases.iter_mut().filter(|run| run.name == ran.case.name) {
            run.runs += 1;
        }
        report.add(finding(ran, &run).filter(|_| !differing.contains(&ran.case.name.as_str())));
    }
    match refused {
        Some(RunObstacle::Finding(rule, message)) => report.add([Finding::new(rule, hosts.file, message)]),
        Some(RunObstacle::Note(note)) => report.notes.push(note),
        None => {}
    }
}

fn finding(ran: &CaseBaseline<'_>, run: &UnoptimizedRun) -> Option<Finding> {
    match run {
        UnoptimizedRun::Killed(signal) => {
            let message =
                format!("compiled without optimization, the host does not survive the case: {signal} ended it");
            Some(ran.finding("D072", message))
        }
        UnoptimizedRun::Trace(trace) => {
            // Unoptimized code needs more time and more stack. Neither says anything about the plugin.
            if trace.fault_code().is_some_and(Code::is_of_machine) {
                return None;
            }
            let parting = compare_with_usage(&ran.base, trace)?;
            Some(host_difference(ran, HOST, &parting, trace))
        }
    }
}

/// Runs the scripts in another process. If a script ends its process, a new process runs the remaining scripts.
fn run_in_processes(process: &OtherProcess, wasi: WasiMode, mut scripts: Vec<RunScript>) -> UnoptimizedRuns {
    let (mut runs, mut deaths) = (Vec::new(), 0);
    let refused = loop {
        let child = run_in_process(process, ChildHost::Unoptimized, wasi, scripts.clone());
        let done = child.traces.len();
        runs.extend(child.traces.into_iter().map(|trace| UnoptimizedRun::Trace(Box::new(trace))));
        let signal = match child.end {
            ChildEnd::Complete => break None,
            ChildEnd::Refused(why) => {
                let message = format!("compiled without optimization it cannot be loaded: {why}");
                break Some(RunObstacle::Finding("D066", message));
            }
            ChildEnd::Killed { signal, is_loaded: false } => {
                let message =
                    format!("compiled without optimization, the host does not survive its load: {signal} ended it");
                break Some(RunObstacle::Finding("D072", message));
            }
            ChildEnd::Unusable(why) => {
                break Some(RunObstacle::Note(format!("cases were not run without optimization: {why}")));
            }
            ChildEnd::Killed { signal, .. } => signal,
        };
        runs.push(UnoptimizedRun::Killed(signal));
        deaths += 1;
        if done + 1 >= scripts.len() {
            break None;
        }
        scripts.drain(..=done);
        if deaths == DEATHS_MAX {
            let left = scripts.len();
            let note = format!("{left} cases were not run without optimization: {deaths} cases ended the process");
            break Some(RunObstacle::Note(note));
        }
    };
    UnoptimizedRuns { runs, refused }
}

/// Runs the scripts in this process.
async fn run_here(hosts: &HostVariants<'_>, scripts: &[RunScript]) -> UnoptimizedRuns {
    let load = || {
        let engine = hosts.engine.with_variation(EngineVariation::Unoptimized).map_err(|error| error.to_string())?;
        hosts.announce_compilation(&engine, hosts.bytes, "without optimization");
        engine.load(hosts.bytes, hosts.settings.clone()).map_err(|error| error.to_string())
    };
    let plugin = match tokio::task::block_in_place(load) {
        Ok(plugin) => plugin,
        Err(why) => {
            let message = format!("compiled without optimization it cannot be loaded: {why}");
            return UnoptimizedRuns { runs: vec![], refused: Some(RunObstacle::Finding("D066", message)) };
        }
    };
    let mut runs = Vec::new();
    for script in scripts {
        runs.push(UnoptimizedRun::Trace(Box::new(script.run(&plugin).await)));
    }
    UnoptimizedRuns { runs, refused: None }
}
