//! `latch bench`: measures durable calls per second and compares them with the limits of this machine.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;

use latchwork::builder::Stores;
use latchwork::config::{Config, DATABASE_VARIABLE, LoadOptions};
use latchwork_core::model::error_docs;
use latchwork_store::{Database, NoProbe, StoreClock, commits_per_second};

use crate::args::BenchArgs;
use crate::bench::{Load, LoadMeasurement, SandboxTimes, Workload};
use crate::commands::bench::workers;
use crate::context::CommandContext;
use crate::error::{CliError, Exit, plugins_not_loaded};
use crate::plugins::build::build_configured;
use crate::text::{Tone, table};
use crate::{bench, open};

/// Measurements of one load.
struct LoadResult {
    measured: LoadMeasurement,
    /// Database bytes per unit of work, measured after the database was closed.
    bytes_per_unit: f64,
}

pub(crate) async fn run(args: BenchArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let config = configuration(ctx, &args.dir)?;
    let wanted = workloads(&args.workload)?;
    build_configured(ctx, &config).await?;
    if let Some(url) = &args.server {
        let file = ctx.cwd.join(&args.dir).join("latch.toml");
        // Measures only the workload `ten` by default, because `--server` measures each workload in several rounds.
        let wanted = if args.workload.is_empty() { vec![Workload::Ten] } else { wanted };
        return workers::run(&args, url, (config, &file), wanted, ctx).await;
    }
    let parent = args.scratch.as_ref().map_or_else(|| config.state_dir().to_owned(), |dir| ctx.cwd.join(dir));
    let unusable = |error| CliError::input(error_docs::INPUT_UNREADABLE, format!("{}: {error}", parent.display()));
    std::fs::create_dir_all(&parent).map_err(unusable)?;
    let scratch = tempfile::Builder::new().prefix("bench-").tempdir_in(&parent).map_err(unusable)?;
    let time = Duration::from_secs_f64(args.seconds);

    let appends = bench::flushed_appends_per_second(&scratch.path().join("appends"), time.min(Duration::from_secs(1)))?;
    let clock = StoreClock::new()?;
    let commits =
        commits_per_second(&scratch.path().join("commits.db"), time.min(Duration::from_secs(1)), &clock).await?;
    ctx.printer.print_text(Tone::Title.of("disk, sequential"));
    ctx.printer.print_text(format!("  append and flush         {appends:>9.0} /s"));
    ctx.printer.print_text(format!("  SQLite one-row commits   {commits:>9.0} /s"));

    let mut rows = Vec::new();
    for workload in wanted {
        for at_once in &args.at_once {
            ctx.printer.note(format!("measuring {}, {at_once} concurrent jobs", workload.name()));
            rows.push(
                measure_load(ctx, &config, scratch.path(), Load { workload, concurrency: *at_once, time }).await?,
            );
        }
    }
    show(ctx, &rows, commits);

    ctx.printer.note("measuring the sandbox");
    let sandbox = bench::measure_sandbox(ctx.session(), config, time.min(Duration::from_secs(1))).await?;
    show_sandbox(ctx, &sandbox);
    if cfg!(debug_assertions) {
        ctx.printer
            .warn("debug build: the figures are not representative; use the program that `cargo install` builds");
    }
    if ctx.json {
        let row = |row: &LoadResult| {
            let mut value = serde_json::to_value(&row.measured).expect("figures are plain data");
            value["of_commit_rate"] = json!(row.measured.per_second / commits);
            value["bytes_per_unit"] = json!(row.bytes_per_unit);
            value
        };
        ctx.printer.document(&json!({
            "release": !cfg!(debug_assertions),
            "disk": { "flushed_appends_per_second": appends, "sqlite_commits_per_second": commits },
            "loads": rows.iter().map(row).collect::<Vec<_>>(),
            "sandbox": sandbox,
        }));
    }
    Ok(Exit::Done)
}

