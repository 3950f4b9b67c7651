//! What a worker goes by: time and randomness. It is told, so that a simulation can tell it otherwise.

use super::{clock, entropy};

/// Time and randomness, as one worker has them.
pub trait Machine: Send + Sync {
    /// Microseconds since 1970 UTC, by the database where it is followed: [`clock::now_us`].
    fn now_us(&self) -> i64;
    /// Microseconds since the machine was booted: [`clock::boot_us`].
    fn boot_us(&self) -> u64;
    /// A number that nobody can foretell.
    fn random(&self) -> u64;
    /// Whether it goes by a database's time: [`clock::follows`].
    fn follows(&self) -> bool;
    /// Go by this database time, asked for then: [`clock::follow`].
    fn follow(&self, database_us: i64, asked_boot_us: u64);
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
    fn follows(&self) -> bool {
        clock::follows()
    }
    fn follow(&self, database_us: i64, asked_boot_us: u64) {
        clock::follow(database_us, asked_boot_us);
    }
}
