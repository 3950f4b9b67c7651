//! Deadline of a call, and the record of whether the call has begun to act on the world.

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::capability::interruption::Interruption;
use crate::capability::lookups::Lookups;
use crate::guest::fault::HostFault;
use crate::guest::permissions::DeniedBy;
use crate::os::Machine;

/// Bit of the state of a window that has ended. The other bits count the operations that were begun.
const CLOSED: u64 = 1;
/// One operation in the state of a window.
const BEGUN: u64 = 2;

/// Time in which a call may act on the world. The wasmtime `Store` of the call and the tasks that send on behalf of the
/// call share this value.
///
/// After the deadline or the end of the call, no operation may begin and nothing may be sent. A call that began no
/// operation has changed nothing, regardless of how the guest ended. A call that began an operation is in doubt if the
/// tool did not answer. The resolution of calls in doubt relies on these rules.
#[derive(Clone, Debug)]
pub struct CallWindow {
    machine: Machine,
    deadline_boot_us: u64,
    record: Arc<SharedWindow>,
    interruption: Option<Arc<Interruption>>,
}

/// Part of a window that its clones share.
#[derive(Debug, Default)]
struct SharedWindow {
    state: AtomicU64,
    hindered: Mutex<Hindrances>,
    denials: AtomicU32,
    /// Places of lookups. Most calls look up no name, so the first lookup creates the places.
    lookups: OnceLock<Lookups>,
}

/// Accesses that the host refused or could not complete during a call. If the guest fails with an exception and names
/// no cause, one of these accesses is probably the cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hindrances {
    /// Refusal by the greatest rule in the order of [`DeniedBy`], and the line of `latch.toml` that would allow the
    /// access. Of several refusals by this rule, the last one is kept.
    pub(crate) denied: Option<(DeniedBy, String)>,
    /// Last granted server that could not be reached, with the reason.
    pub(crate) unreachable: Option<String>,
    /// First resource that the machine lacked for an operation of the call.
    pub(crate) lack: Option<String>,
}

impl CallWindow {
    /// Returns a window that ends at `deadline_boot_us`, a time of the boot clock of `machine` in microseconds.
    pub fn with_deadline(machine: Machine, deadline_boot_us: u64) -> Self {
        Self { machine, deadline_boot_us, record: Arc::default(), interruption: None }
    }

    /// Returns the same window with the simulated death of the host that can end the call.
    pub(crate) fn with_interruption(self, interruption: Option<Arc<Interruption>>) -> Self {
        Self { interruption, ..self }
    }

    /// Creates a window that begins now.
    pub fn with_timeout_ms(machine: Machine, timeout_ms: u32) -> Self {
        let deadline_us = machine.boot_us().saturating_add(u64::from(timeout_ms) * 1_000);
        Self::with_deadline(machine, deadline_us)
    }

    /// Counts a refused access and returns the number of refused accesses so far.
    pub(crate) fn count_denied(&self) -> u32 {
        self.record.denials.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }

    /// Records that the host refused an access.
    pub(crate) fn record_denied(&self, message: String, rule: DeniedBy) {
        let denied = &mut self.hindered().denied;
        if denied.as_ref().is_none_or(|(recorded, _)| *recorded <= rule) {
            *denied = Some((rule, message));
        }
    }

    /// Records that a granted server could not be reached.
    pub(crate) fn record_unreachable(&self, message: String) {
        self.hindered().unreachable = Some(message);
    }

    /// Records that the machine lacked memory or descriptors for an operation of the call, and ends the window. The
    /// returned fault ends the call, regardless of how the guest handles a failure of the operation.
    pub(crate) fn record_lack(&self, error: &io::Error) -> HostFault {
        let why = error.to_string();
        self.hindered().lack.get_or_insert(why.clone());
        self.record.state.fetch_or(CLOSED, Ordering::SeqCst);
        HostFault::Machine(why)
    }

    /// Returns the places of the lookups of names by the call.
    pub(crate) fn lookups(&self) -> &Lookups {
        self.record.lookups.get_or_init(|| Lookups::of_call(&self.machine))
    }

    /// Returns the refusals and failures recorded so far.
    pub(crate) fn hindrances(&self) -> Hindrances {
        self.hindered().clone()
    }

    fn hindered(&self) -> MutexGuard<'_, Hindrances> {
        self.record.hindered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails if the deadline has passed or the call has ended.
    pub(crate) fn check(&self) -> Result<(), HostFault> {
        let has_interrupted = self.interruption.as_ref().is_some_and(|interruption| interruption.has_interrupted());
        let open = self.record.state.load(Ordering::SeqCst) & CLOSED == 0 && !has_interrupted;
        if open && self.machine.boot_us() < self.deadline_boot_us { Ok(()) } else { Err(HostFault::Deadline) }
    }

    /// Returns the time until the deadline.
    pub(crate) fn time_left(&self) -> std::time::Duration {
        std::time::Duration::from_micros(self.deadline_boot_us.saturating_sub(self.machine.boot_us()))
    }

