//! Fuel of a try and of the start of a component, at their edges.

use std::sync::Arc;

use latchwork_core::model::bounds;
use latchwork_core::model::effect::Answer;
use latchwork_core::model::error::Code;
use latchwork_core::model::manifest::Limits;
use latchwork_engine::Plugin;
use latchwork_engine::capability::grants::Grants;
use latchwork_engine::capability::settings::LimitsConfig;
use latchwork_engine::guest::tool_call::ToolCallContext;
use latchwork_engine::os::clock;

use crate::support::plugins::engine::{engine, settings};

/// Loads an untyped component whose start function and whose function `go` are loops with these numbers of rounds.
fn load(start_rounds: u64, rounds: u64) -> Arc<Plugin> {
    let component = wat::parse_str(format!(
        "(component
           (core module $m
             (func $loop (param $left i64)
               (loop (br_if 0 (i64.ne (local.tee $left (i64.sub (local.get $left) (i64.const 1))) (i64.const 0)))))
             (func $start (call $loop (i64.const {start_rounds})))
             (start $start)
             (func (export \"go\") (call $loop (i64.const {rounds}))))
           (core instance $i (instantiate $m))
           (func (export \"go\") (canon lift (core func $i \"go\"))))"
    ));
    let settings = settings("loops", Grants::default(), LimitsConfig::default());
    engine().load(&component.expect("valid text"), settings).unwrap()
}

/// Calls `go`, and returns the code of its failure.
async fn call(plugin: &Plugin, fuel: u64) -> Option<Code> {
    let operator = plugin.manifest.operators[0].name.as_str();
    let context = ToolCallContext {
        slot: "s1".into(),
        timeout_ms: bounds::TIMEOUT_MS,
        started_boot_us: clock::boot_us(),
        ..ToolCallContext::default()
    };
    let limits = Limits { fuel, ..plugin.limits(operator) };
    match plugin.invoke(operator, "{}", context, &limits).await.answer {
        Answer::Ok(_) => None,
        Answer::NotApplied(failure) => Some(failure.code),
        other => panic!("{other:?}"),
    }
}

/// Returns the least fuel with which a call of this number of rounds succeeds.
async fn least_fuel(rounds: u64) -> u64 {
    let plugin = load(1, rounds);
    let (mut too_little, mut enough) = (0, 100 * rounds);
    while enough - too_little > 1 {
        let middle = (too_little + enough) / 2;
        match call(&plugin, middle).await {
            None => enough = middle,
            Some(Code::OutOfFuel) => too_little = middle,
            other => panic!("{other:?}"),
        }
    }
    enough
}

/// I225: bounds `fuel` and `instantiation_fuel`. A round of a loop takes the same fuel in a call as in the start
/// function.
#[tokio::test]
async fn loop_is_ended_where_its_fuel_ends() {
    let (short, long) = (least_fuel(1_000).await, least_fuel(2_000).await);
    assert_eq!((long - short) % 1_000, 0, "{short} {long}");
    let each = (long - short) / 1_000;
    // The fuel of the last round is not compared with the limit, so less than the fuel of all rounds can be enough.
    let most_rounds = |fuel: u64| (fuel + 1_000 * each - short) / each;
    let rounds = most_rounds(bounds::FUEL);
    assert_eq!(call(&load(1, rounds), bounds::FUEL).await, None);
    assert_eq!(call(&load(1, rounds + 1), bounds::FUEL).await, Some(Code::OutOfFuel));
    // The start function calls the loop in the same way as `go`. The instantiation itself takes a little more fuel.
    let rounds = most_rounds(bounds::INSTANTIATION_FUEL);
    assert_eq!(call(&load(rounds - 100, 1), bounds::FUEL).await, None);
    assert_eq!(call(&load(rounds + 1, 1), bounds::FUEL).await, Some(Code::OutOfFuel));
}
