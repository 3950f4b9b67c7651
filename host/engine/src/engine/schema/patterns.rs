//! Size and cost of the regular expressions in a schema.
//!
//! The time of a match is bounded by the product of the text's length and the number of states of the expression's
//! automaton. A few bytes of an expression can have many states: `x{1000}` has a thousand.

use regex_automata::nfa::thompson::{Compiler, NFA};

use latchwork_core::model::bounds::{COMPONENT_PATTERN_BYTES, SCHEMA_PATTERN_BYTES};

/// Size of the cache of one match, in bytes.
pub(super) const CACHE_BYTES_MAX: usize = 1 << 20;
/// States whose simulation for [`TEXT_BYTES`](super::work::TEXT_BYTES) bytes takes as long as one application of a subschema.
const STATES_PER_UNIT: u64 = 2;

/// Size and cost of one expression.
pub(super) struct PatternCost {
    /// Size of the automaton, in bytes.
    pub(super) bytes: usize,
    /// Cost of a match, for each unit of text.
    pub(super) units: u64,
}

/// Returns the cost of an expression. The expression is first translated in the same way as by the library that
/// compiles it. An invalid expression gets the largest size, and the library reports that it is invalid.
pub(super) fn cost(pattern: &str) -> Result<PatternCost, String> {
    let config = NFA::config().nfa_size_limit(Some(SCHEMA_PATTERN_BYTES));
    let invalid = PatternCost { bytes: SCHEMA_PATTERN_BYTES, units: SCHEMA_PATTERN_BYTES as u64 };
    let Ok(translated) = jsonschema_regex::to_rust_regex(pattern) else { return Ok(invalid) };
    match Compiler::new().configure(config).build(&translated) {
        Ok(nfa) => {
            let units = (nfa.states().len() as u64 / STATES_PER_UNIT).max(1);
            Ok(PatternCost { bytes: nfa.memory_usage(), units })
        }
        Err(error) if error.size_limit().is_some() => Err(too_large()),
        Err(_) => Ok(invalid),
    }
}

/// Text of a refusal: the expressions of a schema are too large.
pub(super) fn too_large() -> String {
    format!(
        "its regular expressions have more than {} MiB of states; shorten repetitions such as x{{1000}}",
        SCHEMA_PATTERN_BYTES >> 20
    )
}

/// Checks the size of the automatons of all expressions in a component, in bytes.
///
/// # Errors
/// The reason why the component is refused.
pub(crate) fn check_component(bytes: usize) -> Result<(), String> {
    if bytes <= COMPONENT_PATTERN_BYTES {
        return Ok(());
    }
    Err(format!("their regular expressions have more than {} MiB of states", COMPONENT_PATTERN_BYTES >> 20))
}
