//! Tools: code that accesses the outside world within its grants.
//!
//! The host does not repeat a call whose answer is recorded. After a crash, the host may have to find out whether a
//! call without a recorded answer happened. A tool can support the host in two ways:
//!
//! * If the downstream system drops duplicates by the external key, the tool declares this property with
//!   [`Operator::idempotent_by_key`].
//! * Otherwise, the tool can check the world in [`Operator::reconcile`].

mod context;
pub mod dispatch;
mod output;

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bindings::export_plugin::exports::latchwork::plugin::plugin as wit;
use crate::bindings::types;
use crate::manifest::{Described, Description, millis};
use crate::{Determinism, Effect, Error, Limits, schema};

pub use context::Context;
pub use output::{Change, Finding, Output, Usage, Verdict};

type Invoke = Box<dyn Fn(&str, &Context) -> Result<types::ToolOutput, Error>>;
type Reconcile = Box<dyn Fn(&str, &str) -> Result<Verdict<types::ToolOutput>, Error>>;
type Verify = Box<dyn Fn(&Change) -> Result<Finding, Error>>;
type Compensate = Box<dyn Fn(&str, &str, &str) -> Result<types::ToolOutput, Error>>;

/// An operator of a tool plugin, independent of its argument and result types.
pub struct Erased {
    about: Description,
    invoke: Invoke,
    reconcile: Option<Reconcile>,
    verify: Option<Verify>,
    compensate: Option<Compensate>,
}

/// An operator of a tool plugin with arguments `A` and result `R`, created by [`operator`].
pub struct Operator<A, R> {
    inner: Erased,
    types: std::marker::PhantomData<fn(A) -> R>,
}

