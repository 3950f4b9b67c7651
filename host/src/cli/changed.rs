//! Reports differences between the plugins that a job has pinned and the configured ones.

use std::path::Path;

use latchwork_core::response::{ChangedView, Response, Setting};
use latchwork_core::state::Durable;

use super::context::Context;
use super::output::Tone;
use crate::changed;
use crate::config::Config;

/// Adds the plugin changes since the job was accepted to the response.
///
/// `plan` is the submitted file, if known. A finished job then gets a next action that runs this file again
/// with `--new`.
pub(super) fn noted(config: &Config, durable: &Durable, response: Response, plan: Option<&Path>) -> Response {
    let changed = tokio::task::block_in_place(|| changed::since(config, durable));
    let over = response.state.is_terminal();
    let mut next_actions = response.next_actions.clone();
    if over && let Some(plan) = plan.filter(|_| !changed.is_empty()) {
        let plan = latchwork_core::response::quoted(&plan.display().to_string());
        next_actions.push(format!("latch run {plan} --new"));
    }
    // A job whose plugin is missing cannot continue here, so `latch resume` is not offered.
    if !over && changed.iter().any(|view| view.setting == Setting::Plugin) {
        next_actions.retain(|action| !action.starts_with("latch resume "));
    }
    Response { changed, next_actions, ..response }
}

/// Returns one line for each change since an open job was accepted.
pub(super) fn of_open(changed: &[ChangedView]) -> impl Iterator<Item = String> {
    changed.iter().map(|view| line(view, false))
}

/// Prints the changes since the job was accepted. Used by commands that record a decision about the job.
pub(super) fn tell(ctx: &Context<'_>, config: &Config, durable: &Durable) {
    let changed = tokio::task::block_in_place(|| changed::since(config, durable));
    let over = durable.job.state.is_terminal();
    for view in &changed {
        ctx.printer.note_of(&durable.job.header.job_id, Tone::Attention.of(line(view, over)));
    }
}

/// Returns one line for each change.
pub(super) fn lines(response: &Response) -> Vec<String> {
    let over = response.state.is_terminal();
    response.changed.iter().map(|view| line(view, over)).collect()
}

fn line(view: &ChangedView, over: bool) -> String {
    let ChangedView { plugin, setting, pinned, configured } = view;
    let (then, now) = (short(pinned), short(configured));
    let goes_on = if over { "`--new` runs the new one" } else { "this job keeps the pinned one" };
    match setting {
        Setting::Plugin if over => format!("{plugin} is no longer configured"),
        Setting::Plugin => {
            format!(
                "{plugin} is no longer configured, and the job cannot call it: restore its [[plugin]] in latch.toml"
            )
        }
        Setting::Component => {
            format!("{plugin} has changed since: {then} is pinned, {now} is configured; {goes_on}")
        }
        Setting::Limits => {
            format!("{plugin} has different limits now: {then} is pinned, {now} is configured; {goes_on}")
        }
        Setting::Wasi => {
            format!("{plugin} has a different wasi mode now: {then} is pinned, {now} is configured; {goes_on}")
        }
        Setting::Grants if over => format!("{plugin} has different grants or settings now; `--new` uses them"),
        Setting::Grants => format!("{plugin} has different grants or settings now; this job uses them"),
    }
}

/// Shortens a digest to 12 hexadecimal digits. Other texts are returned unchanged.
fn short(text: &Option<String>) -> String {
    let text = text.as_deref().unwrap_or_default();
    match text.strip_prefix("sha256:") {
        Some(hex) => format!("sha256:{}…", &hex[..hex.floor_char_boundary(12)]),
        None => text.to_owned(),
    }
}
