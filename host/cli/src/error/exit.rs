//! Exit status of a command.

use std::process::ExitCode;

/// Exit status of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: the command succeeded.
    Done,
    /// 1: the command, the job or the check failed.
    Failed,
    /// 2: usage, configuration or input is wrong; nothing was started.
    Usage,
    /// 3: the command or the job stopped safely, and a person has to act.
    ActionRequired,
}

impl Exit {
    /// Returns the exit code for the shell.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::ActionRequired => 3,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
