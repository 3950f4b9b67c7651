//! `latch bench --server`: measures worker processes that share one PostgreSQL database.
//!
//! The results are compared with the limits of the server, measured by pgbench.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;

use latchwork::builder::Stores;
use latchwork::config::{Config, DATABASE_VARIABLE};
use latchwork_core::model::error_docs;
use latchwork_store::{Database, DatabaseTarget, NoProbe};

use crate::args::BenchArgs;
use crate::bench::{BenchTransaction, SharedMeasurement, Workload, pgbench, transactions_per_second};
use crate::context::CommandContext;
use crate::error::{CliError, Exit};
use crate::text::{Tone, table};
use crate::{bench, open};

/// Numbers of pgbench clients: one, and the number with the highest throughput on a small server.
const CLIENTS: [u32; 2] = [1, 8];
/// Maximum number of output lines that are shown if a worker failed.
const LAST_LINES: usize = 10;

pub(crate) async fn run(
    args: &BenchArgs,
    url: &str,
    (config, file): (Config, &Path),
    wanted: Vec<Workload>,
    ctx: &CommandContext<'_>,
) -> anyhow::Result<Exit> {
    let scratch = tempfile::tempdir()?;
    if !matches!(open::target(url), Ok(DatabaseTarget::Server(_))) {
        let message = "--server: name a database of a PostgreSQL server, `postgres://user@host/database`";
        return Err(CliError::input(error_docs::USAGE, message).into());
    }
    let config = config.with_database(url);
    let options = open::options(&config, url, Arc::new(NoProbe))?;
    let owner = ctx.session().owner(&options.owner_dir)?;
    let store = Database::open(options).await?;
    let stores = Stores::new(store.clone(), owner);
    let builder = ctx.session().host_builder(stores).config(config);
    let host = builder.start().map_err(anyhow::Error::from)?;
    let Some(mut number) = bench::jobs_before(&host).await? else {
        let message = "--server: the database contains other jobs: create a separate database for the benchmark";
        return Err(CliError::input(error_docs::USAGE, message).into());
    };
    let limits = measure_server(args, url, scratch.path(), ctx)?;
    let mut rows: Vec<SharedMeasurement> = Vec::new();
    for workload in wanted {
        for workers in &args.workers {
            ctx.printer.note(format!("measuring {}, {workers} workers", workload.name()));
            let ids = bench::enqueue_jobs(&host, workload, number, args.queue).await?;
            number += u64::from(args.queue);
            run_workers(*workers, url, file, scratch.path())?;
            rows.push(bench::measure_completed(&host, workload, *workers, &ids).await?);
        }
    }
    let about = store.about_server();
    store.close().await;
    show(ctx, &rows, limits, &about);
    if ctx.json {
        let row = |row: &SharedMeasurement| {
            let mut value = serde_json::to_value(row).expect("figures are plain data");
            value["of_five_rows"] = json!(limits.map(|limits| row.per_second / limits.five_rows[1]));
            value
        };
        ctx.printer.document(&json!({
            "release": !cfg!(debug_assertions),
            "server": about,
            "pgbench": limits.map(|limits| json!({ "one_row": limits.one_row, "five_rows": limits.five_rows })),
            "workers": rows.iter().map(row).collect::<Vec<_>>(),
        }));
    }
    Ok(Exit::Done)
}

/// Transactions per second of the server, one value for each entry of [`CLIENTS`].
#[derive(Clone, Copy)]
struct ServerLimits {
    one_row: [f64; 2],
    five_rows: [f64; 2],
}

fn measure_server(
    args: &BenchArgs,
    url: &str,
    folder: &Path,
    ctx: &CommandContext<'_>,
) -> anyhow::Result<Option<ServerLimits>> {
    let Some(program) = pgbench() else {
        ctx.printer
            .warn("pgbench is not installed (it is part of PostgreSQL): the limits of the server are not measured");
        return Ok(None);
    };
    ctx.printer.note("measuring the server with pgbench");
    let time = Duration::from_secs_f64(args.seconds);
    let mut limits = ServerLimits { one_row: [0.0; 2], five_rows: [0.0; 2] };
    for (at, clients) in CLIENTS.into_iter().enumerate() {
        let rate = |what| transactions_per_second(&program, url, what, clients, time, folder);
        (limits.one_row[at], limits.five_rows[at]) =
            (rate(BenchTransaction::OneRow)?, rate(BenchTransaction::FiveRows)?);
    }
    Ok(Some(limits))
}

