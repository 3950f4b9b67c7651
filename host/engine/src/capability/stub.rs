//! Stub for the servers that a tool may reach, used to check tools without sending anything. A check is repeatable,
//! because time and random numbers depend only on the call and the try.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock, WasiCtxBuilder};

use latchwork_core::model::ids::Hash;

use crate::capability::grants::Origin;

/// Wall-clock time of the first try of a checked call: 2026-01-05 09:00:00 UTC.
const START_SECONDS: u64 = 1_767_603_600;
/// Seconds between two tries of a checked call: an hour and some seconds, so that the second of the minute differs, too.
const TRY_SECONDS: u64 = 3_607;

/// Reason why a request gets no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StubFailure {
    /// The server refuses the connection.
    Refused,
    /// The server receives the request but does not answer in time.
    TimedOut,
}

/// Answers in place of every granted server. Grants, rights, placeholders and the call's deadline are checked
/// first, as for real servers.
pub trait HttpStub: Send + Sync {
    /// Answers a request. The secrets are already inserted, as in a request that leaves the host.
    fn answer(&self, place: &Origin, request: Request<Bytes>) -> Result<Response<Bytes>, StubFailure>;
}

/// Sets time and random numbers of a checked call. Both are equal in every repetition of the check and differ between
/// the tries of the call.
pub(crate) fn fix_environment(wasi: &mut WasiCtxBuilder, external_key: &str, tries_before: u32) {
    let rng = |purpose: &[u8]| {
        let seed = Hash::of(&[external_key.as_bytes(), &[0], &tries_before.to_le_bytes(), purpose]);
        ChaCha20Rng::from_seed(seed.0)
    };
    let mut seed = [0; 16];
    rng(b"seed").fill_bytes(&mut seed);
    wasi.secure_random(rng(b"secure")).insecure_random(rng(b"insecure"));
    wasi.insecure_random_seed(u128::from_le_bytes(seed));
    let now = Duration::from_secs(START_SECONDS + TRY_SECONDS * u64::from(tries_before));
    wasi.wall_clock(FixedClock(now)).monotonic_clock(CountingClock(AtomicU64::new(now.as_nanos() as u64)));
}

/// A monotonic clock that advances by a microsecond at each look, so that a loop that waits for it ends.
struct CountingClock(AtomicU64);

impl HostMonotonicClock for CountingClock {
    fn resolution(&self) -> u64 {
        1_000
    }
    fn now(&self) -> u64 {
        self.0.fetch_add(1_000, Ordering::Relaxed)
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
