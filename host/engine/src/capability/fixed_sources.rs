//! Fixed clocks and random generators of a tool, for checked calls and for all calls of pure operators.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock, WasiCtxBuilder};

use latchwork_core::model::ids::Hash;

/// Seconds of the wall-clock time of the first try of a checked call, and of a call of a pure operator: 2026-01-05
/// 09:00:00 UTC.
const START_SECONDS: u64 = 1_767_603_600;
/// Nanoseconds of this time. No coarser unit holds them, so a tool that stores its time in whole seconds, milliseconds or
/// microseconds stores another time than it has read.
const START_NANOSECONDS: u64 = 123_456_789;
/// Seconds between two tries of a checked call: an hour and some seconds, so that the second of the minute differs, too.
const TRY_SECONDS: u64 = 3_607;
/// Nanoseconds by which each read advances the monotonic clock of a checked call.
const CHECK_STEP_NS: u64 = 1_000;
/// Nanoseconds by which each read advances the clock of a pure operator. A runtime that waits by reading its clock
/// needs a thousand reads for a second.
const PURE_STEP_NS: u64 = 1_000_000;

/// Sets time and random numbers of a checked call. Both are equal in every repetition of the check and differ between
/// the tries of the call.
pub(crate) fn fix_for_check(wasi: &mut WasiCtxBuilder, external_key: &str, tries_before: u32) {
    fix_random(wasi, |purpose| Hash::of(&[external_key.as_bytes(), &[0], &tries_before.to_le_bytes(), purpose]));
    let seconds = Duration::from_secs(START_SECONDS + TRY_SECONDS * u64::from(tries_before));
    let now = seconds + Duration::from_nanos(START_NANOSECONDS);
    wasi.wall_clock(FixedClock(now)).monotonic_clock(CountingClock::starting_at(now, CHECK_STEP_NS));
}

/// Sets time and random numbers of a call of a pure operator. They are equal in all calls of all jobs. The result of
/// the operator can therefore not depend on them, even if a runtime reads them.
pub(crate) fn fix_for_pure(wasi: &mut WasiCtxBuilder) {
    fix_random(wasi, |purpose| Hash::of(&[b"pure", purpose]));
    let clock = CountingClock::starting_at(Duration::from_secs(START_SECONDS), PURE_STEP_NS);
    wasi.wall_clock(clock.clone()).monotonic_clock(clock);
}

fn fix_random(wasi: &mut WasiCtxBuilder, seed: impl Fn(&[u8]) -> Hash) {
    let rng = |purpose: &[u8]| ChaCha20Rng::from_seed(seed(purpose).0);
    let mut number = [0; 16];
    rng(b"seed").fill_bytes(&mut number);
    wasi.secure_random(rng(b"secure")).insecure_random(rng(b"insecure"));
    wasi.insecure_random_seed(u128::from_le_bytes(number));
}

/// A clock that each read advances, so that a loop that waits for a time ends. Clones share the time.
#[derive(Clone)]
struct CountingClock {
    ns: Arc<AtomicU64>,
    step_ns: u64,
}

impl CountingClock {
    fn starting_at(now: Duration, step_ns: u64) -> Self {
        Self { ns: Arc::new(AtomicU64::new(now.as_nanos() as u64)), step_ns }
    }

    fn look(&self) -> u64 {
        self.ns.fetch_add(self.step_ns, Ordering::Relaxed)
    }
}

impl HostMonotonicClock for CountingClock {
    fn resolution(&self) -> u64 {
        self.step_ns
    }
    fn now(&self) -> u64 {
        self.look()
    }
}

impl HostWallClock for CountingClock {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(self.step_ns)
    }
    fn now(&self) -> Duration {
        Duration::from_nanos(self.look())
    }
}

struct FixedClock(Duration);

impl HostWallClock for FixedClock {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }
    fn now(&self) -> Duration {
        self.0
    }
}
