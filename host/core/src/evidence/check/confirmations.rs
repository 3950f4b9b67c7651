//! Checks from the events alone that no step used an unconfirmed effect. The fold, not this module, checks that the
//! consequences of mismatches follow the plugin's confirmation policy.

use std::collections::BTreeSet;

use crate::event::{Body, Consequence, Event, Resource};
use crate::evidence::read::Evidence;
use crate::evidence::report::{ProblemKind, VerifyReport};
use crate::model::ids::{Slot, StepId};
use crate::plan::Plan;

pub(super) fn check(evidence: &Evidence, report: &mut VerifyReport) {
    let mut events = evidence.events.iter();
    let Some((_, second)) = events.nth(1) else { return };
    let Body::PlanCreated { plan, .. } = &second.body else { return };
    let plan = serde_json::from_value(plan.clone()).ok();
    let mut walk = ConfirmationWalk { plan, unconfirmed: BTreeSet::new(), ended: None };
    for (at, event) in &evidence.events {
        walk.event(*at, event, report);
    }
}

struct ConfirmationWalk {
    plan: Option<Plan>,
    /// Changes that still have to be confirmed.
    unconfirmed: BTreeSet<(Slot, Resource)>,
    /// Call whose mismatch ended the job.
    ended: Option<Slot>,
}

impl ConfirmationWalk {
    fn event(&mut self, at: u64, event: &Event, report: &mut VerifyReport) {
        match &event.body {
            Body::ToolInvocationStarted { slot, .. } => self.check_dependencies(at, slot, report),
            Body::ConfirmationFailed { slot, resource, consequence, .. } => {
                let key = (slot.clone(), resource.clone());
                match consequence {
                    Consequence::Asked => drop(self.unconfirmed.insert(key)),
                    Consequence::Ended => self.ended = Some(slot.clone()),
                    Consequence::Warned => drop(self.unconfirmed.remove(&key)),
                }
            }
            Body::ConfirmationAccepted { slot, resource, .. } => self
                .unconfirmed
                .retain(|(asked, thing)| asked != slot || resource.as_ref().is_some_and(|resource| resource != thing)),
            Body::JobCompleted {} => {
                let open = self.ended.as_ref().or(self.unconfirmed.first().map(|(slot, _)| slot));
                if let Some(slot) = open {
                    let message = format!("the job completed although {slot} was not confirmed");
                    report.add_problem(at, ProblemKind::Illegal, message, "confirmation_accepted", "job_completed");
                }
            }
            _ => {}
        }
    }

    fn check_dependencies(&self, at: u64, slot: &Slot, report: &mut VerifyReport) {
        // Other checks enforce the rules of compensating calls.
        if slot.as_str().ends_with("~c") {
            return;
        }
        if let Some(ended) = &self.ended {
            let message = format!("{slot} was started after the mismatch of {ended} had ended the job");
            report.add_problem(at, ProblemKind::Permission, message, "no further call", format!("{slot} was started"));
        }
        let held = self.held();
        if held.contains(&slot.step()) {
            let message = format!("{slot} was started before the changes it depends on were confirmed");
            report.add_problem(
                at,
                ProblemKind::Permission,
                message,
                "confirmation_accepted",
                format!("{slot} was started"),
            );
        }
    }

    /// Returns the steps with unconfirmed calls, and all steps that depend on them.
    fn held(&self) -> BTreeSet<StepId> {
        let mut held: BTreeSet<StepId> = self.unconfirmed.iter().map(|(slot, _)| slot.step()).collect();
        for step in self.plan.iter().flat_map(|plan| &plan.steps).filter(|_| !self.unconfirmed.is_empty()) {
            if step.depends_on.iter().any(|id| held.contains(id)) {
                held.insert(step.step_id.clone());
            }
        }
        held
    }
}
