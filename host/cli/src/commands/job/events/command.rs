//! `latch job events`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use latchwork_core::encoding::truncate;
use latchwork_core::event::{Body, Event};
use latchwork_core::model::effect::UnusableAnswer;
use latchwork_core::model::error::Code;
use latchwork_core::model::ids::{JobId, Slot};
use latchwork_core::model::job::JobState;
use latchwork_core::model::keys;
use latchwork_core::response::one_line;
use latchwork_core::state::label;
use latchwork_core::storage::Payload;
use latchwork_engine::os;

use crate::args::JobEventsArgs;
use crate::commands::job::events::follow;
use crate::context::CommandContext;
use crate::display::brief::offset;
use crate::display::event_text::{EventText, Operators, event_text};
use crate::error::Exit;
use crate::live::FOLLOW_MS;
use crate::open;
use crate::stored_job::load::{no_such_job, require_row};
use crate::text::{Text, visible};

pub(crate) async fn run(args: JobEventsArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    if args.follow && ctx.printer.redraws() && ctx.printer.is_stdout_terminal() {
        return follow::run(&args, ctx).await;
    }
    let stores = open::stores_to_read(ctx.session(), &ctx.config(None)?).await?;
    let mut next = args.after.map_or(0, |seq| seq + 1);
    let mut all = Vec::new();
    let mut has_head = false;
    loop {
        // Reads the state before the events. The events then include the event that led to the state. If the events
        // were read first, the loop could end without printing that event.
        let state = require_row(&stores, &args.job).await?.state;
        let record = stores.journal().load(&args.job).await?.ok_or_else(|| no_such_job(&args.job))?;
        let mut displayed = Vec::new();
        for event in record.events.iter().filter(|event| event.seq >= next) {
            match (ctx.json, args.follow) {
                (true, true) => ctx.printer.line(&document(&args.job, event)),
                (true, false) => all.push(document(&args.job, event)),
                (false, _) => displayed.push(event),
            }
        }
        if !displayed.is_empty() {
            let lines = EventLines::new(&args.job, &record.events, &record.payloads);
            if !std::mem::replace(&mut has_head, true) {
                ctx.printer.print_text(lines.head());
            }
            let width = ctx.printer.width();
            for event in displayed {
                match lines.line(event, width) {
                    (line, true) => ctx.printer.print_text(line),
                    (line, false) => ctx.printer.print_truncated(line),
                }
            }
        }
        next = next.max(record.row.next_seq);
        let rests = state.is_terminal() || matches!(state, JobState::Parked | JobState::Diverged);
        if !args.follow || rests {
            break;
        }
        tokio::time::sleep(Duration::from_millis(FOLLOW_MS)).await;
    }
    if ctx.json && !args.follow {
        ctx.printer.document(&json!({ "job_id": args.job, "events": all }));
    }
    Ok(Exit::Done)
}

/// Returns the recorded event as JSON. Adds the derived event id to an event that a step emitted.
fn recorded_event(job: &JobId, event: &Event) -> Value {
    let mut value: Value = serde_json::from_slice(&event.bytes).expect("an event is JSON");
    if let Body::AsyncEventEmitted { step_id, n, .. } = &event.body {
        value["event_id"] = json!(keys::event_id(job, step_id, *n));
    }
    value
}

fn document(job: &JobId, event: &Event) -> Value {
    let mut value = recorded_event(job, event);
    value["hash"] = json!(event.hash);
    value["prev_hash"] = json!(event.prev_hash);
    value
}

/// Formats the events of a job as lines for people.
struct EventLines<'j> {
    job: &'j JobId,
    operators: Operators,
    /// Failures that put calls in doubt. Each key is the sequence number of the event that parks the job because of
    /// such a call.
    failures: BTreeMap<u64, String>,
    /// Time at which the job was accepted. The lines show times relative to this time.
    since_us: i64,
    /// Width of the slot column.
    slots: usize,
    /// Width of the operator column.
    names: usize,
}

