//! Steps that each break one rule of `latch plugin check`, and steps that break no rule.
//!
//! `BUILD` simulates a value that a build takes from its machine. The tests replace the digit of the value, and the
//! changed component acts as another build of the same sources.

wit_bindgen::generate!({ path: "../../../wit", world: "step" });

mod breaks;
mod good;
mod impure;

use exports::latchwork::plugin::plugin::{Determinism, Effect, LimitsWanted, Manifest, Operator, Resolution};
use exports::latchwork::plugin::{plugin, run};
use latchwork::plugin::types;
use serde_json::Value;

/// Result of a step.
pub(crate) type Answer = Result<Value, types::Error>;

/// Definition of an operator: name, determinism class, input schema and function.
type Step = (&'static str, Determinism, &'static str, fn(Value) -> Answer);

const ANY: &str = r#"{"type":"object"}"#;
const NARROW: &str = r#"{"type":"object","required":["title"]}"#;
const OUTPUT: &str = r#"{"type":"object","required":["ok"]}"#;

#[used]
static BUILD: [u8; 24] = *b"LATCH-CHECK-BUILD-MARK-0";

/// Returns the digit of this build.
pub(crate) fn build() -> u8 {
    // A volatile read, because the compiler could otherwise assume the value.
    unsafe { std::ptr::read_volatile(&BUILD[23]) - b'0' }
}

fn steps() -> Vec<Step> {
    use Determinism::{Pure, Stable};
    let mut steps: Vec<Step> = vec![
        ("Good.Flow", Stable, ANY, good::flow),
        ("Good.Pure", Pure, ANY, good::pure),
        ("Good.Timed", Stable, ANY, good::timed),
        ("Good.Draws", Stable, ANY, good::draws),
        ("Breaks.D050", Pure, ANY, good::pure),
        ("Breaks.D051", Stable, ANY, breaks::asks_twice),
        ("Breaks.D052", Stable, ANY, breaks::asks_twice),
        ("Breaks.D053", Pure, ANY, good::pure),
        ("Breaks.D054", Pure, NARROW, good::pure),
        ("Breaks.D055", Pure, ANY, breaks::gives_something_else),
        ("Breaks.D056", Pure, ANY, breaks::traps),
        ("Breaks.D057", Pure, ANY, breaks::never_ends),
        ("Breaks.D058", Pure, ANY, breaks::wants_all_memory),
        ("Breaks.D059", Pure, ANY, breaks::gives_too_much),
        ("Breaks.D060", Pure, ANY, breaks::announces_nothing),
        ("Breaks.D061", Pure, ANY, breaks::recurses_without_end),
        ("Breaks.D062", Pure, ANY, breaks::recurses_far),
        ("Breaks.D063", Stable, ANY, breaks::relies_on_its_tool),
        ("Breaks.D064", Pure, ANY, breaks::looks_at_the_clock),
        ("Breaks.D065", Pure, ANY, breaks::knows_its_build),
        ("Breaks.D067", Stable, ANY, breaks::loses_patience),
        ("Breaks.D068", Pure, ANY, breaks::is_nearly_full),
        ("Breaks.D069", Pure, ANY, breaks::fails_for_no_reason),
        ("Breaks.D070", Pure, ANY, breaks::walks_a_map),
        ("Breaks.D071", Pure, ANY, breaks::counts_its_runs),
        ("Impure.Returns", Pure, ANY, impure::returns),
        ("Impure.Reads", Pure, ANY, impure::reads),
        ("Impure.Counts", Stable, ANY, impure::counts),
        ("Versioned.Run", Stable, if build() == 4 { NARROW } else { ANY }, good::versioned),
    ];
    if build() == 5 {
        steps.pop();
    }
    steps
}

struct Check;

impl plugin::Guest for Check {
    fn describe() -> Manifest {
        let operator = |(name, determinism, input, _): Step| Operator {
            name: name.into(),
            description: "For the tests of the check.".into(),
            input_schema: input.into(),
            output_schema: OUTPUT.into(),
            effects: vec![Effect::ReadOnly],
            determinism,
            outcome_type: None,
            outcome_status: None,
            resolution: Resolution { idempotent_by_key_seconds: 0, settling_ms: 0 },
            limits: LimitsWanted { memory_bytes: None, timeout_ms: None, output_bytes: None },
        };
        Manifest { version: "1.0.0".into(), operators: steps().into_iter().map(operator).collect() }
    }
}

impl run::Guest for Check {
    fn run(operator: String, input: String) -> Result<String, types::Error> {
        let input = serde_json::from_str(&input).expect("the host gives JSON");
        let (.., step) = steps().into_iter().find(|(name, ..)| *name == operator).expect("the host asks for its own");
        step(input).map(|output| output.to_string())
    }
}

export!(Check);