/// Starts `workers` worker processes and waits until no job is left.
fn run_workers(workers: u32, url: &str, config: &Path, folder: &Path) -> anyhow::Result<()> {
    let program = std::env::current_exe().context("this program's file cannot be found")?;
    let worker = || {
        let mut command = Command::new(&program);
        command.args(["worker", "--until-idle", "--config"]).arg(config).env(DATABASE_VARIABLE, url);
        command
    };
    run_concurrently((0..workers).map(|_| worker()), folder)
}

/// Runs the commands concurrently and waits for all of them.
///
/// Each command writes its output to a file, not to a pipe. With pipes, a process whose pipe is full would block while
/// this function waits for another process.
fn run_concurrently(commands: impl Iterator<Item = Command>, folder: &Path) -> anyhow::Result<()> {
    let mut children = Vec::new();
    for (number, mut command) in commands.enumerate() {
        let output = folder.join(format!("worker-{number}"));
        let file = File::create(&output).context("the output file of a worker cannot be created")?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
        children.push((command.spawn().context("a worker cannot be started")?, output));
    }
    for (mut child, output) in children {
        let status = child.wait().context("a worker cannot be waited for")?;
        let output = std::fs::read(output).unwrap_or_default();
        let output = String::from_utf8_lossy(&output);
        anyhow::ensure!(status.success(), "a worker failed ({status}): {}", last_lines(&output));
    }
    Ok(())
}

/// Returns the last lines of a worker's output. A failed worker prints its error last, after one line for each job.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
}

fn show(ctx: &CommandContext<'_>, rows: &[SharedMeasurement], limits: Option<ServerLimits>, about: &str) {
    ctx.printer.print_text(Tone::Title.of(format!("workers ({about})")));
    if let Some(ServerLimits { one_row, five_rows }) = limits {
        for (what, rates) in [("one row", one_row), ("five rows, pipelined", five_rows)] {
            let [one, many] = rates;
            ctx.printer.print_text(format!(
                "  pgbench, {what:<22} {one:>8.0} /s alone {many:>8.0} /s by {} clients",
                CLIENTS[1]
            ));
        }
    }
    let cells: Vec<[String; 5]> = rows
        .iter()
        .map(|row| {
            let of = limits.map(|limits| format!("{:.2}", row.per_second / limits.five_rows[1]));
            let (workers, jobs) = (row.workers.to_string(), row.jobs.to_string());
            let rate = format!("{:.0} {}", row.per_second, row.unit);
            [row.workload.to_owned(), workers, jobs, rate, of.unwrap_or_else(|| "-".to_owned())]
        })
        .collect();
    ctx.printer.print_text(table(["workload", "workers", "jobs", "a second", "of five rows"], &cells).indented(2));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(folder: &Path, script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(folder);
        command
    }

    /// The first process waits for a file that the second process creates. Before that, the second process writes more
    /// output than a pipe can hold. Both processes must end.
    #[test]
    fn large_output_of_one_worker_does_not_block_the_others() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path();
        let waits = "n=0; until [ -e done ] || [ $n = 200 ]; do sleep 0.05; n=$((n + 1)); done; [ -e done ]";
        let speaks = "head -c 1000000 /dev/zero >&2; touch done";
        let ended = run_concurrently([waits, speaks].into_iter().map(|script| shell(folder, script)), folder);
        ended.expect("both end well");
    }

    #[test]
    fn output_of_a_failed_worker_is_reported() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path();
        let fails = "for n in $(seq 1 1000); do echo job $n >&2; done; echo 'error: no such thing' >&2; exit 2";
        let error = run_concurrently(["exit 0", fails].into_iter().map(|script| shell(folder, script)), folder);
        let error = error.expect_err("one fails").to_string();
        assert!(error.contains("exit status: 2") && error.ends_with("error: no such thing"), "{error}");
        assert_eq!(error.lines().count(), LAST_LINES, "{error}");
    }
}
