//! The additional runs of one case, under a common limit of fuel.

use latchwork_engine::Plugin;

use crate::check::dynamic::baseline::CaseBaseline;
use crate::check::dynamic::script::RunScript;
use crate::check::dynamic::trace::Trace;

/// Maximum fuel of all additional runs of one case together. Once this limit is exceeded, the remaining runs are left
/// out, and the report notes the omission. A limit of fuel leaves out the same runs on every machine, unlike a limit of
/// time.
const CASE_FUEL_MAX: u64 = 20_000_000_000;

/// Executes the additional runs of one case, and counts the runs and their fuel.
pub(super) struct PerturbedRuns<'r> {
    pub(super) ran: &'r CaseBaseline<'r>,
    runs: &'r mut u64,
    fuel: u64,
    /// True if some runs were left out because the fuel limit was reached.
    pub(super) left_out: bool,
}

impl<'r> PerturbedRuns<'r> {
    pub(super) fn new(ran: &'r CaseBaseline<'r>, runs: &'r mut u64) -> Self {
        // Counts the fuel of the run without optimization, which equals the fuel of the usual run.
        Self { ran, runs, fuel: ran.base.fuel, left_out: false }
    }

    /// Returns the runs of the same case with another input, which count as runs of the case.
    pub(super) fn of_input<'i>(&'i mut self, ran: &'i CaseBaseline<'i>) -> PerturbedRuns<'i> {
        PerturbedRuns { ran, runs: self.runs, fuel: self.fuel, left_out: false }
    }

    /// Returns the fuel of the runs until now.
    pub(super) fn fuel(&self) -> u64 {
        self.fuel
    }

    /// Runs a script. Returns `None` if the case has already used too much fuel.
    pub(super) async fn run(&mut self, script: &RunScript, plugin: &Plugin) -> Option<Trace> {
        if self.fuel > CASE_FUEL_MAX {
            self.left_out = true;
            return None;
        }
        *self.runs += 1;
        let trace = script.run(plugin).await;
        self.fuel = self.fuel.saturating_add(trace.fuel);
        Some(trace)
    }

    /// Runs a script several times in one instance and returns the trace of each run. Returns no trace if the case has
    /// already used too much fuel.
    pub(super) async fn run_repeatedly(
        &mut self,
        script: &RunScript,
        plugin: &Plugin,
        first_seed: [u8; 32],
        times: usize,
    ) -> Vec<Trace> {
        if self.fuel > CASE_FUEL_MAX {
            self.left_out = true;
            return vec![];
        }
        *self.runs += 1;
        let traces = script.run_repeatedly(plugin, first_seed, times).await;
        self.fuel = traces.iter().fold(self.fuel, |fuel, trace| fuel.saturating_add(trace.fuel));
        traces
    }

    /// Returns the script of the case with a longer timeout. A run with this script stops at the first host call
    /// that differs from the usual run.
    pub(super) fn script(&self) -> RunScript {
        comparable_script(self.ran)
    }

    /// Returns the script of the case for a run that may make other calls. The script finds answers by operator and
    /// arguments instead of by position, and does not end the run at a difference.
    pub(super) fn script_of_other_calls(&self) -> RunScript {
        let mut script = self.script();
        script.expected = None;
        script.loose = true;
        self.bind_answers(&mut script);
        script
    }

    /// Binds each answer to the operator and the arguments of the call that gets it in the usual run. What the case states
    /// itself stays.
    pub(super) fn bind_answers(&self, script: &mut RunScript) {
        for (given, (operator, args)) in script.answers.iter_mut().zip(self.ran.base.calls()) {
            given.operator.get_or_insert_with(|| operator.clone());
            given.args.get_or_insert_with(|| args.clone());
        }
    }
}

/// Returns the script of a case with a longer timeout. A run with this script stops at the first host call that differs
/// from the usual run.
pub(super) fn comparable_script(ran: &CaseBaseline<'_>) -> RunScript {
    let mut script = ran.script.clone();
    script.limits.timeout_ms = script.limits.timeout_ms.saturating_mul(TIMEOUT_FACTOR);
    script.expected = Some(ran.base.asked.clone());
    script
}

/// Factor by which the timeout is extended. Otherwise a slow machine could cause findings.
const TIMEOUT_FACTOR: u32 = 20;
