//! `latch worker`: executes jobs until it is stopped.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;
use tokio::signal::unix::{Signal, SignalKind, signal};

use latchwork::config::Config;
use latchwork::host::Host;
use latchwork::runtime::{ChangeDetector, Pool, PoolEvent, PoolSettings, PoolTally, StopHandle, WorkerError};
use latchwork_core::model::error_docs;
use latchwork_core::model::ids::Hash;
use latchwork_core::response::ChangedPluginView;
use latchwork_core::storage::StoreError;

use crate::args::WorkerArgs;
use crate::context::CommandContext;
use crate::display::changed;
use crate::error::{CliError, Exit};
use crate::execution::messages::parked_unloaded_message;
use crate::open;
use crate::plugins::{admission, ineffective_settings};
use crate::text::Text;

pub(crate) async fn run(args: WorkerArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    open::require_project(&config)?;
    // Catches the signals before a job is claimed, so that an early signal also stops the worker safely.
    let mut asked = StopSignals::listen()?;
    let host = tokio::select! {
        host = open::host_for_worker(ctx.session(), config) => host?,
        () = asked.next() => {
            ctx.request_immediate_exit();
            ctx.printer.note("stopped before the start: no job was claimed");
            return Ok(print_tally(ctx, &args, &PoolTally::default()));
        }
    };
    admission::warn_refused_plugins(ctx, host.registry());
    for setting in ineffective_settings::warnings(host.config(), host.registry()) {
        ctx.printer.warn(setting);
    }
    let worker = host.config().worker();
    let drain = Duration::from_millis(u64::from(worker.drain_ms));
    let settings = PoolSettings {
        max_jobs: args.jobs.unwrap_or(worker.jobs),
        max_jobs_by_tenant: worker.tenants.clone(),
        until_idle: args.until_idle,
    };
    ctx.printer
        .note(format!("working, up to {} jobs at a time; SIGTERM or ctrl-c stops the worker", settings.max_jobs));
    let stop = StopHandle::default();
    let away = AtomicBool::new(false);
    let pool = Pool::new(host.worker().clone(), settings).with_change_detector(change_finder(host.config())).run(
        &stop,
        |event| {
            is_database_unreachable(&event).inspect(|is_away| away.store(*is_away, Ordering::Relaxed));
            print_event(ctx, &event);
        },
    );
    tokio::pin!(pool);
    let (tally, error) = tokio::select! {
        ended = &mut pool => ended,
        () = asked.next() => {
            ctx.printer.note("stopping: calls in flight end first; a second signal stops immediately");
            stop.stop();
            tokio::select! {
                ended = &mut pool => ended,
                () = asked.next() => return Err(aborted(ctx, &host, "stopped immediately").into()),
                () = tokio::time::sleep(drain) => return Err(aborted(ctx, &host, &unended_calls(&host, drain)).into()),
            }
        }
    };
    if away.load(Ordering::Relaxed) {
        ctx.request_immediate_exit();
    }
    if let Some(error) = error {
        ctx.printer.note(tally_line(&tally));
        return Err(error.into());
    }
    Ok(print_tally(ctx, &args, &tally))
}

/// Requests an immediate exit, even if calls are in flight. The error states the reason `why` and the held jobs.
fn aborted(ctx: &CommandContext<'_>, host: &Host, why: &str) -> CliError {
    ctx.request_immediate_exit();
    let jobs: Vec<String> = host.worker().held_jobs().iter().map(ToString::to_string).collect();
    if jobs.is_empty() {
        let message = format!("{why}, while no job was held: the next worker that claims a job continues it");
        return CliError::action_required(error_docs::WORKER_INTERRUPTED, message);
    }
    let jobs = jobs.join(", ");
    CliError::action_required(
        error_docs::WORKER_INTERRUPTED,
        format!(
            "{why} while executing {jobs}: calls in flight are in doubt, and the next worker that claims a job \
         tries to find out their outcome"
        ),
    )
}

/// Returns the message that calls did not end, or that their answers were not recorded, within the time for stopping.
fn unended_calls(host: &Host, drain: Duration) -> String {
    let within = format!("within {} ms ([worker] drain)", drain.as_millis());
    match host.worker().answers_unrecorded() {
        0 => format!("calls did not end {within}"),
        1 => format!("the answer of a call could not be recorded {within}"),
        many => format!("the answers of {many} calls could not be recorded {within}"),
    }
}

