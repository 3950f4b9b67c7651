//! `latch job events --follow` on a terminal: the live view of a job that another process executes.

use std::time::Duration;

use latchwork_core::model::job::JobState;

use crate::args::JobEventsArgs;
use crate::context::CommandContext;
use crate::error::Exit;
use crate::live::{FOLLOW_MS, Screen};
use crate::stored_job::load::{no_such_job, require_row};
use crate::text::Text;
use crate::{interrupt, open};

pub(crate) async fn run(args: &JobEventsArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let stores = open::stores_to_read(ctx.session(), &ctx.config(None)?).await?;
    let mut next = args.after.map_or(0, |seq| seq + 1);
    let mut screen: Option<Screen<'_>> = None;
    let (state, again) = loop {
        // Reads the state before the events. The events then include the event that led to the state. If the events
        // were read first, the loop could end before that event is shown.
        let state = require_row(&stores, &args.job).await?.state;
        let record = stores.journal().load(&args.job).await?.ok_or_else(|| no_such_job(&args.job))?;
        let seen = record.events.partition_point(|event| event.seq < next);
        let screen = screen.get_or_insert_with(|| Screen::new(ctx.printer, &args.job, &record.events[..seen]));
        for event in &record.events[seen..] {
            screen.event(event);
        }
        screen.draw();
        next = next.max(record.row.next_seq);
        if state.is_terminal() || matches!(state, JobState::Parked | JobState::Diverged) {
            break (state, format!("latch job show {}", args.job));
        }
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(FOLLOW_MS)) => {}
            () = interrupt::pressed_times(1) => break (state, format!("latch job events {} --follow", args.job)),
        }
    };
    drop(screen);
    let is = Text::from(format!("{} is {}; next:", args.job, state.as_str()));
    ctx.printer.print_text(is.with_command(ctx.with_project_flags(&again)));
    Ok(Exit::Done)
}
