//! Faults of one run and their frequency.

use crate::dice::Dice;

/// Maximum transit time of a request to the world, in simulated milliseconds.
pub(crate) const WIRE_MS: u32 = 1_400;
/// Settling time that tools declare. A request that was sent has arrived by then or will never arrive.
pub(crate) const SETTLING_MS: u32 = 1_500;

/// Faults of one run. A field that ends in `_in` is a frequency: `n` means one time in `n`, and 0 means never.
/// `dies_in` is an exception.
#[derive(Clone, Debug)]
pub(crate) struct SimulatedFaults {
    /// Simulated milliseconds after which no more faults happen.
    pub(crate) faults_end_ms: u64,
    pub(crate) workers: u32,
    pub(crate) jobs: u32,
    /// Maximum number of jobs that a worker holds concurrently.
    pub(crate) max_held_jobs: u32,
    pub(crate) staged: bool,
    /// True if workers run on other machines than the store. Workers then cannot see the owner locks of other
    /// workers, and they use the time of the store's clock.
    pub(crate) on_other_machines: bool,
    /// Frequency of deaths. For a value `n`, on average `n` of `n + 1` processes die. For the value 0, no process dies.
    pub(crate) dies_in: u32,
    pub(crate) stops_in: u32,
    pub(crate) pauses_in: u32,
    /// Frequency with which a statement does not reach the store.
    pub(crate) request_lost_in: u32,
    pub(crate) answer_lost_in: u32,
    pub(crate) outage_in: u32,
    /// Frequency of faults in calls of tools.
    pub(crate) tool_fault_in: u32,
    /// Frequency with which people request cancellation.
    pub(crate) cancels_in: u32,
    pub(crate) undoes_in: u32,
    /// Maximum transit time of a statement in each direction, in simulated milliseconds.
    pub(crate) travel_ms: u32,
}

impl SimulatedFaults {
    /// Returns a configuration without faults: one worker, one job.
    pub(crate) fn without_faults() -> Self {
        Self {
            faults_end_ms: 0,
            workers: 1,
            jobs: 1,
            max_held_jobs: 1,
            staged: false,
            on_other_machines: false,
            dies_in: 0,
            stops_in: 0,
            pauses_in: 0,
            request_lost_in: 0,
            answer_lost_in: 0,
            outage_in: 0,
            tool_fault_in: 0,
            cancels_in: 0,
            undoes_in: 0,
            travel_ms: 2,
        }
    }

    pub(crate) fn of(dice: &Dice) -> Self {
        let some = |of: &[u32]| *dice.pick(of);
        Self {
            faults_end_ms: u64::from(dice.between(8_000, 30_000)),
            workers: some(&[1, 2, 2, 3]),
            jobs: some(&[1, 2, 3, 4]),
            max_held_jobs: some(&[1, 2, 3]),
            staged: dice.one_in(3),
            on_other_machines: dice.one_in(2),
            dies_in: some(&[0, 1, 2, 2]),
            stops_in: some(&[0, 0, 4]),
            pauses_in: some(&[0, 0, 80, 200]),
            request_lost_in: some(&[0, 0, 60, 200]),
            answer_lost_in: some(&[0, 0, 40, 150]),
            outage_in: some(&[0, 0, 400]),
            tool_fault_in: some(&[0, 3, 6]),
            cancels_in: some(&[0, 0, 40]),
            undoes_in: some(&[0, 0, 3]),
            travel_ms: some(&[2, 8, 40]),
        }
    }
}
