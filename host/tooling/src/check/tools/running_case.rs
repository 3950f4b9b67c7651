//! A case that is being run, with its findings.

use std::sync::Arc;

use serde_json::Value;
use tracing::instrument::WithSubscriber;

use latchwork_core::model::effect::Answer;
use latchwork_core::model::manifest::{Determinism, OperatorSpec, RecoveryClass};
use latchwork_engine::capability::settings::PluginSettings;
use latchwork_engine::guest::permissions::{CallPermissions, EffectClass};
use latchwork_engine::guest::sources::StepContext;
use latchwork_engine::guest::tool_call::ToolCallContext;
use latchwork_engine::{Plugin, ToolEnd};

use crate::check::dynamic::with_more_room;
use crate::check::finding::Finding;
use crate::check::report::CaseRun;
use crate::check::tools::case::ToolCase;
use crate::check::tools::world;
use crate::check::tools::world::World;
use crate::check::variations::{KnownValues, near_times, neighbours};

/// External key of another call, in the form of the keys of jobs.
const OTHER_KEY: &str = "latch:job_01JZ3GQ8W6Y4B2D0F7H5K9M1NP:s2:1";

/// Number of tries after which the next day has begun. The clock of the stub advances by an hour in each try, from nine
/// o'clock.
pub(super) const LATER_TRIES: u32 = 16;

/// Maximum number of inputs with a time near the call.
const TIMES_MAX: usize = 6;

/// Inputs of the check of a tool.
pub(crate) struct ToolCheck<'a> {
    /// The loaded plugin.
    pub(crate) plugin: &'a Arc<Plugin>,
    /// Settings with which the plugin would be loaded.
    pub(crate) settings: &'a PluginSettings,
    /// True if the settings come from an entry of the configuration.
    pub(crate) is_configured: bool,
    /// Path of the file of cases.
    pub(crate) cases_file: &'a str,
    /// Texts and numbers in the plugin's sources.
    pub(crate) known: &'a KnownValues,
    /// True if the component contains the runtime of a language.
    pub(crate) has_runtime: bool,
    /// The plugin with another layout of its memory, if an operator is pure and the layout can be changed.
    pub(crate) moved: Option<Arc<Plugin>>,
}

/// A case that is being run, with its findings.
pub(crate) struct RunningCase<'a> {
    pub(super) tools: &'a ToolCheck<'a>,
    pub(super) case: &'a ToolCase,
    /// All cases of the plugin.
    pub(super) all_cases: &'a [ToolCase],
    pub(super) spec: &'a OperatorSpec,
    pub(super) class: RecoveryClass,
    pub(super) found: Vec<Finding>,
    pub(super) notes: Vec<String>,
    pub(super) ran: Option<CaseRun>,
    /// Result of the undo of the call, with the message of an error. `None` if the call was not undone.
    pub(super) undo: Option<Result<(), String>>,
}

impl<'a> RunningCase<'a> {
    /// Begins a case of an operator that the plugin serves.
    pub(super) fn new(tools: &'a ToolCheck<'a>, case: &'a ToolCase, all_cases: &'a [ToolCase]) -> Self {
        let spec = tools.plugin.operator(&case.operator).expect("cases are of operators that are served");
        let class = tools.plugin.class(&case.operator);
        Self { tools, case, all_cases, spec, class, found: vec![], notes: vec![], ran: None, undo: None }
    }

    /// Returns the input of the case, and the schema of its operator.
    pub(super) fn input_and_schema(&self) -> (Value, Value) {
        let input = serde_json::from_str(&self.case.input).expect("a case's input is JSON");
        (input, serde_json::from_str(&self.spec.input_schema).unwrap_or_default())
    }

    /// Creates the world of the case in its initial state.
    pub(super) fn world(&self) -> std::io::Result<World> {
        self.world_of(self.case)
    }

    /// Creates the world of a case in its initial state.
    pub(super) fn world_of(&self, case: &ToolCase) -> std::io::Result<World> {
        let is_stable = self.permissions().is_stable;
        World::of(case, self.tools.settings, self.tools.is_configured, is_stable)
    }

