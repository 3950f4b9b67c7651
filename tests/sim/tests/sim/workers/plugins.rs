//! Plugins of a run as workers and replay use them: tools that act on the simulated world, and steps that
//! follow a script.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use latchwork_core::model::effect::{Answer, StateChange};
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::{Limits, RecoveryClass, WasiMode};
use latchwork_engine::guest::step_calls::{StepCalls, Stop, ToolCall};
use latchwork_engine::guest::tool_call::ToolCallContext;
use latchwork_engine::{
    PinnedComponents, Plugin, ReconcileVerdict, Runnable, StepEnd, StepOutcome, ToolEnd, VerifyResult,
};

use crate::workers::process::Process;
use crate::world::{operators, tools};

/// All plugins of one process. The process is `None` in a replay. A replay calls no tool.
pub(crate) struct Plugins(pub(crate) Option<Arc<Process>>);

struct Scripted(Option<Arc<Process>>);

impl PinnedComponents for Plugins {
    fn by_digest(&self, digest: Hash, _: WasiMode) -> Result<Arc<dyn Runnable>, String> {
        let known = operators::table().values().any(|pinned| pinned.digest == digest);
        if !known {
            return Err(format!("no operator has the digest {digest}"));
        }
        Ok(Arc::new(Scripted(self.0.clone())))
    }
}

impl Scripted {
    fn process(&self) -> Result<&Arc<Process>, Failure> {
        self.0.as_ref().ok_or_else(|| Failure::new(Code::Internal, "a replay calls no tool"))
    }

    async fn call(&self, class: RecoveryClass, body: String, context: ToolCallContext) -> ToolEnd {
        match self.process() {
            Ok(process) => tools::call(process, class, body, context).await,
            Err(failure) => ToolEnd { answer: Answer::NotApplied(failure), fuel: 0, wall_us: 0, functions: vec![] },
        }
    }
}

#[async_trait]
impl Runnable for Scripted {
    fn check_input(&self, _: &str, _: &Value) -> Result<(), Failure> {
        Ok(())
    }

    fn check_output(&self, _: &str, _: &Value) -> Result<(), Failure> {
        Ok(())
    }

    async fn run_step(&self, operator: &str, input: &str, _: &Limits, calls: Box<dyn StepCalls>) -> StepEnd {
        let outcome = script(operator, input, calls).await.unwrap_or(StepOutcome::Stopped);
        StepEnd { outcome, fuel: 7, memory_bytes: 0, functions: vec![] }
    }

    async fn invoke(&self, operator: &str, args: &str, call: ToolCallContext, _: &Limits) -> ToolEnd {
        self.call(operators::class(operator), args.to_owned(), call).await
    }

    async fn reconcile(
        &self,
        _: &str,
        _: &str,
        call: ToolCallContext,
        _: &Limits,
    ) -> Result<ReconcileVerdict, Failure> {
        tools::reconcile(self.process()?, call).await
    }

    async fn verify(&self, _: &str, _: &StateChange, _: ToolCallContext, _: &Limits) -> Result<VerifyResult, Failure> {
        Err(Failure::new(Code::Internal, "no tool of a run says that it changed a resource"))
    }

    async fn compensate(
        &self,
        _: &str,
        (of, _, result): (&str, &str, &str),
        call: ToolCallContext,
        _: &Limits,
    ) -> ToolEnd {
        if let Ok(process) = self.process() {
            let world = process.scene.world.lock().expect("no holder panics");
            let done = world.arrived_under(of).map(|arrived| arrived.result.clone());
            drop(world);
            if done.as_deref() != Some(result) {
                process.scene.report_violation(format!("{of} is undone as {result}, and the world has {done:?}"));
            }
        }
        self.call(RecoveryClass::Opaque, format!("undo {of}"), call).await
    }

    fn as_plugin(&self) -> Option<&Plugin> {
        None
    }
}

/// Makes the calls that the input of the step lists, one group after another. Every answer influences the arguments of
/// later calls.
async fn script(operator: &str, input: &str, mut calls: Box<dyn StepCalls>) -> Result<StepOutcome, Stop> {
    let input: Value = serde_json::from_str(input).expect("the worker gives JSON");
    let groups = input["calls"].as_array().cloned().unwrap_or_default();
    let mut heard: Vec<Value> = vec![calls.next_u32().into()];
    for (n, group) in groups.iter().enumerate() {
        let names: Vec<&str> = group.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut wanted = Vec::new();
        for (k, name) in names.iter().enumerate() {
            let hash = Hash::of(&[Value::from(heard.clone()).to_string().as_bytes()]);
            let args =
                json!({ "n": n, "k": k, "luck": calls.below(1_000), "time": calls.now_us() / 1_000, "told": hash });
            wanted.push(ToolCall { operator: (*name).to_owned(), args: args.to_string(), action_key: None });
        }
        let answers = match wanted.len() {
            1 => {
                let ToolCall { operator, args, action_key } = wanted.remove(0);
                vec![calls.call(operator, args, action_key).await?]
            }
            _ => calls.call_all(wanted).await?,
        };
        for answer in answers {
            match answer.map_err(|failure| failure.for_guest().code) {
                Ok(text) => heard.push(text.into()),
                Err(code) if operator == operators::STRICT => {
                    let failure = Failure::new(Code::InvalidInput, format!("a call failed: {code}"));
                    return Ok(StepOutcome::Failed(failure));
                }
                Err(code) => heard.push(code.to_string().into()),
            }
        }
        calls.emit("group".to_owned(), json!({ "n": n, "heard": heard.len() }).to_string()).await?;
    }
    heard.push((calls.now_us() / 1_000).into());
    Ok(StepOutcome::Output(Value::from(heard).to_string()))
}
