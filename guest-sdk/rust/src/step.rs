//! Steps: deterministic code. A step reaches the outside world only through [`tools`](crate::tools).
//!
//! Each run of a step has a fresh instance. After a crash the step runs again from its log. Equal input,
//! clock, random numbers and tool answers must lead to equal calls and equal output. Ordinary Rust code
//! fulfills this rule, because a step has no real clock, file or generator.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bindings::export_plugin::exports::latchwork::plugin::plugin as wit;
use crate::bindings::types;
use crate::manifest::{Described, Description};
use crate::{Determinism, Effect, Error, Limits, log, schema};

pub use crate::context::Context;

type Handler = Box<dyn Fn(&str, &Context) -> Result<String, Error>>;

/// An operator of a step plugin, created by [`operator`].
pub struct Operator {
    description: Description,
    handler: Handler,
}

/// Creates the operator `name`, in the form `Noun.Verb`, that runs `handler`.
///
/// The input and output schemas come from the types of the handler. The default determinism is
/// [`Determinism::Pure`].
///
/// ```
/// use latchwork_guest::{Error, step};
/// # use schemars::JsonSchema;
/// # use serde::{Deserialize, Serialize};
/// #[derive(Deserialize, JsonSchema)]
/// struct Text {
///     text: String,
/// }
///
/// #[derive(Serialize, JsonSchema)]
/// struct Count {
///     words: usize,
/// }
///
/// fn count(input: Text, _: &step::Context) -> Result<Count, Error> {
///     Ok(Count { words: input.text.split_whitespace().count() })
/// }
///
/// let operator = step::operator("Text.Count", count).describe("Counts words.");
/// # let _ = operator;
/// ```
pub fn operator<I, O>(name: &str, handler: impl Fn(I, &Context) -> Result<O, Error> + 'static) -> Operator
where
    I: DeserializeOwned + JsonSchema,
    O: Serialize + JsonSchema,
{
    let own = name.to_owned();
    Operator {
        description: Description::new(name, Determinism::Pure, schema::schemas_of::<I, O>),
        handler: Box::new(move |input, context| {
            schema::to_json(&own, &handler(schema::parse_json(&own, input)?, context)?)
        }),
    }
}

impl Operator {
    /// Sets the description: one sentence for people.
    #[must_use]
    pub fn describe(mut self, text: &str) -> Self {
        text.clone_into(&mut self.description.description);
        self
    }
    /// Declares the effects of the tools that the step calls. The default is [`Effect::ProduceOutcome`] if
    /// the operator has an outcome, else [`Effect::ReadOnly`].
    #[must_use]
    pub fn effects(mut self, effects: impl IntoIterator<Item = Effect>) -> Self {
        self.description.effects = effects.into_iter().collect();
        self
    }
    /// Sets the repeatability of the operator. The repeatability covers the tools that the operator calls. A step that
    /// calls an external tool is also external, unless the input of the step fixes the answer of the tool.
    #[must_use]
    pub fn determinism(mut self, determinism: Determinism) -> Self {
        self.description.determinism = determinism;
        self
    }
    /// Declares that the output is an outcome, with a type such as `Draft.Email` and the status `draft` or
    /// `final`.
    #[must_use]
    pub fn outcome(mut self, outcome_type: &str, status: &str) -> Self {
        self.description.outcome = Some((outcome_type.to_owned(), status.to_owned()));
        self
    }
    /// Requests limits. The configuration of the host has precedence.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.description.limits = limits;
        self
    }
    /// Runs the operator on JSON text as the host does. For native tests.
    pub fn run(&self, input: &str) -> Result<String, Error> {
        (self.handler)(input, &Context::default())
    }
}

impl Described for Operator {
    fn operator(&self) -> wit::Operator {
        self.description.operator()
    }
}

/// Runs one of the operators by name. [`export_step!`](crate::export_step) calls this function.
#[doc(hidden)]
pub fn run(operators: Vec<Operator>, name: &str, input: &str) -> Result<String, types::Error> {
    log::install_panic_hook();
    let operator = operators.iter().find(|operator| operator.description.name == name);
    let Some(operator) = operator else {
        return Err(Error::invalid_input(format!("this plugin has no operator {name}")).into());
    };
    Ok(operator.run(input)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_operator_and_wrong_input_are_invalid_input() {
        let twice = || vec![operator("Number.Double", |n: i64, _: &Context| Ok(n * 2))];
        assert_eq!(run(twice(), "Number.Double", "21").unwrap(), "42");
        for (name, input) in [("Number.Halve", "21"), ("Number.Double", "\"x\"")] {
            assert_eq!(run(twice(), name, input).unwrap_err().code, types::ErrorCode::InvalidInput);
        }
    }
}