/// Creates the operator `name`, in the form `Noun.Verb`, that runs `handler`.
///
/// The schemas come from the types of the handler. The default determinism is [`Determinism::External`]. By
/// default an operator declares no world-changing effect, and the host then gives the tool no way to write.
///
/// ```
/// use latchwork_guest::{Error, fs, tool};
/// # use schemars::JsonSchema;
/// # use serde::{Deserialize, Serialize};
/// #[derive(Deserialize, JsonSchema)]
/// struct Args {
///     path: String,
/// }
///
/// #[derive(Serialize, JsonSchema)]
/// struct Size {
///     bytes: usize,
/// }
///
/// fn size(args: Args, _: &tool::Context) -> Result<tool::Output<Size>, Error> {
///     Ok(tool::Output::new(Size { bytes: fs::read(&args.path)?.len() }))
/// }
///
/// let operator = tool::operator("File.Size", size).describe("Returns the size of a file.");
/// # let _ = operator;
/// ```
pub fn operator<A, R>(name: &str, handler: impl Fn(A, &Context) -> Result<Output<R>, Error> + 'static) -> Operator<A, R>
where
    A: DeserializeOwned + JsonSchema,
    R: Serialize + JsonSchema,
{
    let own = name.to_owned();
    let invoke: Invoke =
        Box::new(move |args, context| handler(schema::parse_json(&own, args)?, context)?.into_wit(&own));
    let about = Description::new(name, Determinism::External, schema::schemas_of::<A, R>);
    Operator {
        inner: Erased { about, invoke, reconcile: None, verify: None, compensate: None },
        types: std::marker::PhantomData,
    }
}

impl<A, R> Operator<A, R>
where
    A: DeserializeOwned + JsonSchema + 'static,
    R: Serialize + JsonSchema + 'static,
{
    /// Sets the description: one sentence for people.
    #[must_use]
    pub fn describe(mut self, text: &str) -> Self {
        text.clone_into(&mut self.inner.about.description);
        self
    }
    /// Declares the effects on the world. The default is [`Effect::ProduceOutcome`] if the operator has an
    /// outcome, else [`Effect::ReadOnly`].
    #[must_use]
    pub fn effects(mut self, effects: impl IntoIterator<Item = Effect>) -> Self {
        self.inner.about.effects = effects.into_iter().collect();
        self
    }
    /// Sets the repeatability of the operator.
    #[must_use]
    pub fn determinism(mut self, determinism: Determinism) -> Self {
        self.inner.about.determinism = determinism;
        self
    }
    /// Declares that the result is an outcome, with a type such as `Draft.Email` and the status `draft` or
    /// `final`.
    #[must_use]
    pub fn outcome(mut self, outcome_type: &str, status: &str) -> Self {
        self.inner.about.outcome = Some((outcome_type.to_owned(), status.to_owned()));
        self
    }
    /// Requests limits. The configuration of the host has precedence.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.inner.about.limits = limits;
        self
    }
    /// Declares that the downstream system drops duplicates by external key for `window` after the first
    /// start of a call. Within the window the host repeats a call in doubt instead of asking a person. The
    /// window is rounded down to whole seconds.
    #[must_use]
    pub fn idempotent_by_key(mut self, window: Duration) -> Self {
        self.inner.about.idempotent_by_key_seconds = u32::try_from(window.as_secs()).unwrap_or(u32::MAX);
        self
    }
    /// Declares that the effect of a call may appear up to `time` after the call ended. During this time the host does
    /// not ask about the call or repeat the call. Include transit, queues of the downstream system, and the delay of
    /// the data that [`Operator::reconcile`] reads. If `time` is too short, the verdict "did not happen" could be
    /// wrong.
    #[must_use]
    pub fn settles_within(mut self, time: Duration) -> Self {
        self.inner.about.settling_ms = millis(time);
        self
    }
    /// Sets the handler that finds out whether the call with this external key happened. The handler gets the arguments
    /// and the external key, and has no right to write. If the call happened, the handler returns the output that the
    /// call itself would have returned. An error counts as [`Verdict::Unknown`]. List `reconcile` in
    /// [`export_tool!`](crate::export_tool).
    #[must_use]
    pub fn reconcile(mut self, handler: impl Fn(A, &str) -> Result<Verdict<Output<R>>, Error> + 'static) -> Self {
        let own = self.inner.about.name.clone();
        self.inner.reconcile = Some(Box::new(move |key, args| {
            Ok(match handler(schema::parse_json(&own, args)?, key)? {
                Verdict::Happened(output) => Verdict::Happened(output.into_wit(&own)?),
                Verdict::DidNotHappen => Verdict::DidNotHappen,
                Verdict::NotYet(wait) => Verdict::NotYet(wait),
                Verdict::Unknown => Verdict::Unknown,
            })
        }));
        self
    }
    /// Sets the handler that checks whether a recorded change is still in place. The host gives the handler
    /// no way to change anything. List `verify` in [`export_tool!`](crate::export_tool).
    ///
    /// The host verifies when a job is resumed: once for the newest change of each resource, before any step
    /// uses the result of the call.
    ///
    /// Return a [`Finding::Mismatch`] only if the check found a different state. The `confirmation` setting of the
    /// plugin decides about the consequence. Either the job ends, or the job continues and counts the mismatch, or the
    /// job waits for a person.
    ///
    /// Return an error if the check itself was not possible. An error always makes the job wait for a person.
    ///
    /// ```
    /// use latchwork_guest::tool::{self, Change, Finding, Output};
    /// use latchwork_guest::{Effect, Error, fs, testing::Host};
    ///
    /// fn write(text: String, context: &tool::Context) -> Result<Output<()>, Error> {
    ///     fs::replace("/out/note", text.as_bytes(), context.external_key())?;
    ///     Ok(Output::new(()).change(Change::new("file", "/out/note", "update").version(text)))
    /// }
    ///
    /// fn verify(change: &Change) -> Result<Finding, Error> {
    ///     match fs::read_to_string(&change.resource_id) {
    ///         Ok(found) => Ok(Finding::compare(change.version.as_deref(), &found)),
    ///         Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(Finding::Mismatch("the file is missing".into())),
    ///         Err(error) => Err(error.into()),
    ///     }
    /// }
    ///
    /// let operator = tool::operator("Note.Write", write).effects([Effect::InternalWrite]).verify(verify);
    /// # let _ = operator;
    /// # let out = tempfile::tempdir().unwrap();
    /// # Host::new().dir("/out", out.path()).run(|| {
    /// #     let written = write("Hello".into(), &tool::Context::default()).unwrap();
    /// #     assert_eq!(verify(&written.changes()[0]).unwrap(), Finding::Confirmed);
    /// #     fs::replace("/out/note", b"Hell", "other").unwrap();
    /// #     assert!(matches!(verify(&written.changes()[0]).unwrap(), Finding::Mismatch(_)));
    /// #     fs::remove("/out/note").unwrap();
    /// #     assert_eq!(verify(&written.changes()[0]).unwrap(), Finding::Mismatch("the file is missing".into()));
    /// # });
    /// ```
    #[must_use]
    pub fn verify(mut self, handler: impl Fn(&Change) -> Result<Finding, Error> + 'static) -> Self {
        self.inner.verify = Some(Box::new(handler));
        self
    }
    /// Sets the handler that undoes the call with these arguments, this result and this external key. List
    /// `compensate` in [`export_tool!`](crate::export_tool).
    ///
    /// When a job is cancelled or rolled back, the host calls the handler at most once for each call that took
    /// effect. A [`Context`] created in the handler is the context of the compensating call, with an external key
    /// of its own.
    ///
    /// Return an error if the call cannot be undone any more. If the handler returned a result instead, the job would
    /// wrongly record the call as undone.
    ///
    /// The [crate's page](crate) has an example.
    #[must_use]
    pub fn compensate<C>(mut self, handler: impl Fn(A, R, &str) -> Result<Output<C>, Error> + 'static) -> Self
    where
        R: DeserializeOwned,
        C: Serialize,
    {
        let own = self.inner.about.name.clone();
        self.inner.compensate = Some(Box::new(move |key, args, result| {
            handler(schema::parse_json(&own, args)?, schema::parse_json(&own, result)?, key)?.into_wit(&own)
        }));
        self
    }
    /// Runs the operator on JSON arguments and returns its result as JSON. For native tests.
    pub fn invoke(&self, args: &serde_json::Value) -> Result<serde_json::Value, Error> {
        let output = (self.inner.invoke)(&args.to_string(), &Context::default())?;
        schema::parse_json(&self.inner.about.name, &output.result)
    }
}

impl<A, R> From<Operator<A, R>> for Erased {
    fn from(operator: Operator<A, R>) -> Self {
        operator.inner
    }
}

impl Described for Erased {
    fn operator(&self) -> wit::Operator {
        self.about.operator()
    }
}
