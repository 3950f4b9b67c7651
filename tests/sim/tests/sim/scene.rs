//! What everybody in one run shares: time, luck, the store, the world, and the account of it all.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use latchwork_core::ids::{JobId, Slot};
use latchwork_core::memory::{ManualClock, Memory};
use tokio::time::Instant;

use crate::dice::Dice;
use crate::record::Records;
use crate::tally::Tally;
use crate::weather::Weather;
use crate::world::World;

/// Clock margin of the store and of the workers.
pub(crate) const MARGIN_MS: u32 = 200;

/// An account is longer only where somebody goes in circles.
const TRACE_BYTES_MAX: usize = 4 << 20;

pub(crate) struct Scene {
    pub(crate) dice: Dice,
    pub(crate) weather: Weather,
    pub(crate) tally: Tally,
    pub(crate) world: Mutex<World>,
    /// What is seen of jobs of the model's shape: then there are no others.
    pub(crate) records: Option<Records>,
    memory: Memory,
    clock: Arc<ManualClock>,
    began: Instant,
    clock_ms: AtomicU64,
    /// Until when the store answers nobody.
    pub(crate) outage_until_ms: AtomicU64,
    trace: Mutex<String>,
    /// The answer of the write that has this event is lost, once.
    pub(crate) lose: Mutex<Option<&'static str>>,
    /// The write that has this event is lost, once, and what its process writes after it gets there no earlier than so
    /// many milliseconds later; what it reads is answered.
    pub(crate) hamper: Mutex<Option<(&'static str, u64)>>,
    /// Processes that are no more.
    pub(crate) dead: Mutex<BTreeSet<String>>,
    /// Results that were recorded, of a job's call and its try: by which process.
    pub(crate) answered: Mutex<BTreeMap<(JobId, Slot, u32), String>>,
    /// Whether people wait before they decide about a call in doubt.
    pub(crate) patient: AtomicBool,
    /// Since when a person has been asked about a call whose result was recorded.
    pub(crate) asked_in_vain: Mutex<BTreeMap<(JobId, Slot, u32), u64>>,
    /// The first thing that must not be.
    wrong: Mutex<Option<String>>,
}

impl Scene {
    pub(crate) fn new(dice: Dice, weather: Weather) -> Arc<Self> {
        Self::with(dice, weather, None)
    }

    /// One whose jobs have the shape of the protocol model, and are looked at.
    pub(crate) fn recorded(dice: Dice, weather: Weather) -> Arc<Self> {
        Self::with(dice, weather, Some(Records::default()))
    }

    #[expect(clippy::disallowed_methods, reason = "simulated time begins here")]
    fn with(dice: Dice, weather: Weather, records: Option<Records>) -> Arc<Self> {
        let clock = Arc::new(ManualClock::default());
        Arc::new(Self {
            weather,
            dice,
            tally: Tally::default(),
            world: Mutex::default(),
            records,
            memory: Memory::new(clock.clone(), MARGIN_MS),
            clock,
            began: Instant::now(),
            clock_ms: AtomicU64::new(0),
            outage_until_ms: AtomicU64::new(0),
            trace: Mutex::default(),
            lose: Mutex::default(),
            hamper: Mutex::default(),
            dead: Mutex::default(),
            answered: Mutex::default(),
            patient: AtomicBool::new(false),
            asked_in_vain: Mutex::default(),
            wrong: Mutex::default(),
        })
    }

    /// Simulated milliseconds since the run began.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads simulated time")]
    pub(crate) fn now_ms(&self) -> u64 {
        let since = Instant::now().duration_since(self.began);
        u64::try_from(since.as_millis()).expect("a run is short")
    }

    /// The store, its clock set to now.
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

    /// Whether things may go wrong.
    pub(crate) fn is_rough(&self) -> bool {
        self.now_ms() < self.weather.calm_ms
    }

    /// Whether something goes wrong now that does once in so many times.
    pub(crate) fn strikes(&self, one_in: u32, what: &str) -> bool {
        let strikes = self.is_rough() && self.dice.one_in(one_in);
        if strikes {
            self.tally.count(what);
        }
        strikes
    }

    /// One line of the account.
    pub(crate) fn note(&self, line: std::fmt::Arguments<'_>) {
        let now_ms = self.now_ms();
        let mut trace = self.trace.lock().expect("no holder panics");
        writeln!(trace, "{now_ms} {line}").expect("a string takes everything");
    }

    /// Something that must never be. The run goes on, and fails in the end.
    pub(crate) fn wrong(&self, what: impl Into<String>) {
        let what = format!("at {} ms: {}", self.now_ms(), what.into());
        self.note(format_args!("WRONG {what}"));
        self.wrong.lock().expect("no holder panics").get_or_insert(what);
    }

    pub(crate) fn first_wrong(&self) -> Option<String> {
        self.wrong.lock().expect("no holder panics").clone()
    }

    pub(crate) fn trace(&self) -> String {
        self.trace.lock().expect("no holder panics").clone()
    }

    /// Whether more has happened than ever does.
    pub(crate) fn is_endless(&self) -> bool {
        self.trace.lock().expect("no holder panics").len() > TRACE_BYTES_MAX
    }

    /// So many milliseconds pass, and at least one.
    pub(crate) async fn pass(&self, ms: u32) {
        tokio::time::sleep(Duration::from_millis(u64::from(ms.max(1)))).await;
    }

    /// Something is on its way.
    pub(crate) async fn travel(&self) {
        self.pass(self.dice.between(1, self.weather.travel_ms + 1)).await;
    }
}
