//! Simulated execution of steps and their calls, and their effects on the simulated world.

use serde_json::{Value, json};

use crate::decide;
use crate::decide::tests::support::{CrashPoint, Dead, Sim, good};
use crate::decide::{Invocation, NextAction, ReconcileAnswer, StepResult};
use crate::model::effect::{Answer, Effect as Recorded};
use crate::model::error::Failure;
use crate::model::ids::{JobId, Operator, Slot, StepId};
use crate::state::{Durable, label};

impl Sim {
    pub(super) fn try_step(&mut self, durable: &mut Durable, id: &StepId) -> Result<(), Dead> {
        let draft = decide::step_started(durable, id);
        self.write(durable, draft)?;
        let planned = durable.job.plan.step(id).unwrap().clone();
        let input: Value = serde_json::from_slice(&durable.input(id).unwrap()).unwrap();
        let fails = planned.name.as_str() == "Failing";
        let (calls, result) = if fails || planned.name.as_str() == "Script" {
            if self.machine_faults > 0 {
                self.machine_faults -= 1;
                let failure = Failure::new(crate::model::error::Code::MachineFault, "no memory");
                let draft = decide::step_ended(durable, id, 0, StepResult::Fault(failure));
                return self.write(durable, draft.expect("the sim is deterministic"));
            }
            // A step plugin that calls the operators named in its input, in order.
            let mut answers = Vec::new();
            let list = input["calls"].as_array().unwrap().clone();
            for (k, call) in list.iter().enumerate() {
                let slot = Slot::of_call(id, k as u32);
                match self.perform(durable, slot, call.as_str().unwrap(), &json!({ "k": k }))? {
                    Some(answer) => answers.push(answer.map_err(|failure| failure.code.to_string())),
                    None => return Ok(()),
                }
            }
            if fails && (input["fail"] == true || answers.iter().any(Result::is_err)) {
                let failure = Failure::new(crate::model::error::Code::InvalidInput, "a call failed");
                let draft = decide::step_ended(durable, id, list.len() as u32, StepResult::Failed(failure));
                return self.write(durable, draft.expect("the sim is deterministic"));
            }
            let text = json!(answers.iter().map(|a| a.clone().unwrap_or_else(|e| e)).collect::<Vec<_>>());
            (list.len() as u32, StepResult::Output(text.to_string().into_bytes()))
        } else {
            match self.perform(durable, Slot::of_step(id), planned.name.as_str(), &input)? {
                Some(Ok(result)) => (0, StepResult::Output(result.into_bytes())),
                Some(Err(failure)) => (0, StepResult::Failed(failure)),
                None => return Ok(()),
            }
        };
        let draft = decide::step_ended(durable, id, calls, result).expect("the sim is deterministic");
        let draft = decide::index_result(durable, id, draft, &self.context());
        self.write(durable, draft)
    }

    pub(super) fn perform(
        &mut self,
        durable: &mut Durable,
        slot: Slot,
        operator: &str,
        args: &Value,
    ) -> Result<Option<Result<String, Failure>>, Dead> {
        let args = crate::encoding::canon::value_to_canonical(args);
        let action_key = decide::step_action_key(durable, &slot).expect("the templates of the sim resolve");
        let invocation = Invocation {
            args_ref: durable.payload_ref(&label::args(&slot), &args),
            slot,
            operator: Operator::new(operator),
            args,
            action_key,
            timeout_ms: 30_000,
            unusable: None,
            nonce: None,
            quiescence: None,
            reconcile_exhausted: false,
            max_cost_micro_usd: self.max_cost,
            reserved_micro_usd: 0,
            month_micro_usd: None,
        };
        self.follow(durable, invocation)
    }

