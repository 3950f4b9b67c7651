//! One process of a worker. The process may be paused and may die. It calls [`Process::wait_while_paused`] before it
//! acts on the store or the world. A dead process therefore does nothing, and a paused process acts later.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use tokio::sync::Notify;

use latchwork::runtime::CrashPoint;
use latchwork_core::storage::{Clock, Owner};
use latchwork_engine::os::Entropy;

use crate::simulation::Simulation;

/// Names of the crash points: the store statements that a worker makes, and points around the execution of a
/// call.
pub(crate) const CRASH_POINTS: [&str; 18] = [
    "claim",
    "write",
    "load",
    "effects",
    "put_effects",
    "job",
    "inbox",
    "heartbeat",
    "quiescence",
    "fire_timers",
    "put_inbox",
    "now",
    "action",
    "execute",
    "reconcile",
    // `sending` is listed three times, so that more processes die at this point and leave a call in doubt.
    "sending",
    "sending",
    "sending",
];

pub(crate) struct Process {
    pub(crate) scene: Arc<Simulation>,
    pub(crate) owner: Owner,
    dead: AtomicBool,
    /// Number of statements in transit to the store. They arrive even if the process dies.
    in_transit: AtomicU32,
    over: AtomicBool,
    pub(crate) died: Notify,
    paused_until_ms: AtomicU64,
    /// Time until which the writes of the process are delayed.
    writes_delayed_until_ms: AtomicU64,
    /// Point at which the process dies. The flag is true if the process dies after the point, and false if it dies
    /// before the point.
    crash_at: Option<(&'static str, bool)>,
    passes_left: AtomicU32,
    boot_us: u64,
    /// Offset of the machine's own clock in microseconds.
    clock_offset_us: i64,
}

impl Process {
    pub(crate) fn new(scene: &Arc<Simulation>, name: &str) -> Arc<Self> {
        let dice = &scene.dice;
        let doomed = scene.allows_faults() && scene.weather.dies_in > 0 && !dice.one_in(scene.weather.dies_in + 1);
        // Some processes die at a crash point, and other processes at a random time.
        let at_place = doomed && !dice.one_in(3);
        let doom = at_place.then(|| (*dice.pick(&CRASH_POINTS), dice.one_in(2)));
        let apart = scene.weather.on_other_machines;
        let process = Arc::new(Self {
            owner: Owner {
                worker: name.to_owned(),
                boot_id: scene.clock().boot_id(),
                lock_path: format!("/locks/{name}"),
                lock_dev: 1,
                lock_ino: 1,
                lock_content: name.to_owned(),
            },
            dead: AtomicBool::new(false),
            in_transit: AtomicU32::new(0),
            over: AtomicBool::new(false),
            died: Notify::new(),
            paused_until_ms: AtomicU64::new(0),
            writes_delayed_until_ms: AtomicU64::new(0),
            crash_at: doom,
            passes_left: AtomicU32::new(dice.below(4)),
            boot_us: if apart { u64::from(dice.below(1_000_000)) * 1_000 } else { 0 },
            clock_offset_us: if apart { (i64::from(dice.below(600_000)) - 300_000) * 1_000 } else { 0 },
            scene: scene.clone(),
        });
        if doomed && !at_place {
            let (process, after_ms) = (process.clone(), dice.between(50, 9_000));
            tokio::spawn(async move {
                process.scene.sleep_ms(after_ms).await;
                process.die("at a time");
            });
        }
        process
    }

