//! Histories of jobs, for tests by authors of step plugins.
//!
//! A history is read from [evidence](mod@latchwork::evidence). It contains the host calls that the steps of a real
//! job made, the answers and the outputs. A component that runs again on its history must behave exactly as
//! recorded, because a replay relies on the same behaviour.
//!
//! Mutations test whether a history would reveal a change in the behaviour of a component. [`History::mutations`]
//! changes the history in one place at a time: an entry is dropped, swapped, duplicated or changed.
//! [`History::examine`] runs the component on each changed history and reports whether the component behaves
//! differently from that history.
//!
//! ```
//! use latchwork_tooling::history::{HistoryEntry, History, MutationKind, RecordedEnd, RecordedHostCall, StepRun};
//!
//! let run = StepRun::new("s1", "Letter.Write", r#"{"to":"ada"}"#, RecordedEnd::Output("\"sent\"".into()));
//! let call = |operator: &str| HistoryEntry {
//!     step_id: "s1".into(),
//!     host_call: RecordedHostCall::call(operator, r#"{"to":"ada"}"#, Ok("true".into())),
//! };
//! let history = History { job_id: "job_1".into(), runs: vec![run], entries: vec![call("Mail.Find"), call("Mail.Send")] };
//!
//! let mutations: Vec<_> = history.mutations().collect();
//! assert_eq!(mutations[0].description, "the call s1/0 of Mail.Find is left out");
//! let swapped = mutations.iter().find(|mutation| mutation.kind == MutationKind::Swap).unwrap();
//! assert!(history.must_differ(&swapped.history), "a deterministic step makes its calls in the same order again");
//! ```
//!
//! Floors, top first: `examine` · `mutate`, `play`, `read` · `types`.

mod examine;
mod mutate;
mod play;
mod read;
mod types;

pub use examine::{MutationFinding, MutationVerdict, load_component};
pub use mutate::{Mutation, MutationKind};
pub use read::HistoryError;
pub use types::{Args, History, HistoryEntry, RecordedEnd, RecordedHostCall, StepRun};
