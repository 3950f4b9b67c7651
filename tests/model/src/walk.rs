//! Depth-first search for cycles and dead ends. Stateright checks "eventually" properties correctly only if no path
//! returns to an earlier state. A path is a cycle if it returns to a state whose successors are still being searched.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use stateright::Model;

use crate::Protocol;
use crate::state::State;

/// Reason why the job does not end on some path.
#[derive(Clone, Debug)]
pub enum WalkError {
    /// A path returns to this state.
    Cycle(Box<State>),
    /// The state has no successor, and the job is not finished.
    DeadEnd(Box<State>),
}

/// Walks every path to its end and returns the number of states.
///
/// # Errors
/// Returns the first state to which a path returns, or at which a path ends before the job is finished.
pub fn walk(model: &Protocol) -> Result<usize, WalkError> {
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let mut done: HashMap<u64, bool> = HashMap::new();
    let mut path: Vec<(u64, Vec<State>)> = Vec::new();
    let mut found = model.init_states().pop();
    loop {
        if let Some(state) = found.take() {
            let id = hasher.hash_one(&state);
            match done.get(&id) {
                Some(true) => {}
                Some(false) => return Err(WalkError::Cycle(Box::new(state))),
                None => {
                    let next = model.next_states(&state);
                    if next.is_empty() && !state.job.state().is_terminal() {
                        return Err(WalkError::DeadEnd(Box::new(state)));
                    }
                    done.insert(id, false);
                    path.push((id, next));
                }
            }
        }
        let Some((id, next)) = path.last_mut() else {
            return Ok(done.len());
        };
        found = next.pop();
        if found.is_none() {
            done.insert(*id, true);
            path.pop();
        }
    }
}
