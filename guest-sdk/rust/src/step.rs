//! Steps: deterministic code that computes, and reaches the world through [`tools`](crate::tools) alone.
//!
//! A step is run in a fresh instance each time, and run again from its log after a crash: the same
//! input, clock, random numbers and answers of tools must lead to the same calls and the same
//! output. Ordinary Rust does; there is no clock, file or generator here that could differ.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bindings::export_plugin::exports::latchwork::plugin::plugin as wit;
use crate::bindings::types;
use crate::manifest::{Described, Description};
use crate::{Determinism, Effect, Error, Limits, log, schema};

pub use crate::context::Context;

type Handler = Box<dyn Fn(&str, &Context) -> Result<String, Error>>;

/// One operator of a step plugin, made by [`operator`].
pub struct Operator {
    about: Description,
    handler: Handler,
}

/// An operator `name` (`Noun.Verb`) that is served by `handler`.
///
/// Its input and output schemas are those of the handler's types. It is [`Determinism::Pure`]
/// until told otherwise.
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
        about: Description::new(name, Determinism::Pure, schema::of::<I, O>),
        handler: Box::new(move |input, context| schema::write(&own, &handler(schema::read(&own, input)?, context)?)),
    }
}

impl Operator {
    /// One sentence for a person.
    #[must_use]
    pub fn describe(mut self, text: &str) -> Self {
        text.clone_into(&mut self.about.description);
        self
    }
    /// What the tools it calls may do to the world. Without it: nothing.
    #[must_use]
    pub fn effects(mut self, effects: impl IntoIterator<Item = Effect>) -> Self {
        self.about.effects = effects.into_iter().collect();
        self
    }
    /// How repeatable it is, the tools it calls included.
    #[must_use]
    pub fn determinism(mut self, determinism: Determinism) -> Self {
        self.about.determinism = determinism;
        self
    }
    /// The outcome its output is: type (`Draft.Email`) and status (`draft` or `final`).
    #[must_use]
    pub fn outcome(mut self, outcome_type: &str, status: &str) -> Self {
        self.about.outcome = Some((outcome_type.to_owned(), status.to_owned()));
        self
    }
    /// Limits it would like.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.about.limits = limits;
        self
    }
    /// Run it on JSON text, as the host does: for tests on the host.
    pub fn run(&self, input: &str) -> Result<String, Error> {
        (self.handler)(input, &Context::default())
    }
}

impl Described for Operator {
    fn operator(&self) -> wit::Operator {
        self.about.operator()
    }
}

/// What the export macro calls.
#[doc(hidden)]
pub fn run(operators: Vec<Operator>, name: &str, input: &str) -> Result<String, types::Error> {
    log::panics();
    let operator = operators.iter().find(|operator| operator.about.name == name);
    let Some(operator) = operator else {
        return Err(Error::invalid_input(format!("this plugin has no operator {name}")).into());
    };
    Ok(operator.run(input)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_operator_and_wrong_input_are_the_callers_mistakes() {
        let twice = || vec![operator("Number.Double", |n: i64, _: &Context| Ok(n * 2))];
        assert_eq!(run(twice(), "Number.Double", "21").unwrap(), "42");
        for (name, input) in [("Number.Halve", "21"), ("Number.Double", "\"x\"")] {
            assert_eq!(run(twice(), name, input).unwrap_err().code, types::ErrorCode::InvalidInput);
        }
    }
}
