//! Prints each phase of a check before the phase starts, and the durations of a long check at its end.

use crate::context::CommandContext;

/// Start time of each phase of a check.
pub(crate) struct Phases<'c> {
    ctx: &'c CommandContext<'c>,
    began: std::sync::Mutex<Vec<(String, u64)>>,
}

impl<'c> Phases<'c> {
    pub(super) fn new(ctx: &'c CommandContext<'c>) -> Self {
        Self { ctx, began: std::sync::Mutex::new(vec![("building it".to_owned(), ctx.session().machine().boot_us())]) }
    }

    /// Prints the phase before it starts.
    pub(super) fn begin(&self, what: &str) {
        self.ctx.printer.note(what);
        self.began.lock().expect("no holder panics").push((what.to_owned(), self.ctx.session().machine().boot_us()));
    }

    /// Prints the duration of each phase if the whole check took long.
    pub(super) fn end(self) {
        let mut began = self.began.into_inner().expect("no holder panics");
        began.push((String::new(), self.ctx.session().machine().boot_us()));
        let took = |from: &(String, u64), to: &(String, u64)| to.1.saturating_sub(from.1) / 1_000;
        if took(&began[0], &began[began.len() - 1]) < LONG_MS {
            return;
        }
        for pair in began.windows(2) {
            let ms = took(&pair[0], &pair[1]);
            self.ctx.printer.note(format!("{:>7.1} s {}", ms as f64 / 1_000.0, pair[0].0));
        }
    }
}

/// Minimum duration of a check, in milliseconds, at which the duration of each phase is printed.
const LONG_MS: u64 = 20_000;
