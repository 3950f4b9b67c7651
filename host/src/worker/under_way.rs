//! Calls of tools that are under way: whoever stops driving a job lets them end first, so that
//! what the world answered is recorded.

use std::sync::Arc;

use latchwork_core::storage::WriteError;
use tokio::sync::watch;

use super::run::{Dropped, Run};

/// How many there are, and whether more may begin.
pub(super) struct UnderWay(watch::Sender<State>);

#[derive(Clone, Copy, Default)]
struct State {
    calls: u32,
    closed: bool,
}

/// One of them.
pub(super) struct OneCall(Arc<Run>);

impl Default for UnderWay {
    fn default() -> Self {
        Self(watch::Sender::new(State::default()))
    }
}

impl UnderWay {
    /// From now on none may begin; comes back when those under way are over. Each ends by its
    /// own time limit.
    pub(super) async fn close(&self) {
        self.0.send_modify(|state| state.closed = true);
        let mut calls = self.0.subscribe();
        // The sender lives as long as the run that waits here.
        let _ = calls.wait_for(|state| state.calls == 0).await;
    }

    /// They may begin again.
    pub(super) fn open(&self) {
        self.0.send_modify(|state| state.closed = false);
    }
}

impl Run {
    /// Notes a call that begins now; it ends when what is returned is dropped.
    pub(super) fn under_way(self: &Arc<Self>) -> Result<OneCall, Dropped> {
        let mut admitted = false;
        self.under_way.0.send_modify(|state| {
            admitted = !state.closed;
            state.calls += u32::from(admitted);
        });
        if !admitted {
            // The one that closed it says why.
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
