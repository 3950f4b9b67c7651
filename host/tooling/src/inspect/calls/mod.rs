//! Finds call paths from a component's exports to its imports.
//!
//! `graph` is the entry. `link` links a component statically, as the engine would. `module` reads the calls of each
//! core module. `search` follows calls from function to function, also between core modules. `reachability` is the
//! result of a search.
//!
//! The target of a direct call is known. A call through a table may reach any function of the same type in the table,
//! so the path marks this call.
//!
//! Floors, top first: `graph` · `search` · `link` · `module`, `reachability`.

mod graph;
mod link;
mod module;
mod reachability;
mod search;

pub use graph::CallGraph;
pub use reachability::{PathFrame, Reachability};
