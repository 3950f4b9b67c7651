//! Reports differences between the plugins that a job has pinned and the configured plugins.

use std::path::Path;

use latchwork::config::Config;
use latchwork::config_changes;
use latchwork_core::encoding::truncate;
use latchwork_core::response::{ChangedPluginView, PluginSetting, Response};
use latchwork_core::state::Durable;

use crate::context::CommandContext;
use crate::text::Tone;

/// Adds to the response the plugin settings that have changed since the job was accepted.
///
/// `plan` is the submitted file, if known. If a setting has changed and the job is finished, also adds a next action
/// that runs `plan` again with `--new`.
pub(crate) fn with_changes(config: &Config, durable: &Durable, response: Response, plan: Option<&Path>) -> Response {
    let changed = tokio::task::block_in_place(|| config_changes::changed_settings(config, durable));
    let over = response.state.is_terminal();
    let mut next_actions = response.next_actions.clone();
    if over && let Some(plan) = plan.filter(|_| !changed.is_empty()) {
        let plan = latchwork_core::response::shell_quoted(&plan.display().to_string());
        next_actions.push(format!("latch run {plan} --new"));
    }
    // Removes the next action `latch resume`, because a job with a missing plugin cannot continue here.
    if !over && changed.iter().any(|view| view.setting == PluginSetting::Plugin) {
        next_actions.retain(|action| !action.starts_with("latch resume "));
    }
    Response { changed, next_actions, ..response }
}

/// Returns one line for each plugin setting that changed since the open job was accepted.
pub(crate) fn open_job_lines(changed: &[ChangedPluginView]) -> impl Iterator<Item = String> {
    changed.iter().map(|view| change_line(view, false))
}

/// Prints the plugin settings that changed since the job was accepted, for commands that record a decision about the
/// job.
pub(crate) fn print_changes(ctx: &CommandContext<'_>, config: &Config, durable: &Durable) {
    let changed = tokio::task::block_in_place(|| config_changes::changed_settings(config, durable));
    let over = durable.job.state.is_terminal();
    for view in &changed {
        ctx.printer.note_of(&durable.job.header.job_id, Tone::Attention.of(change_line(view, over)));
    }
}

/// Returns one line for each changed plugin setting in the response.
pub(crate) fn change_lines(response: &Response) -> Vec<String> {
    let over = response.state.is_terminal();
    response.changed.iter().map(|view| change_line(view, over)).collect()
}

fn change_line(view: &ChangedPluginView, over: bool) -> String {
    let ChangedPluginView { plugin, setting, pinned, configured } = view;
    let (then, now) = (short_digest(pinned), short_digest(configured));
    let goes_on = if over { "`--new` runs the new one" } else { "this job keeps the pinned one" };
    match setting {
        PluginSetting::Plugin if over => format!("{plugin} is no longer configured"),
        PluginSetting::Plugin => {
            format!(
                "{plugin} is no longer configured, and the job cannot call it: restore its [[plugin]] in latch.toml"
            )
        }
        PluginSetting::Component => {
            format!("{plugin} has changed since: {then} is pinned, {now} is configured; {goes_on}")
        }
        PluginSetting::Limits => {
            format!("{plugin} has different limits now: {then} is pinned, {now} is configured; {goes_on}")
        }
        PluginSetting::Wasi => {
            format!("{plugin} has a different wasi mode now: {then} is pinned, {now} is configured; {goes_on}")
        }
        PluginSetting::Grants if over => format!("{plugin} has different grants or settings now; `--new` uses them"),
        PluginSetting::Grants => format!("{plugin} has different grants or settings now; this job uses them"),
    }
}

/// Shortens a digest to 12 hexadecimal digits. Other texts are returned unchanged.
fn short_digest(text: &Option<String>) -> String {
    let text = text.as_deref().unwrap_or_default();
    match text.strip_prefix("sha256:") {
        Some(hex) => format!("sha256:{}", truncate::at_characters(hex, 12)),
        None => text.to_owned(),
    }
}
