//! What a plugin says of itself.

use std::time::Duration;

use crate::bindings::export_plugin::exports::latchwork::plugin::plugin as wit;

/// What an operator may do to the world. A plan step that uses it has to cover each by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Looks and changes nothing.
    ReadOnly,
    /// Makes a value for the user.
    ProduceOutcome,
    /// Changes a system of the operator's own house.
    InternalWrite,
    /// Changes somebody else's system.
    ExternalWrite,
    /// Sends something to somebody.
    ExternalSend,
}

impl Effect {
    /// Whether it changes the world.
    pub fn is_world_changing(self) -> bool {
        matches!(self, Effect::InternalWrite | Effect::ExternalWrite | Effect::ExternalSend)
    }
}

/// How repeatable an operator is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Determinism {
    /// Byte-identical for equal input.
    Pure,
    /// A model: inputs and parameters are recorded, answers may differ.
    Stable,
    /// The world: answers change.
    External,
}

/// What an operator would like as limits; the host's configuration decides.
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
    /// Linear memory.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: u32) -> Self {
        self.memory_bytes = Some(bytes);
        self
    }
    /// Wall clock of one try.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout_ms = Some(millis(timeout));
        self
    }
    /// Size of the answer.
    #[must_use]
    pub fn output_bytes(mut self, bytes: u32) -> Self {
        self.output_bytes = Some(bytes);
        self
    }
}

/// What steps and tools say alike.
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
    /// Made only when asked for: `describe` is called once, handlers often.
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

/// An operator of either kind.
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
            // The narrowest claim: the host then gives a tool no way to write.
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

/// The manifest of a plugin. Calls no import: the host forbids it here.
pub fn describe<O: Described>(version: &str, operators: &[O]) -> wit::Manifest {
    wit::Manifest { version: version.to_owned(), operators: operators.iter().map(Described::operator).collect() }
}

/// Whole milliseconds, as many as fit.
pub(crate) fn millis(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_that_claims_nothing_may_do_nothing() {
        let schemas = || (String::new(), String::new());
        let mut description = Description::new("A.B", Determinism::External, schemas);
        assert_eq!(description.operator().effects, [wit::Effect::ReadOnly]);
        description.outcome = Some(("Draft.Email".into(), "draft".into()));
        assert_eq!(description.operator().effects, [wit::Effect::ProduceOutcome]);
        description.effects = vec![Effect::ExternalSend];
        assert_eq!(description.operator().effects, [wit::Effect::ExternalSend]);
    }
}