    /// Records that an operation is about to begin that may change the world. Fails after the deadline or the end of
    /// the call.
    pub(crate) fn begin_side_effect(&self) -> Result<(), HostFault> {
        self.check()?;
        if self.interruption.as_ref().is_some_and(|interruption| !interruption.may_begin()) {
            return Err(HostFault::Deadline);
        }
        let begin = |state| if state & CLOSED == 0 { Some(state + BEGUN) } else { None };
        match self.record.state.fetch_update(Ordering::SeqCst, Ordering::SeqCst, begin) {
            Ok(_) => Ok(()),
            Err(_) => Err(HostFault::Deadline),
        }
    }

    /// Takes back one operation that was begun but certainly changed nothing, such as a write that the store refused.
    pub(crate) fn withdraw_side_effect(&self) {
        self.record.state.fetch_sub(BEGUN, Ordering::SeqCst);
    }

    /// Ends the call and returns true if any operation was begun and not withdrawn. After this function, no task can
    /// begin an operation, not even on another thread.
    pub(crate) fn close(&self) -> bool {
        self.record.state.fetch_or(CLOSED, Ordering::SeqCst) >= BEGUN
    }
}

#[cfg(test)]
mod tests {
    use latchwork_core::memory::ManualClock;

    use crate::os::SystemEntropy;

    use super::*;

    /// I175. The clock of the host decides, and not the clock of the process.
    #[test]
    fn no_side_effect_begins_after_the_deadline() {
        let clock = Arc::new(ManualClock::default());
        let machine = Machine::new(clock.clone(), Arc::new(SystemEntropy));
        let late = CallWindow::with_timeout_ms(machine.clone(), 10);
        assert_eq!(late.time_left(), std::time::Duration::from_millis(10));
        clock.advance_ms(10);
        assert_eq!(late.begin_side_effect(), Err(HostFault::Deadline));
        assert!(!late.close());
        let early = CallWindow::with_timeout_ms(machine, 10);
        clock.advance_ms(9);
        early.clone().begin_side_effect().unwrap();
        assert!(early.close(), "clones share the begun flag");
    }

    /// I250: the check of a plugin ends a call before each of its operations.
    #[test]
    fn no_side_effect_begins_after_a_simulated_death_of_the_host() {
        let interruption = Arc::new(Interruption::after(1));
        let watch =
            CallWindow::with_timeout_ms(Machine::system(), 60_000).with_interruption(Some(interruption.clone()));
        watch.clone().begin_side_effect().unwrap();
        assert!(!interruption.has_interrupted() && watch.check().is_ok());
        assert_eq!(watch.begin_side_effect(), Err(HostFault::Deadline));
        assert_eq!((interruption.has_interrupted(), watch.check()), (true, Err(HostFault::Deadline)));
        assert!(watch.close(), "the first operation has begun");
    }

    /// I234. The withdrawal of one operation does not hide another one.
    #[test]
    fn withdrawn_side_effect_was_not_begun() {
        let watch = CallWindow::with_timeout_ms(Machine::system(), 60_000);
        watch.begin_side_effect().unwrap();
        watch.withdraw_side_effect();
        let other = CallWindow::with_timeout_ms(Machine::system(), 60_000);
        other.begin_side_effect().unwrap();
        other.clone().begin_side_effect().unwrap();
        other.withdraw_side_effect();
        assert_eq!((watch.close(), other.close(), other.close()), (false, true, true));
    }

    /// I245. After a lack of descriptors, the call begins nothing more. Operations that it had begun still count.
    #[test]
    fn no_side_effect_begins_after_a_lack_of_resources() {
        for had_begun in [false, true] {
            let watch = CallWindow::with_timeout_ms(Machine::system(), 60_000);
            if had_begun {
                watch.begin_side_effect().unwrap();
            }
            let lack = io::Error::from(rustix::io::Errno::MFILE);
            assert!(matches!(watch.record_lack(&lack), HostFault::Machine(_)));
            watch.record_lack(&io::Error::from(rustix::io::Errno::NOMEM));
            assert_eq!(watch.hindrances().lack, Some(lack.to_string()));
            assert!(watch.check().is_err() && watch.begin_side_effect().is_err());
            assert_eq!(watch.close(), had_begun);
        }
    }

    /// I239: clones share the places of lookups. The first lookup creates them.
    #[test]
    fn places_of_lookups_are_created_by_the_first_lookup() {
        let watch = CallWindow::with_timeout_ms(Machine::system(), 60_000);
        let clone = watch.clone();
        assert!(watch.record.lookups.get().is_none());
        assert!(std::ptr::eq(clone.lookups(), watch.lookups()));
    }

    #[test]
    fn no_side_effect_begins_after_the_call_ends() {
        let watch = CallWindow::with_timeout_ms(Machine::system(), 60_000);
        assert!(!watch.close());
        assert_eq!(watch.clone().begin_side_effect(), Err(HostFault::Deadline));
        assert_eq!(watch.check(), Err(HostFault::Deadline));
        assert!(!watch.close(), "a refused operation is not begun");
    }
}