    pub(super) fn plugin(&self, world: &World) -> Plugin {
        self.tools.plugin.with_settings(world.settings()).expect("it is a tool")
    }

    /// Returns the plugin with another layout of its memory, or else the plugin itself.
    fn moved_plugin(&self, world: &World) -> Plugin {
        let plugin = self.tools.moved.as_ref().unwrap_or(self.tools.plugin);
        plugin.with_settings(world.settings()).expect("it is a tool")
    }

    /// Returns true if the name of an entry contains the key of the call.
    pub(super) fn is_named_by_key(&self, name: &str) -> bool {
        contains_key(name, &self.key())
    }

    /// Returns true if the case is a call that can be undone, and if no undo of it has a finding yet.
    pub(super) fn is_undo_open(&self) -> bool {
        let is_found = self.found.iter().any(|finding| finding.rule == "D118");
        self.tools.plugin.compensate && self.spec.is_world_changing() && self.case.error.is_none() && !is_found
    }

    /// Creates the world of the case. With `is_second`, an earlier call with the same input and another key was made in it.
    pub(super) async fn earlier_world(&self, is_second: bool) -> std::io::Result<World> {
        let world = self.world()?;
        if is_second {
            self.calling(self.case, &world, self.context_of_other_call(), false).await;
        }
        Ok(world)
    }

    /// External key of the call, equal in every try and every run.
    pub(super) fn key(&self) -> String {
        self.case.external_key()
    }

    pub(super) fn context(&self, tries_before: u32) -> ToolCallContext {
        ToolCallContext {
            step: StepContext {
                tenant: "default".into(),
                actor: "check".into(),
                correlation_id: "cor_01JZ0000000000000000000000".into(),
                job_id: "job_01JZ0000000000000000000000".into(),
                plan_id: "plan".into(),
                step_id: "s1".into(),
            },
            trace_id: "0123456789abcdef0123456789abcdef".into(),
            slot: "s1".into(),
            external_key: self.key(),
            attempt: 1 + tries_before,
            tries_before,
            timeout_ms: self.tools.plugin.limits(&self.case.operator).timeout_ms,
            started_boot_us: self.tools.plugin.machine().boot_us(),
            permissions: self.permissions(),
        }
    }

    /// Returns the context of `reconcile`, `verify` and `compensate`, which run after the end of the call. The clock
    /// and the random numbers differ from those of the call.
    pub(super) fn later_context(&self) -> ToolCallContext {
        self.context(LATER_TRIES)
    }

    /// Returns the context of another call of the same job.
    pub(super) fn context_of_other_call(&self) -> ToolCallContext {
        ToolCallContext { slot: "s2".into(), external_key: OTHER_KEY.to_owned(), ..self.context(0) }
    }

    /// Returns the context of the first try, with the external key of another call.
    pub(super) fn context_of_other_key(&self) -> ToolCallContext {
        ToolCallContext { external_key: OTHER_KEY.to_owned(), ..self.context(0) }
    }

    /// Returns the permissions that follow from the declarations of the operator, as in a job that is no dry run.
    fn permissions(&self) -> CallPermissions {
        self.permissions_of(&self.case.operator)
    }

    pub(super) fn permissions_of(&self, operator: &str) -> CallPermissions {
        let Some(spec) = self.tools.plugin.operator(operator) else { return CallPermissions::READ_ONLY };
        CallPermissions {
            class: EffectClass::of(&spec.effects),
            is_dry_run: false,
            is_stable: spec.determinism == Determinism::Stable,
            is_pure: spec.determinism == Determinism::Pure,
            is_question: false,
        }
    }

    /// Returns the case, and at most `max` copies of the case with similar other inputs.
    pub(super) fn cases_with_other_inputs(&self, max: usize) -> Vec<ToolCase> {
        let input: Value = serde_json::from_str(&self.case.input).expect("a case's input is JSON");
        let is_allowed = |input: &Value| self.tools.plugin.check_input(&self.case.operator, input).is_ok();
        let of = |input: Value| ToolCase { input: input.to_string(), ..self.case.clone() };
        let others = neighbours(&input, is_allowed).into_iter().take(max).map(of);
        std::iter::once(self.case.clone()).chain(others).collect()
    }

