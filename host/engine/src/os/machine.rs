//! Time and randomness of one host, and the places of its lookups of names. A simulation replaces their sources.

use std::fmt;
use std::sync::Arc;

use latchwork_core::model::bounds;
use latchwork_core::storage::Clock;
use tokio::sync::Semaphore;

use crate::os::entropy::{Entropy, SystemEntropy};
use crate::os::host_clock::HostClock;

/// Time and randomness of one host, and the places of its lookups of names. Clones share these. Separate machines share
/// nothing.
#[derive(Clone)]
pub struct Machine {
    clock: Arc<HostClock>,
    entropy: Arc<dyn Entropy>,
    /// One permit for each lookup of a name that may run at the same time.
    lookup_places: Arc<Semaphore>,
}

impl Default for Machine {
    /// The clock and the entropy of the operating system.
    fn default() -> Self {
        Self::system()
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine").field("now_us", &self.now_us()).field("boot_us", &self.boot_us()).finish()
    }
}

impl Machine {
    /// Creates a machine from a clock and a source of entropy.
    pub fn new(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        let lookup_places = Arc::new(Semaphore::new(bounds::PROCESS_LOOKUPS));
        Self { clock: Arc::new(HostClock::new(clock)), entropy, lookup_places }
    }

    /// Creates a machine with the clock and the entropy of the operating system.
    pub fn system() -> Self {
        let lookup_places = Arc::new(Semaphore::new(bounds::PROCESS_LOOKUPS));
        Self { clock: Arc::default(), entropy: Arc::new(SystemEntropy), lookup_places }
    }

    /// Returns the time in microseconds since 1970 UTC: the time of the database after
    /// [`synchronize`](Self::synchronize), else the time of the machine's own clock.
    pub fn now_us(&self) -> i64 {
        self.clock.now_us()
    }

    /// Returns the microseconds since the machine was booted, including time asleep.
    pub fn boot_us(&self) -> u64 {
        u64::try_from(self.clock.boot_us()).unwrap_or(0)
    }

    /// Returns the id of the boot from which [`boot_us`](Self::boot_us) counts. Returns `None` if the system provides no id.
    pub fn boot_id(&self) -> Option<String> {
        Some(self.clock.boot_id()).filter(|id| !id.is_empty())
    }

    /// Returns true if [`synchronize`](Self::synchronize) was called.
    pub fn is_synchronized(&self) -> bool {
        self.clock.is_synchronized()
    }

    /// Sets the clock to a time of the database that was requested at `asked_boot_us`, see [`HostClock::synchronize`].
    pub fn synchronize(&self, database_us: i64, asked_boot_us: u64) {
        self.clock.synchronize(database_us, i64::try_from(asked_boot_us).unwrap_or(i64::MAX));
    }

    /// Returns `N` random bytes for a seed, an id or a nonce.
    pub fn random_bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.entropy.fill(&mut bytes);
        bytes
    }

    /// Returns the places of the lookups of names that run at the same time.
    pub(crate) fn lookup_places(&self) -> &Arc<Semaphore> {
        &self.lookup_places
    }

    /// Returns an unpredictable number.
    pub fn random(&self) -> u64 {
        u64::from_le_bytes(self.random_bytes())
    }
}
