//! Tool calls in flight. An aborted run waits until these calls have finished. Otherwise their answers would not be
//! recorded.

use std::sync::Arc;

use tokio::sync::watch;

/// Counter of calls in flight, with a flag that refuses new calls.
pub(crate) struct InFlightCalls(watch::Sender<InFlightState>);

#[derive(Clone, Copy, Default)]
struct InFlightState {
    calls: u32,
    closed: bool,
}

/// Error of a call that was refused because the run accepts no new calls.
#[derive(Debug)]
pub(crate) struct CallsClosed;

/// Guard of one call in flight.
pub(crate) struct InFlightGuard(Arc<InFlightCalls>);

impl Default for InFlightCalls {
    fn default() -> Self {
        Self(watch::Sender::new(InFlightState::default()))
    }
}

impl InFlightCalls {
    /// Refuses new calls and waits until the calls in flight have finished. Each call ends after its own
    /// timeout at the latest.
    pub(crate) async fn close_and_drain(&self) {
        self.0.send_modify(|state| state.closed = true);
        let mut calls = self.0.subscribe();
        // The result is ignored. The wait fails only if the sender is dropped, and `self` holds the sender.
        let _ = calls.wait_for(|state| state.calls == 0).await;
    }

    /// Allows new calls again.
    pub(crate) fn open(&self) {
        self.0.send_modify(|state| state.closed = false);
    }

    /// Counts a call as in flight until the returned guard is dropped. Fails if new calls are refused.
    pub(crate) fn begin_call(self: &Arc<Self>) -> Result<InFlightGuard, CallsClosed> {
        let mut admitted = false;
        self.0.send_modify(|state| {
            admitted = !state.closed;
            state.calls += u32::from(admitted);
        });
        if !admitted {
            return Err(CallsClosed);
        }
        Ok(InFlightGuard(self.clone()))
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.0.0.send_modify(|state| state.calls -= 1);
    }
}