    /// Returns copies of the case in which a time of the input is near the time of the call, each with a description.
    pub(super) fn cases_with_near_times(&self) -> Vec<(String, ToolCase)> {
        let input: Value = serde_json::from_str(&self.case.input).expect("a case's input is JSON");
        let is_allowed = |input: &Value| self.tools.plugin.check_input(&self.case.operator, input).is_ok();
        let others = near_times(&input).into_iter().filter(|(_, input)| is_allowed(input)).take(TIMES_MAX);
        others.map(|(what, input)| (what, ToolCase { input: input.to_string(), ..self.case.clone() })).collect()
    }

    /// Calls the tool and returns true if its host was killed before the operation with this number, from 0.
    pub(super) async fn call_interrupted(&mut self, world: &mut World, operations: u32) -> bool {
        let interruption = world.interrupt_after(operations);
        self.call(world, 0).await;
        world.restart();
        interruption.has_interrupted()
    }

    /// Calls the tool once.
    pub(super) async fn call(&mut self, world: &World, tries_before: u32) -> CallResult {
        self.call_with(world, self.context(tries_before), false).await
    }

    /// Calls the tool once in this context. With `moved`, its memory has another layout.
    pub(super) async fn call_with(&mut self, world: &World, context: ToolCallContext, moved: bool) -> CallResult {
        let called = self.calling(self.case, world, context, moved).await;
        self.count_run(&called);
        called
    }

    /// Calls the operator of a case of the same plugin, without counting the run.
    pub(super) async fn calling(
        &self,
        case: &ToolCase,
        world: &World,
        context: ToolCallContext,
        moved: bool,
    ) -> CallResult {
        let plugin = if moved { self.moved_plugin(world) } else { self.plugin(world) };
        let log = world::CapturedLog::default();
        let usual = plugin.limits(&case.operator);
        let limits = if moved { with_more_room(&usual) } else { usual };
        let calling = plugin.invoke(&case.operator, &case.input, context, &limits);
        let end = calling.with_subscriber(log.subscriber()).await;
        CallResult { end, log: log.text() }
    }

    fn count_run(&mut self, called: &CallResult) {
        let run = self.ran.get_or_insert_with(|| CaseRun {
            name: self.case.name.clone(),
            operator: self.case.operator.clone(),
            ended: describe_end(&called.end.answer),
            fuel: called.end.fuel,
            memory_bytes: None,
            runs: 0,
        });
        run.runs += 1;
    }

    /// Adds a finding.
    pub(super) fn add_finding(&mut self, rule: &str, message: impl Into<String>) -> &mut Finding {
        let finding = Finding::new(rule, self.tools.cases_file, message)
            .at(self.case.line)
            .of(self.case.operator.as_str())
            .case(self.case.name.as_str());
        self.found.push(finding);
        self.found.last_mut().expect("pushed a moment ago")
    }
}

/// Returns true if the name of an entry contains a key, possibly with other characters in place of those that are neither
/// letters nor digits.
pub(super) fn contains_key(name: &str, key: &str) -> bool {
    let letters = |text: &str| -> String { text.chars().filter(char::is_ascii_alphanumeric).collect() };
    letters(name).contains(&letters(key))
}

/// Result of a call.
pub(crate) struct CallResult {
    pub(super) end: ToolEnd,
    pub(super) log: String,
}

/// Describes the end of a call: `succeeded`, or the code of its error.
fn describe_end(answer: &Answer) -> String {
    match answer {
        Answer::Ok(_) => "succeeded".to_owned(),
        Answer::NotApplied(failure) | Answer::Unknown { failure, .. } => failure.code.as_str().to_owned(),
    }
}

/// Describes an answer in a few words.
pub(crate) fn describe_answer(answer: &Answer, world: &World) -> String {
    let text = match answer {
        Answer::Ok(output) => output.result.clone(),
        Answer::NotApplied(failure) => format!("{failure} (nothing was changed)"),
        Answer::Unknown { failure, .. } => format!("{failure} (it may have changed something)"),
    };
    world.strip_paths(&text)
}
