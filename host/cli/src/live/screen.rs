//! Output of the live view: redrawn in place on a terminal, plain lines elsewhere.

use std::time::Duration;

use latchwork_core::event::Event;
use latchwork_core::model::ids::JobId;

use crate::interrupt;
use crate::live::line::LiveLine;
use crate::live::observer::LiveItem;
use crate::live::view::JobProgressView;
use crate::output::{Area, Printer};
use crate::text::Text;

/// Interval between two redraws, for elapsed times and countdowns.
const REDRAW: Duration = Duration::from_millis(200);

/// Display of one job. Dropping the value ends the display.
pub(crate) struct Screen<'p> {
    printer: &'p Printer,
    view: JobProgressView,
    area: Option<Area>,
    next: tokio::time::Interval,
}

impl<'p> Screen<'p> {
    /// Creates the screen of a job that another process executes. `past` holds the events before the view
    /// began.
    pub(crate) fn new(printer: &'p Printer, job_id: &JobId, past: &[Event]) -> Self {
        Self::of(printer, JobProgressView::new(job_id, printer.now_us(), None), past)
    }

    /// Creates the screen of a job that this command executes. The elapsed time continues from an earlier screen of
    /// this command.
    pub(crate) fn for_own_job(printer: &'p Printer, job_id: &JobId, past: &[Event]) -> Self {
        Self::of(printer, JobProgressView::new(job_id, printer.now_us(), Some(printer.started_us())), past)
    }

    fn of(printer: &'p Printer, mut view: JobProgressView, past: &[Event]) -> Self {
        // Ctrl-c must stop the command safely as soon as the screen exists. Without the listener, ctrl-c would kill the
        // process.
        interrupt::listen();
        for event in past {
            view.apply_past(event);
        }
        let area = printer.redraws().then(Area::begin);
        let mut next = tokio::time::interval(REDRAW);
        next.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let screen = Self { printer, view, area, next };
        screen.draw();
        screen
    }

    /// Shows one item.
    pub(crate) fn show(&mut self, seen: &LiveItem) {
        let now_us = self.printer.now_us();
        let lines = match seen {
            LiveItem::Event(event) => self.view.event(event, now_us),
            LiveItem::Call(slot, operator) => self.view.call(slot, operator, now_us),
            LiveItem::Log(place, level, message) => self.view.log(place, *level, message),
        };
        self.print(&lines);
        self.draw();
    }

    /// Shows an event that another process appended.
    pub(crate) fn event(&mut self, event: &Event) {
        let lines = self.view.event(event, self.printer.now_us());
        self.print(&lines);
        self.draw();
    }

    /// Completes when the next redraw is due. Never completes if nothing is redrawn.
    pub(crate) async fn tick(&mut self) {
        match self.area {
            Some(_) => drop(self.next.tick().await),
            None => std::future::pending().await,
        }
    }

    /// Redraws the current activity and its elapsed times.
    pub(crate) fn draw(&self) {
        let (Some(area), Some((rows, columns))) = (&self.area, self.printer.stderr_size()) else { return };
        let text = Text::lines(self.view.activity_lines(self.printer.now_us(), rows.saturating_sub(2).max(1)));
        // Keeps the last column free, because some terminals wrap a line as soon as this column is written.
        area.show(text.truncate(self.printer.colors_stderr(), columns.saturating_sub(1)));
    }

    /// Prints lines that stay on the screen. Leaves out lines marked `is_ephemeral` if the redrawn area shows the same
    /// facts.
    fn print(&self, lines: &[LiveLine]) {
        for line in lines.iter().filter(|line| self.area.is_none() || !line.is_ephemeral) {
            self.printer.job_line(line.level, self.view.job_id(), line.text.clone());
        }
    }
}
