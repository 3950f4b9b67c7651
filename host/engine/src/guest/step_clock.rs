//! Clock of a step, which advances with answers, clock reads and sleeps.

/// Nanoseconds by which each clock read advances the clock. Without this advance, a guest that reads the clock in a
/// loop until a later time would never end.
pub(crate) const READ_ADVANCE_NS: i64 = 1_000;

/// Time up to which the step's reads and sleeps have advanced its clock, in nanoseconds since 1970 UTC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepClock(i64);

impl Default for StepClock {
    /// A clock that no read or sleep has advanced yet. The earliest possible time stands for this state.
    fn default() -> Self {
        Self(i64::MIN)
    }
}

impl StepClock {
    /// Returns the current time. Unlike [`read`](Self::read), does not advance the clock by [`READ_ADVANCE_NS`]
    /// afterwards. `heard_us` is the time at which the step started or received its last answer. The clock is never
    /// earlier than `heard_us`, and never goes back.
    pub(crate) fn now_ns(&mut self, heard_us: i64) -> i64 {
        self.0 = self.0.max(heard_us.saturating_mul(1_000));
        self.0
    }

    /// Returns the time of the step's clock in microseconds since 1970 UTC. The time depends on the step's start,
    /// received answers, clock reads and sleeps.
    pub(crate) fn now_us(&mut self, heard_us: i64) -> i64 {
        heard_us.max(self.now_ns(heard_us).div_euclid(1_000))
    }

    /// Returns the current time and then advances the clock by [`READ_ADVANCE_NS`].
    pub(crate) fn read(&mut self, heard_us: i64) -> i64 {
        let now = self.now_ns(heard_us);
        self.0 = now.saturating_add(READ_ADVANCE_NS);
        now
    }

    /// Moves the clock forward to `due_ns`, unless the clock is already later. Sleeping takes no real time.
    pub(crate) fn sleep_until(&mut self, due_ns: i64) {
        self.0 = self.0.max(due_ns);
    }
}
