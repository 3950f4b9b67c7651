//! Crash points of a command. A program with the feature `crash-points` reads the crash point of a test from the
//! environment. A released program lacks this feature and never stops at a crash point.

use std::sync::Arc;

use latchwork_store::{NoProbe, Probe};

use latchwork::runtime::{CrashPoint, NoCrash};

/// Hooks that are called at the crash points.
pub(crate) struct CrashPoints {
    /// Hook before and after each statement of the store.
    pub(crate) statements: Arc<dyn Probe>,
    /// Hook before and after each execution of a call.
    pub(crate) executions: Arc<dyn CrashPoint>,
}

impl CrashPoints {
    /// Returns the hooks for the crash point in the environment. The hooks do nothing if the environment names no crash
    /// point, or in a released program.
    ///
    /// # Errors
    /// Returns an error if the crash point in the environment has an invalid form.
    pub(crate) fn from_env() -> anyhow::Result<Self> {
        #[cfg(feature = "crash-points")]
        if let Some(kill) = kill::from_env()? {
            let kill = Arc::new(kill);
            return Ok(Self { executions: Arc::new(kill::AtExecution(kill.clone())), statements: kill });
        }
        Ok(Self { statements: Arc::new(NoProbe), executions: Arc::new(NoCrash) })
    }
}

#[cfg(feature = "crash-points")]
mod kill {
    use std::sync::Arc;

    use latchwork_store::{KillAt, Probe as _, Side};

    use latchwork::runtime::CrashPoint;

    /// Environment variable with the crash point of a test: `name:before` or `name:after`, optionally `:n` for
    /// the n-th time.
    const CRASH_VARIABLE: &str = "LATCH_CRASH_AT";
    /// Environment variable with a crash point at which the process is suspended instead of killed.
    const STOP_VARIABLE: &str = "LATCH_STOP_AT";

    pub(super) fn from_env() -> anyhow::Result<Option<KillAt>> {
        let named = |variable: &str| std::env::var(variable).ok().map(|text| parse(variable, &text)).transpose();
        let kill = named(CRASH_VARIABLE)?;
        let stop = named(STOP_VARIABLE)?.map(KillAt::suspending);
        Ok(kill.or(stop))
    }

    fn parse(variable: &str, text: &str) -> anyhow::Result<KillAt> {
        let mut parts = text.split(':');
        let (name, side, nth) = match (parts.next(), parts.next(), parts.next().map(str::parse), parts.next()) {
            (Some(name), Some("before"), nth, None) if !matches!(nth, Some(Err(_))) => (name, Side::Before, nth),
            (Some(name), Some("after"), nth, None) if !matches!(nth, Some(Err(_))) => (name, Side::After, nth),
            _ => anyhow::bail!("{variable}={text}: write NAME:before or NAME:after, optionally followed by :N"),
        };
        Ok(KillAt::new(name, side, nth.and_then(Result::ok).unwrap_or(1)))
    }

    /// Crash points before and after an execution, in addition to the crash points of the store's statements.
    pub(super) struct AtExecution(pub(super) Arc<KillAt>);

    impl CrashPoint for AtExecution {
        fn at(&self, name: &'static str, after: bool) {
            self.0.at(name, if after { Side::After } else { Side::Before });
        }
    }
}
