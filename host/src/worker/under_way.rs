//! Tool calls in flight. A run that is abandoned lets them finish first, so that their answers are recorded.

use std::sync::Arc;

use latchwork_core::storage::WriteError;
use tokio::sync::watch;

use super::run::{Dropped, Run};

/// Counter of calls in flight, with a flag that refuses new ones.
pub(super) struct UnderWay(watch::Sender<State>);

#[derive(Clone, Copy, Default)]
struct State {
    calls: u32,
    closed: bool,
}

/// Guard of one call in flight.
pub(super) struct OneCall(Arc<Run>);

impl Default for UnderWay {
    fn default() -> Self {
        Self(watch::Sender::new(State::default()))
    }
}

impl UnderWay {
    /// Refuses new calls and waits until the calls in flight have finished. Each call ends by its own timeout.
    pub(super) async fn close(&self) {
        self.0.send_modify(|state| state.closed = true);
        let mut calls = self.0.subscribe();
        // The sender belongs to the run, which outlives this wait.
        let _ = calls.wait_for(|state| state.calls == 0).await;
    }

    /// Allows new calls again.
    pub(super) fn open(&self) {
        self.0.send_modify(|state| state.closed = false);
    }
}

impl Run {
    /// Counts a call as in flight until the returned guard is dropped. Fails if new calls are refused.
    pub(super) fn under_way(self: &Arc<Self>) -> Result<OneCall, Dropped> {
        let mut admitted = false;
        self.under_way.0.send_modify(|state| {
            admitted = !state.closed;
            state.calls += u32::from(admitted);
        });
        if !admitted {
            // The caller of `close` reports the actual reason.
            return Err(Dropped::Reload(WriteError::Cancelled));
        }
        Ok(OneCall(self.clone()))
    }
}

impl Drop for OneCall {
    fn drop(&mut self) {
        self.0.under_way.0.send_modify(|state| state.calls -= 1);
    }
}
