//! Time and randomness of a worker, as a trait that a simulation can replace.

use super::{clock, entropy};

/// Time and randomness of one worker.
pub trait Machine: Send + Sync {
    /// Returns the time in microseconds since 1970 UTC, as [`clock::now_us`] does.
    fn now_us(&self) -> i64;
    /// Returns the microseconds since the machine was booted, as [`clock::boot_us`] does.
    fn boot_us(&self) -> u64;
    /// Returns an unpredictable number.
    fn random(&self) -> u64;
    /// Returns true if [`synchronize`](Self::synchronize) was called, as [`clock::is_synchronized`] does.
    fn is_synchronized(&self) -> bool;
    /// Sets the time to a database time that was requested at `asked_boot_us`, as [`clock::synchronize`]
    /// does.
    fn synchronize(&self, database_us: i64, asked_boot_us: u64);
}

/// The machine that this process runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThisMachine;

impl Machine for ThisMachine {
    fn now_us(&self) -> i64 {
        clock::now_us()
    }
    fn boot_us(&self) -> u64 {
        clock::boot_us()
    }
    fn random(&self) -> u64 {
        u64::from_le_bytes(entropy::bytes())
    }
    fn is_synchronized(&self) -> bool {
        clock::is_synchronized()
    }
    fn synchronize(&self, database_us: i64, asked_boot_us: u64) {
        clock::synchronize(database_us, asked_boot_us);
    }
}