    pub(crate) fn name(&self) -> &str {
        &self.owner.worker
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    /// Kills the process. A dead process does nothing more.
    pub(crate) fn die(&self, place: &str) {
        if !self.scene.allows_faults() || self.dead.swap(true, Ordering::Relaxed) {
            return;
        }
        self.scene.add_trace_line(format_args!("{} dies {place}", self.name()));
        self.scene.tally.count(format!("died {place}"));
        self.scene.dead_processes.lock().expect("no holder panics").insert(self.name().to_owned());
        self.unlock();
        self.record_death();
        self.died.notify_one();
    }

    /// Delays the writes of the process for the next `ms` milliseconds.
    pub(crate) fn delay_writes(&self, ms: u64) {
        self.writes_delayed_until_ms.store(self.scene.now_ms() + ms, Ordering::Relaxed);
    }

    /// Waits until the delay of the writes has ended.
    pub(crate) async fn wait_for_write_delay(&self) {
        let until_ms = self.writes_delayed_until_ms.load(Ordering::Relaxed);
        let left = until_ms.saturating_sub(self.scene.now_ms());
        if left > 0 {
            self.scene.sleep_ms(u32::try_from(left).expect("a run is short")).await;
        }
    }

    /// Returns the microseconds since the machine of the process was booted.
    pub(crate) fn since_boot_us(&self) -> u64 {
        self.boot_us + self.scene.now_ms() * 1_000
    }

    /// Counts a statement that leaves the process.
    pub(crate) fn statement_sent(&self) {
        self.in_transit.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a statement that has arrived or is lost.
    pub(crate) fn statement_arrived(&self) {
        self.in_transit.fetch_sub(1, Ordering::Relaxed);
        self.record_death();
    }

    /// Records the death if the process is dead and has no statement in transit. After the record, the process
    /// causes no further observation.
    fn record_death(&self) {
        if let Some(records) = &self.scene.records
            && self.is_dead()
            && self.in_transit.load(Ordering::Relaxed) == 0
        {
            records.died(self.name());
        }
    }

    /// Ends a process that has nothing left to do.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        self.unlock();
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Releases the owner lock, if other processes can see it.
    fn unlock(&self) {
        if !self.scene.weather.on_other_machines {
            self.scene.clock().kill(&self.owner);
        }
    }

    /// Waits while the process is paused. Never returns if the process is dead.
    pub(crate) async fn wait_while_paused(&self) {
        if self.scene.fault_occurs(self.scene.weather.pauses_in, "paused") {
            let ms = *self.scene.dice.pick(&[300, 1_500, 4_000, 9_000]);
            self.scene.add_trace_line(format_args!("{} is paused for {ms} ms", self.name()));
            self.paused_until_ms.fetch_max(self.scene.now_ms() + ms, Ordering::Relaxed);
        }
        loop {
            if self.is_dead() {
                std::future::pending::<()>().await;
            }
            let left_ms = self.paused_until_ms.load(Ordering::Relaxed).saturating_sub(self.scene.now_ms());
            if left_ms == 0 {
                return;
            }
            self.scene.sleep_ms(u32::try_from(left_ms).expect("a pause is short")).await;
        }
    }

    /// Returns true if the store is unreachable. May start an outage.
    pub(crate) fn is_store_unreachable(&self) -> bool {
        let scene = &self.scene;
        if scene.fault_occurs(scene.weather.outage_in, "outage") {
            let ms = *scene.dice.pick(&[200, 1_000, 5_000]);
            scene.add_trace_line(format_args!("the store is unreachable for {ms} ms"));
            scene.outage_until_ms.fetch_max(scene.now_ms() + ms, Ordering::Relaxed);
        }
        scene.now_ms() < scene.outage_until_ms.load(Ordering::Relaxed)
    }

    /// Passes a point at which the process may die.
    pub(crate) fn pass_crash_point(&self, name: &'static str, after: bool) {
        if self.crash_at != Some((name, after)) || self.is_dead() {
            return;
        }
        let left = self.passes_left.load(Ordering::Relaxed);
        match left.checked_sub(1) {
            Some(left) => self.passes_left.store(left, Ordering::Relaxed),
            None => self.die(&format!("{} {name}", if after { "after" } else { "before" })),
        }
    }
}

impl CrashPoint for Process {
    fn at(&self, name: &'static str, after: bool) {
        self.pass_crash_point(name, after);
    }
}

impl Clock for Process {
    fn now_us(&self) -> i64 {
        self.scene.clock().now_us() + self.clock_offset_us
    }
    fn boot_us(&self) -> i64 {
        i64::try_from(self.since_boot_us()).expect("a run is short")
    }
    fn boot_id(&self) -> String {
        self.owner.boot_id.clone()
    }
}

impl Entropy for Process {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.scene.dice.number().to_le_bytes()[..chunk.len()]);
        }
    }
}