impl<'j> EventLines<'j> {
    fn new(job: &'j JobId, events: &[Event], payloads: &[Payload]) -> EventLines<'j> {
        let mut operators = Operators::default();
        events.iter().for_each(|event| operators.record_event(event));
        let slots = events.iter().filter_map(|event| event_text(job, event, "").slot).collect::<Vec<_>>();
        let widest = |texts: &mut dyn Iterator<Item = &str>| texts.map(|text| text.chars().count()).max().unwrap_or(0);
        EventLines {
            job,
            since_us: events.first().map_or(0, |event| event.time_us),
            slots: widest(&mut slots.iter().map(Slot::as_str)),
            names: widest(&mut slots.iter().filter_map(|slot| operators.at(slot))),
            operators,
            failures: doubt_reasons(events, payloads),
        }
    }

    fn head(&self) -> Text {
        let since = humantime::format_rfc3339_seconds(os::clock::system_time(self.since_us));
        format!("{}, accepted {since}", self.job).into()
    }

    /// Formats one event. Returns the line, and true if the line must be wrapped instead of cut.
    ///
    /// On a terminal of `width` columns, the slot column and the operator column each take at most a quarter of the
    /// width. If the text has too little space, operators are left out first, then times. Wrapping is the last resort.
    fn line(&self, event: &Event, width: Option<usize>) -> (Text, bool) {
        let EventText { tone, slot, text, .. } = event_text(self.job, event, "");
        let text = match self.failures.get(&event.seq) {
            Some(failure) => format!("{text}: {failure}"),
            None => text,
        };
        let operator = slot.as_ref().and_then(|slot| self.operators.at(slot)).unwrap_or_default();
        let slot = slot.as_ref().map_or("", |slot| slot.as_str());
        let most = width.map_or(usize::MAX, |width| width / 4);
        let (slots, names) = (self.slots.min(most), self.names.min(most));
        let slot = shortened(&visible(slot), slots);
        let time = offset(event.time_us - self.since_us);
        let head = format!("{:>4} {time:>9}  {slot:slots$}  ", event.seq);
        let leaves = |head: &str, least: usize| width.is_none_or(|width| width >= head.chars().count() + least);
        if names > 0 && leaves(&head, names + GAP + TEXT_BESIDE_OPERATORS) {
            let column = format!("{:names$}  ", shortened(&visible(operator), names));
            return (Text::from(head + &column) + tone.of(text), false);
        }
        if leaves(&head, TEXT_LEAST) {
            return (Text::from(head) + tone.of(text), false);
        }
        let head = format!("{:>4}  {slot:slots$}  ", event.seq);
        if leaves(&head, TEXT_LEAST) {
            return (Text::from(head) + tone.of(text), false);
        }
        let head = if slot.is_empty() { format!("{}  ", event.seq) } else { format!("{}  {slot}  ", event.seq) };
        (Text::from(head) + tone.of(text), true)
    }
}

/// Returns the failures that put calls in doubt. Each key is the sequence number of the event that parks the job
/// because of such a call.
fn doubt_reasons(events: &[Event], payloads: &[Payload]) -> BTreeMap<u64, String> {
    let mut tries: BTreeMap<&Slot, u32> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for event in events {
        match &event.body {
            Body::ToolInvocationStarted { slot, try_no, .. } => drop(tries.insert(slot, *try_no)),
            Body::JobParked { reason: Code::IndeterminateEffect, slot: Some(slot), .. } => {
                found.extend(why_in_doubt(slot, &tries, payloads).map(|why| (event.seq, why)));
            }
            _ => {}
        }
    }
    found
}

/// Returns the failure that put a call in doubt. The failure is stored together with the unusable answer of the call's
/// last try.
fn why_in_doubt(slot: &Slot, tries: &BTreeMap<&Slot, u32>, payloads: &[Payload]) -> Option<String> {
    let label = label::unusable_answer(slot, *tries.get(slot)?);
    let payload = payloads.iter().find(|payload| payload.label == label)?;
    Some(one_line(&UnusableAnswer::parse(&payload.bytes)?.failure))
}

/// Minimum number of columns for the text beside an operator.
const TEXT_BESIDE_OPERATORS: usize = 30;
/// Minimum number of columns for the text. A line with less space for its text is wrapped.
const TEXT_LEAST: usize = 20;
/// Blanks between columns.
const GAP: usize = 2;

/// Cuts a text to at most `columns` characters, including the ellipsis that marks the cut.
fn shortened(text: &str, columns: usize) -> String {
    match text.chars().count() > columns {
        true => truncate::at_characters(text, columns.saturating_sub(1)).to_string(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use latchwork_core::model::error::Failure;
    use latchwork_core::model::ids::{Hash, StepId};

    use super::*;
    use crate::text::TextTarget;

    fn event(seq: u64, body: Body) -> Event {
        Event::seal(seq, 1_000_000, 1, body, Hash::default())
    }

    #[test]
    fn narrow_event_lines_keep_the_text() {
        let job = JobId::new("job_1");
        let events = [event(16, Body::StepStarted { step_id: StepId::new("a_very_long_name_of_a_step") })];
        let lines = EventLines::new(&job, &events, &[]);
        let rendered = |width| {
            let (line, wraps) = lines.line(&events[0], Some(width));
            let lines = match wraps {
                true => line.render(TextTarget { color: false, width: Some(width) }),
                false => line.truncate(false, width).join("\n"),
            };
            (lines.trim_end().to_owned(), wraps)
        };
        for width in 20..120 {
            assert!(rendered(width).0.contains("started"), "{width}: {:?}", rendered(width));
        }
        assert!(rendered(20).1 && !rendered(40).1);
        assert!(!rendered(40).0.contains("+0.000s") && rendered(60).0.contains("+0.000s"));
    }

    #[test]
    fn call_in_doubt_shows_its_failure() {
        let slot = Slot::new("a");
        let parked = Body::JobParked { reason: Code::IndeterminateEffect, slot: Some(slot.clone()), cause: None };
        let events = [event(3, parked)];
        let failure = Failure::new(Code::PluginTrap, "it threw\n  at send (tool.js:3)");
        let bytes = UnusableAnswer { failure, kept: None }.to_bytes();
        let payload = Payload { label: label::unusable_answer(&slot, 1), bytes };
        assert!(doubt_reasons(&events, std::slice::from_ref(&payload)).is_empty(), "no try was made");
        let tried = BTreeMap::from([(&slot, 1)]);
        assert_eq!(why_in_doubt(&slot, &tried, &[payload]).as_deref(), Some("PLUGIN_TRAP: it threw"));
    }
}
