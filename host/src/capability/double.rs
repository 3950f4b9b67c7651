//! A stand-in for the servers a tool may reach: for checking tools, where nothing may leave. Time and
//! randomness then follow from the call, so that a check repeats.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use latchwork_core::ids::Hash;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use wasmtime_wasi::{HostWallClock, WasiCtxBuilder};

use crate::config::HttpGrant;

/// When checked calls are made: 2026-01-05 09:00:00 UTC.
const START_SECONDS: u64 = 1_767_603_600;
/// How much later each further try is.
const TRY_SECONDS: u64 = 3_600;

/// Why a request gets no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// Nobody listens there.
    Refused,
    /// It was received, and no answer comes in time.
    Silent,
}

/// What answers instead of every granted server. Grants, rights, placeholders and the call's time
/// are checked before as they are for real ones.
pub trait Servers: Send + Sync {
    /// The answer to a request, which is as it would have left: with its secrets in place.
    fn answer(&self, place: &HttpGrant, request: Request<Bytes>) -> Result<Response<Bytes>, Unanswered>;
}

/// Time and randomness of a checked call: the same whenever it is checked, others in its next try.
pub(crate) fn settle(wasi: &mut WasiCtxBuilder, external_key: &str, tries_before: u32) {
    let rng = |purpose: &[u8]| {
        let seed = Hash::of(&[external_key.as_bytes(), &[0], &tries_before.to_le_bytes(), purpose]);
        ChaCha20Rng::from_seed(seed.0)
    };
    wasi.secure_random(rng(b"secure")).insecure_random(rng(b"insecure")).insecure_random_seed(u128::from(tries_before));
    wasi.wall_clock(Standing(Duration::from_secs(START_SECONDS + TRY_SECONDS * u64::from(tries_before))));
}

struct Standing(Duration);

impl HostWallClock for Standing {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }
    fn now(&self) -> Duration {
        self.0
    }
}
