//! What stateright says of "eventually" counts only where no path comes back to where it was, so
//! that is looked at by itself: depth first, a state that is met again before all that follow it
//! are done closes a circle.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use stateright::Model;

use crate::Protocol;
use crate::state::State;

/// Why not every path ends with the job.
#[derive(Clone, Debug)]
pub enum Circle {
    /// A path comes back to this state.
    Back(Box<State>),
    /// Nothing moves any more, and the job is not over.
    Stuck(Box<State>),
}

/// Walks every path to its end; answers the number of states.
///
/// # Errors
/// The first state where a path comes back or ends too early.
pub fn walk(model: &Protocol) -> Result<usize, Circle> {
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let mut done: HashMap<u64, bool> = HashMap::new();
    let mut path: Vec<(u64, Vec<State>)> = Vec::new();
    let mut found = model.init_states().pop();
    loop {
        if let Some(state) = found.take() {
            let id = hasher.hash_one(&state);
            match done.get(&id) {
                Some(true) => {}
                Some(false) => return Err(Circle::Back(Box::new(state))),
                None => {
                    let next = model.next_states(&state);
                    if next.is_empty() && !state.job.state().is_terminal() {
                        return Err(Circle::Stuck(Box::new(state)));
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
