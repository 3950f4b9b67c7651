//! Limits of a replay. Also detects steps that a limit of the machine ended. The end of such a step does not depend on
//! the step alone.

use latchwork_core::evidence::Salts;
use latchwork_core::model::bounds;
use latchwork_core::model::manifest::Limits;
use latchwork_core::state::Step;
use latchwork_engine::StepOutcome;

/// Factor by which a step may take longer in a replay than its job allowed, because the machine of the replay can be
/// slower or busier. The fuel is not multiplied, because fuel bounds the work in the same way on every machine.
const TIME_FACTOR: u32 = 10;
/// Minimum timeout of a step in a replay, in milliseconds.
const TIMEOUT_MS_MIN: u32 = 60_000;

/// Returns the limits of a step in a replay. `planned_ms` is the timeout in the plan. This timeout replaces the pinned
/// timeout in a replay, as it does when the job runs.
pub(super) fn for_replay(pinned: Limits, planned_ms: Option<u32>, salts: &Salts) -> Limits {
    let timeout_ms = planned_ms.unwrap_or(pinned.timeout_ms).saturating_mul(TIME_FACTOR).max(TIMEOUT_MS_MIN);
    match salts {
        Salts::Secret(_) => Limits { timeout_ms, ..pinned },
        // The limits are part of an evidence file from another person, so they are bounded.
        _ => Limits {
            timeout_ms: timeout_ms.min(bounds::FOREIGN_TIMEOUT_MS),
            memory_bytes: pinned.memory_bytes.min(bounds::FOREIGN_MEMORY_BYTES),
            ..pinned
        },
    }
}

/// Returns true if a limit of the machine ended the replayed step.
pub(super) fn ended_by_machine(outcome: &StepOutcome) -> bool {
    matches!(outcome, StepOutcome::Failed(failure) | StepOutcome::Fault(failure) if failure.code.is_of_machine())
}

/// Returns true if a limit of the machine ended the step in its job.
pub(super) fn was_ended_by_machine(recorded: &Step) -> bool {
    recorded.failure.as_ref().is_some_and(|failure| failure.code.is_of_machine())
}

#[cfg(test)]
mod tests {
    use latchwork_core::model::ids::Hash;

    use super::*;

    /// I206: bounds `foreign_timeout_ms` and `foreign_memory_bytes`. The limits in a file from another person neither
    /// keep the verifier busy for ever nor fill its memory.
    #[test]
    fn limits_of_a_foreign_file_are_bounded() {
        let endless = Limits { timeout_ms: u32::MAX, memory_bytes: u64::MAX, ..Limits::default() };
        let own = for_replay(endless, None, &Salts::Secret(Hash::default()));
        assert_eq!((own.timeout_ms, own.memory_bytes), (u32::MAX, u64::MAX));
        let foreign = for_replay(endless, None, &Salts::Labels(Default::default()));
        assert_eq!(
            (foreign.timeout_ms, foreign.memory_bytes),
            (bounds::FOREIGN_TIMEOUT_MS, bounds::FOREIGN_MEMORY_BYTES)
        );
        let memory_bytes = |memory_bytes: u64| {
            let pinned = Limits { memory_bytes, ..Limits::default() };
            for_replay(pinned, None, &Salts::Labels(Default::default())).memory_bytes
        };
        let most = bounds::FOREIGN_MEMORY_BYTES;
        assert_eq!((memory_bytes(most - 1), memory_bytes(most), memory_bytes(most + 1)), (most - 1, most, most));
        let timeout_ms = |timeout_ms: u32| {
            let pinned = Limits { timeout_ms, ..Limits::default() };
            for_replay(pinned, None, &Salts::Labels(Default::default())).timeout_ms
        };
        let most = bounds::FOREIGN_TIMEOUT_MS / TIME_FACTOR;
        assert_eq!(timeout_ms(most - 1), (most - 1) * TIME_FACTOR);
        assert_eq!((timeout_ms(most), timeout_ms(most + 1)), (most * TIME_FACTOR, most * TIME_FACTOR));
        let short = Limits { timeout_ms: 1_000, ..Limits::default() };
        assert_eq!(for_replay(short, Some(90_000), &Salts::Secret(Hash::default())).timeout_ms, 900_000);
        assert_eq!(for_replay(short, None, &Salts::Secret(Hash::default())).timeout_ms, TIMEOUT_MS_MIN);
    }
}
