//! Model of the protocol of `docs/reference/semantics.md` §3 to §5, small enough for an exhaustive search.
//!
//! The production code makes the decisions. [`latchwork_core::rules::ledger::decide`] decides about an invocation.
//! [`latchwork_core::storage::quiescence::assess`] decides if the process that started a try can no longer act on it.
//! [`latchwork_core::storage::admit`] decides which writes the database accepts. The model adds the environment:
//! workers that crash, pause and return, leases, clocks, lost commit answers, requests in transit, the world, and the
//! person who inspects the world.
//!
//! [`Config`] selects the world to search. [`Mutant`] removes one rule of the protocol, and the search must
//! then find a violation. `docs/internals/model.md` lists the number of states of each searched world, and the
//! length of the shortest path to each mutant's violation.
//!
//! # Floors
//!
//! The modules form floors. A file imports only from its own floor and from lower floors, and no files import each
//! other in a circle.
//!
//! | floor | content |
//! |---|---|
//! | [`trace`] | comparison of a trace of workers with the model |
//! | `hidden_moves` | moves that a trace does not show |
//! | `observable` | parts of the database by which traces are compared |
//! | `walk` | search for cycles and dead ends |
//! | `model` | actions and properties of the model |
//! | `own_pace` | moves of workers at their own pace |
//! | `worker` | turns of a worker |
//! | `decision` | decisions of workers |
//! | `environment` | moves of the environment: claims, crashes, clocks, requests, the world and people |
//! | `kernel` | calls of the production rules |
//! | `state` | state of the model |
//! | `plan` | writes that a worker decided on |
//! | `inbox` | requests in the inbox |
//! | `record` | stored data of one invocation |
//! | `config` | the world to search |

pub mod trace;

mod config;
mod decision;
mod environment;
mod hidden_moves;
mod inbox;
mod kernel;
mod model;
mod observable;
mod own_pace;
mod plan;
mod record;
mod state;
mod walk;
mod worker;

pub use config::{Config, ModelClass, Mutant};
pub use decision::Luck;
pub use inbox::ModelRequest;
pub use model::{Action, ENDS, PROPERTIES, Protocol};
pub use plan::{Plan, PlannedWrite};
pub use record::{Answer, Effect, EffectOrigin, ModelRow, Record, TRIES, Verdict};
pub use state::{Job, Phase, RequestInTransit, State, TryClock, Violation, Worker};
pub use walk::{WalkError, walk};
