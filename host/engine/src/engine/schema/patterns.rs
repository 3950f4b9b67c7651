//! Size and cost of the regular expressions in a schema.
//!
//! The time of a match is bounded by the product of the text's length and the number of states of the expression's
//! automaton. A few bytes of an expression can have many states: `x{1000}` has a thousand.

use regex_automata::nfa::thompson::{Compiler, NFA};

use latchwork_core::model::bounds::{COMPONENT_PATTERN_BYTES, SCHEMA_PATTERN_BYTES, SCHEMA_PATTERN_TEXT_BYTES};

/// Size of the cache of one match, in bytes.
pub(super) const CACHE_BYTES_MAX: usize = 1 << 20;
/// States whose simulation for [`TEXT_BYTES`](super::size::TEXT_BYTES) bytes takes as long as one application of a
/// subschema.
const STATES_PER_UNIT: u64 = 2;

/// Sizes of all regular expressions in a schema or a component, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PatternSizes {
    /// Size of the automatons.
    pub(crate) states: usize,
    /// Length of the texts. A text of a few bytes can name a class with many thousand characters, and parsing takes
    /// that long even if the automaton is small.
    pub(crate) text: usize,
}

impl PatternSizes {
    pub(crate) fn add(&mut self, other: Self) {
        self.states += other.states;
        self.text += other.text;
    }
}

/// Size and cost of one expression.
#[derive(Clone, Copy, Debug)]
pub(super) struct PatternCost {
    /// Size of the automaton, in bytes.
    pub(super) bytes: usize,
    /// Cost of a match, for each unit of text.
    pub(super) units: u64,
}

/// Returns the cost of an expression. The expression is first translated in the same way as by the library that
/// compiles it. An invalid expression gets no size, because the library reports that it is invalid.
pub(super) fn cost(pattern: &str) -> Result<PatternCost, String> {
    let config = NFA::config().nfa_size_limit(Some(SCHEMA_PATTERN_BYTES));
    let invalid = PatternCost { bytes: 0, units: SCHEMA_PATTERN_BYTES as u64 };
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

/// Checks the sizes of all expressions in one schema.
///
/// # Errors
/// The reason why the schema is refused.
pub(super) fn check_schema(sizes: PatternSizes) -> Result<(), String> {
    if sizes.states > SCHEMA_PATTERN_BYTES {
        return Err(too_large());
    }
    check_text("its", sizes.text, SCHEMA_PATTERN_TEXT_BYTES)
}

/// Checks the sizes of all expressions in a component. `text_max` is the largest length of their texts together.
///
/// # Errors
/// The reason why the component is refused.
pub(crate) fn check_component(sizes: PatternSizes, text_max: usize) -> Result<(), String> {
    if sizes.states > COMPONENT_PATTERN_BYTES {
        return Err(format!(
            "their regular expressions have more than {} MiB of states",
            COMPONENT_PATTERN_BYTES >> 20
        ));
    }
    check_text("their", sizes.text, text_max)
}

fn check_text(whose: &str, bytes: usize, max: usize) -> Result<(), String> {
    if bytes <= max {
        return Ok(());
    }
    Err(format!("{whose} regular expressions have {bytes} bytes of text, the maximum is {max}"))
}
