//! The manifest of a plugin.

use std::time::Duration;

use crate::bindings::export_plugin::exports::latchwork::plugin::plugin as wit;

/// An effect that an operator may have on the world. A plan step that uses the operator must list all effects
/// of the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Only reads.
    ReadOnly,
    /// Produces an outcome for the user.
    ProduceOutcome,
    /// Writes to granted folders and to the key-value map. Gives no right to change a server.
    InternalWrite,
    /// Changes another system over HTTP or TCP, also a system of the same organization.
    ExternalWrite,
    /// Sends something to a recipient, such as a mail.
    ExternalSend,
}

impl Effect {
    /// Returns true if the effect changes the world.
    pub fn is_world_changing(self) -> bool {
        matches!(self, Effect::InternalWrite | Effect::ExternalWrite | Effect::ExternalSend)
    }
}

/// Repeatability of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Determinism {
    /// Equal input gives byte-identical output.
    Pure,
    /// The operator of a step uses time, randomness, ids of its job or a model. The operator of a tool asks a model,
    /// and its calls count as calls that cost money. For both, inputs and parameters are recorded, and outputs for
    /// equal inputs may differ.
    Stable,
    /// Answers depend on the outside world and change over time.
    External,
}

/// Limits that an operator requests. The configuration of the host has precedence.
///
/// ```
/// use latchwork_guest::Limits;
/// use std::time::Duration;
///
/// let limits = Limits::default().timeout(Duration::from_secs(10)).output_bytes(4 << 20);
/// # let _ = limits;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    memory_bytes: Option<u32>,
    timeout_ms: Option<u32>,
    output_bytes: Option<u32>,
}

impl Limits {
    /// Sets the maximum size of the linear memory, in bytes.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: u32) -> Self {
        self.memory_bytes = Some(bytes);
        self
    }
    /// Sets the maximum wall-clock time of one try. The host receives the time in milliseconds.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout_ms = Some(millis(timeout));
        self
    }
    /// Sets the maximum size of the answer, in bytes.
    #[must_use]
    pub fn output_bytes(mut self, bytes: u32) -> Self {
        self.output_bytes = Some(bytes);
        self
    }
}

/// The part of the description that steps and tools share.
#[derive(Clone, Debug)]
pub(crate) struct Description {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) effects: Vec<Effect>,
    pub(crate) determinism: Determinism,
    pub(crate) outcome: Option<(String, String)>,
    pub(crate) idempotent_by_key_seconds: u32,
    pub(crate) settling_ms: u32,
    pub(crate) limits: Limits,
    /// Generates the JSON Schemas of input and output. Only `describe` calls this function, so a handler call generates
    /// no schemas.
    pub(crate) schemas: fn() -> (String, String),
}

impl Description {
    pub(crate) fn new(name: &str, determinism: Determinism, schemas: fn() -> (String, String)) -> Self {
        Self {
            name: name.to_owned(),
            description: String::new(),
            effects: Vec::new(),
            determinism,
            outcome: None,
            idempotent_by_key_seconds: 0,
            settling_ms: 0,
            limits: Limits::default(),
            schemas,
        }
    }
}

/// An operator of a step or of a tool.
#[doc(hidden)]
pub trait Described {
    #[doc(hidden)]
    fn operator(&self) -> wit::Operator;
}

impl Description {
    pub(crate) fn operator(&self) -> wit::Operator {
        let (input_schema, output_schema) = (self.schemas)();
        let mut effects = self.effects.clone();
        if effects.is_empty() {
            // Uses the narrowest effect by default. The host gives a tool without a world-changing effect no way to
            // write.
            effects.push(if self.outcome.is_some() { Effect::ProduceOutcome } else { Effect::ReadOnly });
        }
        let (outcome_type, outcome_status) = self.outcome.clone().unzip();
        wit::Operator {
            name: self.name.clone(),
            description: self.description.clone(),
            input_schema,
            output_schema,
            effects: effects.into_iter().map(wit::Effect::from).collect(),
            determinism: match self.determinism {
                Determinism::Pure => wit::Determinism::Pure,
                Determinism::Stable => wit::Determinism::Stable,
                Determinism::External => wit::Determinism::External,
            },
            outcome_type,
            outcome_status,
            resolution: wit::Resolution {
                idempotent_by_key_seconds: self.idempotent_by_key_seconds,
                settling_ms: self.settling_ms,
            },
            limits: wit::LimitsWanted {
                memory_bytes: self.limits.memory_bytes,
                timeout_ms: self.limits.timeout_ms,
                output_bytes: self.limits.output_bytes,
            },
        }
    }
}

impl From<Effect> for wit::Effect {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::ReadOnly => wit::Effect::ReadOnly,
            Effect::ProduceOutcome => wit::Effect::ProduceOutcome,
            Effect::InternalWrite => wit::Effect::InternalWrite,
            Effect::ExternalWrite => wit::Effect::ExternalWrite,
            Effect::ExternalSend => wit::Effect::ExternalSend,
        }
    }
}

/// Builds the manifest of a plugin. Must not call an import: the host traps a plugin that calls one during
/// `describe`.
pub fn describe<O: Described>(version: &str, operators: &[O]) -> wit::Manifest {
    wit::Manifest { version: version.to_owned(), operators: operators.iter().map(Described::operator).collect() }
}

/// Converts to whole milliseconds and saturates at `u32::MAX`.
pub(crate) fn millis(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operator_without_effects_is_read_only() {
        let schemas = || (String::new(), String::new());
        let mut description = Description::new("A.B", Determinism::External, schemas);
        assert_eq!(description.operator().effects, [wit::Effect::ReadOnly]);
        description.outcome = Some(("Draft.Email".into(), "draft".into()));
        assert_eq!(description.operator().effects, [wit::Effect::ProduceOutcome]);
        description.effects = vec![Effect::ExternalSend];
        assert_eq!(description.operator().effects, [wit::Effect::ExternalSend]);
    }
}