/// Returns a function that finds the plugin changes since a job was accepted. The function caches its results.
/// Unfinished jobs with the same pins share one result.
fn change_finder(config: &Config) -> ChangeDetector {
    let config = config.clone();
    let known: Mutex<BTreeMap<Hash, Vec<ChangedPluginView>>> = Mutex::default();
    Arc::new(move |durable| {
        let find = || latchwork::config_changes::changed_settings(&config, durable);
        // Does not cache the changes of a finished job. These changes also depend on the calls of the job, so another
        // job with the same pins may have different changes.
        if durable.job.state.is_terminal() {
            return find();
        }
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(latchwork::config_changes::pinned_settings_hash(durable)).or_insert_with(find).clone()
    })
}

fn print_tally(ctx: &CommandContext<'_>, args: &WorkerArgs, tally: &PoolTally) -> Exit {
    ctx.answer(&json!(tally), || tally_line(tally));
    // `failed` counts jobs that an error stopped in this worker. `plugin_missing` counts jobs whose plugin this worker
    // lacks. Without `--until-idle`, neither count changes the exit code 0, because these jobs are still open and other
    // workers continue them.
    if args.until_idle && tally.failed + tally.plugin_missing > 0 { Exit::Failed } else { Exit::Done }
}

fn tally_line(tally: &PoolTally) -> String {
    let counted: Vec<_> = tally.settled.iter().map(|(state, count)| format!("{count} {state}")).collect();
    let rested = if counted.is_empty() { "no job".to_owned() } else { counted.join(", ") };
    let PoolTally { released, plugin_missing: left, lost, failed, .. } = tally;
    format!(
        "{rested}; {released} released, {left} left to other workers, {lost} taken over by other workers, {failed} failed"
    )
}

/// Returns true if the event shows that the database is unreachable. Returns false if the event shows that the database
/// is reachable. Returns `None` for any other event.
fn is_database_unreachable(event: &PoolEvent) -> Option<bool> {
    match event {
        PoolEvent::Unavailable(_) | PoolEvent::Failed(_, WorkerError::Store(StoreError::Unavailable(_))) => Some(true),
        PoolEvent::Available | PoolEvent::Settled(_) | PoolEvent::ParkedUnloaded(..) | PoolEvent::Released(_) => {
            Some(false)
        }
        _ => None,
    }
}

/// Signals that stop a worker.
struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    fn listen() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("the signal handler cannot be installed");
        Ok(Self { terminate: listen(SignalKind::terminate())?, interrupt: listen(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

fn print_event(ctx: &CommandContext<'_>, event: &PoolEvent) {
    let printer = ctx.printer;
    match event {
        PoolEvent::Claimed(job_id, attempt, changed) => {
            match attempt {
                1 => printer.note_of(job_id, format!("{job_id} begins")),
                _ => printer.note_of(job_id, format!("{job_id} continues, attempt {attempt}")),
            }
            for line in changed::open_job_lines(changed) {
                printer.note_of(job_id, format!("{job_id}: {line}"));
            }
        }
        PoolEvent::Settled(response) => {
            let why = response.reason_code.map(|code| format!(", {code}")).unwrap_or_default();
            let is = format!("{} is {}{why}", response.job_id, response.state.as_str());
            let message = match response.next_actions.first() {
                Some(next) => Text::from(is + "; next:").with_command(ctx.with_project_flags(next)),
                None => is.into(),
            };
            printer.note_of(&response.job_id, message);
        }
        PoolEvent::ParkedUnloaded(job_id, cause) => printer.warn_of(job_id, parked_unloaded_message(ctx, job_id, cause)),
        PoolEvent::Released(job_id) => printer.note_of(job_id, format!("{job_id} is released")),
        PoolEvent::LeaseLost(job_id) => printer.note_of(job_id, format!("{job_id} belongs to another worker now")),
        PoolEvent::Failed(job_id, error) => {
            printer.warn_of(job_id, format!("{job_id} stops here: {error}; it is claimed again when its lease expires"));
        }
        PoolEvent::NotLoaded(job_id, error) => {
            printer.warn_of(job_id, format!("{job_id} is released: {error}; jobs are claimed again within a minute"));
        }
        PoolEvent::Quarantined(job_id, _, false) => printer.note_of(job_id, format!("{job_id} is skipped again")),
        PoolEvent::Quarantined(job_id, error @ WorkerError::PluginMissing { .. }, true) => printer.warn_of(job_id, format!(
            "{job_id} is left to workers that have its plugin: {error}; configure the plugin here, or run a worker that \
             has it. This worker tries again after 30 s, then at growing intervals"
        )),
        PoolEvent::Quarantined(job_id, error, true) => {
            let code = CliError::from(error).code;
            printer.warn_of(job_id, format!(
                "{job_id} is skipped: {error}; `latch explain {code}` says what to do. It is tried again after 30 s, \
                 then at growing intervals"
            ));
        }
        PoolEvent::Unavailable(error) => printer.warn(format!("{error}; waiting until the database is available")),
        PoolEvent::Available => printer.note("the database is available again"),
    }
}
