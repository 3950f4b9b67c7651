//! Defines the jobs of each workload.

use serde_json::{Value, json};

use latchwork::host::Host;
use latchwork::submit::Submission;
use latchwork_core::plan::Plan;

use crate::bench::BenchError;

/// Number of calls or steps per job, for workloads whose names begin with `ten`.
pub const CALLS_PER_JOB: u32 = 10;

/// A kind of job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// One step that makes ten consecutive calls of a keyed tool. Each call needs a barrier.
    Ten,
    /// One step that makes ten consecutive calls of a tool that changes nothing.
    TenRead,
    /// Ten consecutive empty steps.
    TenPure,
    /// Ten consecutive plan steps, each a call of a keyed tool.
    TenPlan,
    /// One empty step.
    Zero,
}

impl Workload {
    /// All workloads. The first workload is the standard workload.
    pub const ALL: [Workload; 5] =
        [Workload::Ten, Workload::TenRead, Workload::TenPure, Workload::TenPlan, Workload::Zero];

    /// Name of the workload in commands and tables.
    pub fn name(self) -> &'static str {
        match self {
            Workload::Ten => "ten",
            Workload::TenRead => "ten-read",
            Workload::TenPure => "ten-pure",
            Workload::TenPlan => "ten-plan",
            Workload::Zero => "zero",
        }
    }

    /// Unit that is counted: calls, steps or jobs.
    pub fn unit(self) -> &'static str {
        match self {
            Workload::Ten | Workload::TenRead | Workload::TenPlan => "calls",
            Workload::TenPure => "steps",
            Workload::Zero => "jobs",
        }
    }

    /// Number of units per job.
    pub fn units_per_job(self) -> u32 {
        match self {
            Workload::Zero => 1,
            _ => CALLS_PER_JOB,
        }
    }

    /// Returns the plan of job number `job`. The number makes each plan a separate request.
    pub fn plan(self, job: u64) -> Value {
        let steps = match self {
            Workload::Ten => vec![calling(job, "Bench.Write")],
            Workload::TenRead => vec![calling(job, "Bench.Read")],
            Workload::TenPure => chain(|k| ("Bench.Noop", json!({ "job": job, "k": k }), &["read_only"])),
            Workload::TenPlan => chain(|k| ("Bench.Write", json!({ "job": job, "k": k }), &["internal_write"])),
            Workload::Zero => vec![step("s0", "Bench.Noop", json!({ "job": job }), &["read_only"], None)],
        };
        json!({ "plan_id": self.name(), "schema_version": "1.0", "steps": steps })
    }

    /// Returns the request for job number `job`.
    pub(super) fn submission(self, host: &Host, job: u64) -> Result<Submission, BenchError> {
        let text = serde_json::to_vec(&self.plan(job)).expect("a value is JSON");
        let plan: Plan = host.check(&text).map_err(|violations| BenchError::Plan {
            workload: self.name(),
            first: violations.first().map(ToString::to_string).unwrap_or_default(),
        })?;
        let mut submission = Submission::of_plan(plan, ACTOR);
        submission.intent_type = "bench".to_owned();
        Ok(submission)
    }
}

fn calling(job: u64, operator: &str) -> Value {
    let payload = json!({ "operator": operator, "calls": CALLS_PER_JOB, "job": job });
    step("s0", "Bench.Call", payload, &["read_only", "internal_write"], None)
}

fn chain<'a>(each: impl Fn(u32) -> (&'a str, Value, &'a [&'a str])) -> Vec<Value> {
    let one = |k: u32| {
        let (operator, payload, effects) = each(k);
        step(&format!("s{k}"), operator, payload, effects, k.checked_sub(1))
    };
    (0..CALLS_PER_JOB).map(one).collect()
}

fn step(id: &str, operator: &str, payload: Value, effects: &[&str], after: Option<u32>) -> Value {
    // The job number in the payload makes every action key unique.
    let template = if payload.get("k").is_some() { "bench:{job}:{k}" } else { "bench:{job}" };
    json!({
        "step_id": id, "kind": "operator", "name": operator, "payload": payload,
        "depends_on": after.map(|k| format!("s{k}")).into_iter().collect::<Vec<_>>(),
        "effects": effects, "policy_tags": ["bench"], "gate": "none", "cache_policy": "never",
        "idempotency_template": template,
    })
}

/// Actor who submits the benchmark's jobs.
pub(super) const ACTOR: &str = "bench";