    pub(super) fn follow(
        &mut self,
        durable: &mut Durable,
        mut invocation: Invocation,
    ) -> Result<Option<Result<String, Failure>>, Dead> {
        for _ in 0..100 {
            match decide::next_action(durable, &invocation, &self.context()) {
                NextAction::Answer(answer) => return Ok(Some(answer)),
                NextAction::Write(draft) => self.write(durable, draft)?,
                NextAction::Execute { barrier, started } => {
                    let changing = barrier.is_some();
                    if let Some(barrier) = barrier {
                        self.write(durable, barrier)?;
                    }
                    let effect = self.execute(&invocation, &started, changing)?;
                    let draft = decide::answered(durable, &invocation, &started, effect, &self.context());
                    self.write(durable, draft)?;
                }
                NextAction::FindKeyHolder => {
                    let held = invocation.action_key.and_then(|key| self.actions.get(&key).cloned());
                    durable.prefetched.actions.insert(invocation.slot.clone(), held);
                }
                NextAction::ReadSpending => {
                    invocation.month_micro_usd = Some(self.spent_elsewhere + durable.job.cost.cost_micro_usd)
                }
                NextAction::CheckOwner | NextAction::StopOldCall => {
                    invocation.quiescence = Some(crate::rules::ledger::Quiescence::Quiescent);
                }
                NextAction::WaitMs(ms) => self.now_us += i64::from(ms) * 1000,
                NextAction::Reconcile { first_attempt, .. } => {
                    let key =
                        crate::model::keys::external_key(&durable.job.header.job_id, &invocation.slot, first_attempt);
                    if self.reconcile_unknown {
                        invocation.reconcile_exhausted = true;
                        continue;
                    }
                    let reconcile_answer = match self.effect_keys.contains(&key) {
                        true => ReconcileAnswer::Happened(good()),
                        false => ReconcileAnswer::DidNotHappen,
                    };
                    let reconcile_answer = match self.not_yets.checked_sub(1) {
                        Some(left) => {
                            self.not_yets = left;
                            ReconcileAnswer::NotYet { wait_ms: 500 << (left % 8) }
                        }
                        None => reconcile_answer,
                    };
                    match decide::reconciled(durable, &invocation, reconcile_answer, &self.context()) {
                        NextAction::Write(draft) => self.write(durable, draft)?,
                        NextAction::Block(draft) => {
                            self.write(durable, draft)?;
                            return Ok(None);
                        }
                        NextAction::WaitMs(ms) => self.now_us += i64::from(ms) * 1000,
                        other => panic!("{other:?} after an answer"),
                    }
                }
                NextAction::Block(draft) => {
                    self.write(durable, draft)?;
                    return Ok(None);
                }
                NextAction::Diverge(divergence) => panic!("diverged: {divergence}"),
                NextAction::Abandon => return Ok(None),
            }
            let state = durable.job.step(&invocation.slot.step()).unwrap().state;
            use crate::model::step::StepState::{Blocked, FailedRetryable, Skipped};
            if matches!(state, FailedRetryable | Blocked | Skipped) {
                return Ok(None);
            }
        }
        panic!("no answer after a hundred decisions");
    }

    pub(super) fn execute(
        &mut self,
        invocation: &Invocation,
        started: &decide::Try,
        changing: bool,
    ) -> Result<Recorded, Dead> {
        if self.crash == Some(CrashPoint::BeforeExecute(self.executions)) {
            return Err(Dead);
        }
        let slot = &invocation.slot;
        let scripted = self.script.get_mut(&invocation.operator).filter(|s| !s.is_empty()).map(|s| s.remove(0));
        let answer = scripted.unwrap_or_else(|| Answer::Ok(good()));
        // A world-changing call takes effect unless it is answered with `NotApplied` or is lost.
        let is_lost = self.loses_calls && matches!(answer, Answer::Unknown { .. });
        if changing && !is_lost && !matches!(answer, Answer::NotApplied(_)) {
            *self.executions_by_slot.entry(slot.clone()).or_default() += 1;
            self.effect_keys.insert(crate::model::keys::external_key(
                &JobId::new("job_1"),
                slot,
                started.first_attempt,
            ));
        }
        if self.crash == Some(CrashPoint::AfterExecute(self.executions)) {
            return Err(Dead);
        }
        self.executions += 1;
        Ok(Recorded {
            slot: slot.clone(),
            try_no: started.try_no,
            answer,
            provenance: started.provenance,
            time_us: self.now_us,
            spent: Some(crate::model::effect::Consumption { fuel: 5, wall_ms: 2 }),
        })
    }
}