fn configuration(ctx: &CommandContext<'_>, dir: &Path) -> anyhow::Result<Config> {
    let file = ctx.cwd.join(dir).join("latch.toml");
    if !file.is_file() {
        let message = format!(
            "{} has no latch.toml: run the benchmark in a source checkout, or name the folder of its plugins",
            dir.display()
        );
        return Err(CliError::input(error_docs::INPUT_UNREADABLE, message).into());
    }
    // Ignores `LATCH_DATABASE`, because the benchmark uses its own database. All other variables, such as the variable
    // for the cache folder, have their usual effect.
    let env = |name: &str| std::env::var(name).ok().filter(|_| name != DATABASE_VARIABLE);
    let options = LoadOptions { cwd: &ctx.cwd, config: Some(&file), db: None, plan_folder: None, env: &env };
    Ok(Config::load(&options)?)
}

fn workloads(names: &[String]) -> Result<Vec<Workload>, CliError> {
    let find = |name: &String| {
        Workload::ALL.into_iter().find(|workload| workload.name() == name).ok_or_else(|| {
            let known = Workload::ALL.map(Workload::name).join(", ");
            CliError::input(error_docs::USAGE, format!("--workload {name}: unknown workload; use one of {known}"))
        })
    };
    if names.is_empty() { Ok(Workload::ALL.to_vec()) } else { names.iter().map(find).collect() }
}

/// Runs one load on a new database and returns the measurements.
async fn measure_load(
    ctx: &CommandContext<'_>,
    config: &Config,
    scratch: &Path,
    load: Load,
) -> anyhow::Result<LoadResult> {
    let path = scratch.join(format!("{}-{}.db", load.workload.name(), load.concurrency));
    let config = config.clone().with_database(format!("sqlite://{}", path.display()));
    let options = open::options(&config, config.database(), Arc::new(NoProbe))?;
    let owner = ctx.session().owner(&options.owner_dir)?;
    // Measures the size of an empty database. The result below excludes this size.
    Database::open(options.clone()).await?.close().await;
    let empty = database_size(&path)?;
    let sqlite = Database::open(options).await?;
    let stores = Stores::new(sqlite.clone(), owner);
    let host = ctx.session().host_builder(stores).config(config).start()?;
    if !host.registry().refused().is_empty() {
        return Err(plugins_not_loaded(host.registry().refused()).into());
    }
    let measured = bench::run(&Arc::new(host), load).await?;
    sqlite.close().await;
    let bytes = database_size(&path)?.saturating_sub(empty);
    let units = measured.jobs_stored as f64 * f64::from(load.workload.units_per_job());
    Ok(LoadResult { bytes_per_unit: bytes as f64 / units, measured })
}

fn database_size(database: &Path) -> anyhow::Result<u64> {
    Ok(std::fs::metadata(database).context("the database file cannot be read")?.len())
}

fn show(ctx: &CommandContext<'_>, rows: &[LoadResult], commits: f64) {
    let cells: Vec<[String; 9]> = rows
        .iter()
        .map(|LoadResult { measured: m, bytes_per_unit }| {
            [
                m.workload.to_owned(),
                m.at_once.to_string(),
                format!("{:.0} {}", m.per_second, m.unit),
                format!("{:.2}", m.per_second / commits),
                format!("{:.2}", m.p50_ms),
                format!("{:.2}", m.p99_ms),
                format!("{:.1}", m.flushes_per_job),
                format!("{:.1}", m.statements_per_job),
                format!("{bytes_per_unit:.0}"),
            ]
        })
        .collect();
    let head = [
        "workload",
        "at once",
        "a second",
        "of commits",
        "p50 ms",
        "p99 ms",
        "flushes/job",
        "statements/job",
        "bytes each",
    ];
    ctx.printer.print_text(Tone::Title.of("durable jobs (SQLite, WAL, synchronous=FULL)"));
    ctx.printer.print_text(table(head, &cells).indented(2));
}

fn show_sandbox(ctx: &CommandContext<'_>, sandbox: &SandboxTimes) {
    let SandboxTimes { engine_us, step_us, job_us } = sandbox;
    ctx.printer.print_text(Tone::Title.of("a step that does nothing, without a database"));
    let line =
        |what: &str, us: f64| ctx.printer.print_text(format!("  {what:<40} {us:>8.1} µs  {:>5.1} ×", us / engine_us));
    line("engine alone: instantiate, call, drop", *engine_us);
    line("with limits and checks", *step_us);
    line("as a job, its stores in memory", *job_us);
}
