//! Keeps the memory and the variables of this process from other processes of the same user.

use std::io;

/// Makes `/proc/PID/environ` and `/proc/PID/mem` of this process unreadable for processes without `CAP_SYS_PTRACE`, and
/// refuses debuggers of the same user. The system then writes no core dump. Programs that this process starts are not
/// affected. Outside of Linux, the function does nothing.
///
/// # Errors
/// The system refuses, for example because a sandbox forbids the call.
pub fn make_private() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    Ok(())
}
