//! Runs the same cases in another process with another memory layout, environment, time zone and language.

use crate::check::dynamic::baseline::{CaseBaseline, host_difference};
use crate::check::dynamic::child::{ChildEnd, ChildHost, run_in_process};
use crate::check::dynamic::hosts::HostVariants;
use crate::check::dynamic::trace::compare_with_usage;
use crate::check::report::CheckReport;

/// D066 and D072: compares the runs with runs in another process.
pub(super) fn compare(hosts: &HostVariants<'_>, ran: &[CaseBaseline<'_>], report: &mut CheckReport) {
    let Some(process) = hosts.process else { return };
    let calm: Vec<_> = ran.iter().filter(|ran| ran.base.fault().is_none()).collect();
    if calm.is_empty() {
        return;
    }
    let scripts = calm.iter().map(|ran| ran.script.clone()).collect();
    let run = || run_in_process(process, ChildHost::Usual, hosts.settings.wasi, scripts);
    let child = tokio::task::block_in_place(run);
    for (ran, trace) in calm.iter().zip(&child.traces) {
        if let Some(parting) = compare_with_usage(&ran.base, trace) {
            let host = "in another process with another environment, time zone and language";
            report.add([host_difference(ran, host, &parting, trace)]);
        }
        for run in report.cases.iter_mut().filter(|run| run.name == ran.case.name) {
            run.runs += 1;
        }
    }
    match child.end {
        ChildEnd::Complete => {}
        ChildEnd::Killed { signal, .. } => {
            let ran = calm[child.traces.len().min(calm.len() - 1)];
            let message = format!("in another process, the host does not survive the case: {signal} ended it");
            report.add([ran.finding("D072", message)]);
        }
        ChildEnd::Refused(why) | ChildEnd::Unusable(why) => {
            report.notes.push(format!("cases were not run in another process: {why}"));
        }
    }
}
