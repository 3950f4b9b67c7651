//! Checks the header against the events. The header contains the job's row.

use crate::evidence::read::Evidence;
use crate::evidence::report::{ProblemKind, VerifyReport};
use crate::evidence::write;
use crate::model::job::JobState;
use crate::state::Job;

pub(super) fn check(evidence: &Evidence, job: &Job, report: &mut VerifyReport) {
    let Some((at, header)) = &evidence.header else { return };
    let row = &header.job;
    let constant = &job.header;
    let pairs: [(&str, String, String); 11] = [
        ("job_id", constant.job_id.to_string(), row.job_id.to_string()),
        ("tenant_id", constant.tenant_id.clone(), row.tenant_id.clone()),
        ("actor_id", constant.actor_id.clone(), row.actor_id.clone()),
        (constant.request.field(), constant.request.to_string(), row.request.to_string()),
        ("mode", constant.mode.as_str().to_owned(), row.mode.clone()),
        ("plan_id", job.plan.plan_id.clone(), row.plan_id.clone()),
        ("plan_hash", job.plan_hash.to_hex(), row.plan_hash.to_hex()),
        ("next_seq", job.next_seq.to_string(), row.next_seq.to_string()),
        ("head", job.head.to_hex(), row.head.to_hex()),
        ("engine_profile", constant.engine_profile.to_hex(), header.engine_profile.to_hex()),
        ("plugins", format!("{:?}", write::plugins(job)), format!("{:?}", header.plugins)),
    ];
    for (name, expected, found) in pairs.into_iter().filter(|(_, expected, found)| expected != found) {
        let message = format!("{name}: the job's row contradicts the events");
        report.add_problem(*at, ProblemKind::Header, message, format!("{expected} (events)"), found);
    }
    if row.attempt < job.attempt {
        let message = "attempt: the events contain a later claim than the job's row";
        report.add_problem(*at, ProblemKind::Header, message, job.attempt, row.attempt);
    }
    // The row may be in the state `PENDING` or `RUNNING` although the events imply another state:
    // - A request in the inbox wakes a job without an event.
    // - A claim has no event before its first write.
    // - A request for a retry or an undo wakes a finished job, and stays in the inbox until the job is reopened.
    let may_wake = match job.state {
        JobState::Cancelled => false,
        state if state.is_terminal() => row.inbox_pending,
        _ => true,
    };
    let woken = may_wake && matches!(row.state, JobState::Pending | JobState::Running);
    if row.state != job.state && !woken {
        let message = "state: the job's row contradicts the events";
        report.add_problem(
            *at,
            ProblemKind::Header,
            message,
            format!("{} (events)", job.state.as_str()),
            row.state.as_str(),
        );
    }
    let mut withheld = evidence.withheld();
    withheld.sort();
    if withheld != header.withheld {
        let message = "withheld: the header does not list exactly the withheld labels";
        report.add_problem(*at, ProblemKind::Header, message, withheld.join(", "), header.withheld.join(", "));
    }
}
