//! Check at the beginning of each host call of a tool.

use crate::capability::call_window::CallWindow;
use crate::guest::fault::HostFault;
use crate::guest::limits::Guard;

/// Counts the host calls of a tool and checks the deadline of its call.
pub(crate) struct HostCallGate<'a> {
    pub(crate) guard: &'a mut Guard,
    pub(crate) window: &'a CallWindow,
}

impl HostCallGate<'_> {
    /// Counts the host call and checks the deadline. Every function of the host's own interfaces begins with this
    /// check.
    pub(crate) fn pass(&mut self) -> Result<(), HostFault> {
        self.guard.count_host_call()?;
        self.window.check()
    }
}
