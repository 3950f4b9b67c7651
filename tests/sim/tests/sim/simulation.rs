//! State shared by all parts of one run: time, random numbers, the store, the world and the trace.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;

use latchwork_core::memory::{ManualClock, Memory};
use latchwork_core::model::ids::{JobId, Slot};

use crate::dice::Dice;
use crate::event_counts::EventCounts;
use crate::faults::SimulatedFaults;
use crate::traces::observations::JobObservations;
use crate::world::World;

/// Clock margin of the store and of the workers.
pub(crate) const MARGIN_MS: u32 = 200;

/// Maximum length of a trace in bytes. A longer trace indicates an endless loop.
const TRACE_BYTES_MAX: usize = 4 << 20;

pub(crate) struct Simulation {
    pub(crate) dice: Dice,
    pub(crate) weather: SimulatedFaults,
    pub(crate) tally: EventCounts,
    pub(crate) world: Mutex<World>,
    /// Observations of the jobs. If present, all jobs have the shape that the protocol model supports.
    pub(crate) records: Option<JobObservations>,
    memory: Memory,
    clock: Arc<ManualClock>,
    began: Instant,
    clock_ms: AtomicU64,
    /// Time until which the store is unreachable.
    pub(crate) outage_until_ms: AtomicU64,
    trace: Mutex<String>,
    /// Type of an event, if present. The answer of the next write that contains an event of this type is lost, once.
    pub(crate) lose_answer_of: Mutex<Option<&'static str>>,
    /// Type of an event and a time in milliseconds, if present. The next write that contains an event of this type is
    /// lost, once. Other writes of the process that sent the lost write are delayed until the time has passed. Reads
    /// are answered normally.
    pub(crate) delay_writes_after: Mutex<Option<(&'static str, u64)>>,
    /// Names of dead processes.
    pub(crate) dead_processes: Mutex<BTreeSet<String>>,
    /// Process that recorded the result of a try, by job, slot and try.
    pub(crate) recorded_by: Mutex<BTreeMap<(JobId, Slot, u32), String>>,
    /// True if people wait before they decide about a call in doubt.
    pub(crate) people_wait: AtomicBool,
    /// Time since which a person has been asked about a try, by job, slot and try.
    pub(crate) asked_since_ms: Mutex<BTreeMap<(JobId, Slot, u32), u64>>,
    /// First violation.
    violation: Mutex<Option<String>>,
}

impl Simulation {
    pub(crate) fn new(dice: Dice, weather: SimulatedFaults) -> Arc<Self> {
        Self::with_observations(dice, weather, None)
    }

    /// Returns a simulation whose jobs have the shape that the protocol model supports. The observations of
    /// these jobs are recorded.
    pub(crate) fn recorded(dice: Dice, weather: SimulatedFaults) -> Arc<Self> {
        Self::with_observations(dice, weather, Some(JobObservations::default()))
    }

    #[expect(clippy::disallowed_methods, reason = "simulated time begins here")]
    fn with_observations(dice: Dice, weather: SimulatedFaults, records: Option<JobObservations>) -> Arc<Self> {
        let clock = Arc::new(ManualClock::default());
        Arc::new(Self {
            weather,
            dice,
            tally: EventCounts::default(),
            world: Mutex::default(),
            records,
            memory: Memory::new(clock.clone(), MARGIN_MS),
            clock,
            began: Instant::now(),
            clock_ms: AtomicU64::new(0),
            outage_until_ms: AtomicU64::new(0),
            trace: Mutex::default(),
            lose_answer_of: Mutex::default(),
            delay_writes_after: Mutex::default(),
            dead_processes: Mutex::default(),
            recorded_by: Mutex::default(),
            people_wait: AtomicBool::new(false),
            asked_since_ms: Mutex::default(),
            violation: Mutex::default(),
        })
    }

    /// Returns the simulated milliseconds since the run began.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads simulated time")]
    pub(crate) fn now_ms(&self) -> u64 {
        let since = Instant::now().duration_since(self.began);
        u64::try_from(since.as_millis()).expect("a run is short")
    }

    /// Returns the store after setting its clock to the current time.
    pub(crate) fn store(&self) -> &Memory {
        let now_ms = self.now_ms();
        let passed = now_ms - self.clock_ms.swap(now_ms, Ordering::Relaxed);
        self.clock.advance_ms(u32::try_from(passed).expect("a run is short"));
        &self.memory
    }

    pub(crate) fn clock(&self) -> &ManualClock {
        self.store();
        &self.clock
    }

    /// Returns true while faults may happen.
    pub(crate) fn allows_faults(&self) -> bool {
        self.now_ms() < self.weather.faults_end_ms
    }

    /// Decides at random whether a fault happens now, with a probability of one in `one_in`. Counts the fault as
    /// `what` and returns true if it happens.
    pub(crate) fn fault_occurs(&self, one_in: u32, what: &str) -> bool {
        let strikes = self.allows_faults() && self.dice.one_in(one_in);
        if strikes {
            self.tally.count(what);
        }
        strikes
    }

    /// Adds a line to the trace.
    pub(crate) fn add_trace_line(&self, line: std::fmt::Arguments<'_>) {
        let now_ms = self.now_ms();
        let mut trace = self.trace.lock().expect("no holder panics");
        writeln!(trace, "{now_ms} {line}").expect("a string takes everything");
    }

    /// Reports a violation. The run continues and fails at its end.
    pub(crate) fn report_violation(&self, what: impl Into<String>) {
        let what = format!("at {} ms: {}", self.now_ms(), what.into());
        self.add_trace_line(format_args!("WRONG {what}"));
        self.violation.lock().expect("no holder panics").get_or_insert(what);
    }

    pub(crate) fn first_violation(&self) -> Option<String> {
        self.violation.lock().expect("no holder panics").clone()
    }

    pub(crate) fn trace(&self) -> String {
        self.trace.lock().expect("no holder panics").clone()
    }

    /// Returns true if the trace exceeds its maximum length.
    pub(crate) fn exceeds_trace_limit(&self) -> bool {
        self.trace.lock().expect("no holder panics").len() > TRACE_BYTES_MAX
    }

    /// Waits for `ms` simulated milliseconds, but at least one.
    pub(crate) async fn sleep_ms(&self, ms: u32) {
        tokio::time::sleep(Duration::from_millis(u64::from(ms.max(1)))).await;
    }

    /// Waits for the transit time of a message.
    pub(crate) async fn transit_delay(&self) {
        self.sleep_ms(self.dice.between(1, self.weather.travel_ms + 1)).await;
    }
}
