//! Child processes of a round: this program, started in its own process group.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use tokio::process::{Child, Command};

use latchwork::config::Config;

use crate::args::ParameterArgs;
use crate::context::CommandContext;

/// Interval between two checks for the end of a killed process. `KILL_POLLS_MAX` limits the number of checks.
const KILL_POLL_INTERVAL: Duration = Duration::from_millis(2);
const KILL_POLLS_MAX: u32 = 250;

/// Starts child processes of `latch dev`, with the flags and paths that they need.
pub(super) struct ChildProcesses {
    program: PathBuf,
    scratch: PathBuf,
    /// Flags of this command that every child process gets.
    flags: Vec<String>,
    /// `--set` and `--input` flags of every run.
    values: Vec<String>,
    /// `--db` flag of a live run.
    database: Vec<String>,
    color: bool,
}

/// Process group that is killed when this value is dropped.
struct ProcessGroup {
    child: Child,
    pid: Option<Pid>,
}

impl ProcessGroup {
    async fn output(mut self) -> std::io::Result<(ExitStatus, String)> {
        let stdout = self.child.stdout.take();
        let mut text = Vec::new();
        if let Some(mut stdout) = stdout {
            tokio::io::AsyncReadExt::read_to_end(&mut stdout, &mut text).await?;
        }
        let status = self.child.wait().await?;
        self.pid = None;
        Ok((status, String::from_utf8_lossy(&text).into_owned()))
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // The group includes the compilers that the process started.
        if let Some(pid) = self.pid {
            let _ = kill_process_group(pid, Signal::KILL);
            // Waits until the process has ended. Until then the process may write to the scratch folder, which is
            // removed next.
            for _ in 0..KILL_POLLS_MAX {
                if !matches!(self.child.try_wait(), Ok(None)) {
                    break;
                }
                std::thread::sleep(KILL_POLL_INTERVAL);
            }
        }
    }
}

impl ChildProcesses {
    pub(super) fn new(scratch: &Path, ctx: &CommandContext<'_>, parameters: &ParameterArgs) -> std::io::Result<Self> {
        Ok(Self {
            program: std::env::current_exe()?,
            scratch: scratch.to_owned(),
            flags: [ctx.config_flag(), ctx.log_flags()].concat(),
            values: values(parameters),
            database: ctx.database_flag(),
            color: ctx.printer.colors_stderr(),
        })
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).args(&self.flags).stdin(Stdio::null());
        if !self.color {
            command.env("NO_COLOR", "1");
        }
        command
    }

    async fn output(&self, args: &[&str]) -> anyhow::Result<(ExitStatus, String)> {
        let child = self.command(args).stdout(Stdio::piped()).process_group(0).spawn()?;
        let pid = child.id().and_then(|id| Pid::from_raw(id as i32));
        Ok(ProcessGroup { child, pid }.output().await?)
    }

    /// Builds a plugin and checks it. Compiler output goes to stderr. The report is empty if the build
    /// failed.
    pub(super) async fn check(&self, dir: &Path) -> anyhow::Result<(bool, String)> {
        let dir = dir.display().to_string();
        let (status, report) = self.output(&["plugin", "check", &dir, "--once"]).await?;
        Ok((status.success(), report))
    }

    /// Dry-runs a plan on a new database and returns the JSON answer: a response or an error.
    pub(super) async fn dry_run(&self, plan: &Path, config: &Config) -> anyhow::Result<Value> {
        let round = tempfile::Builder::new().prefix("round-").tempdir_in(&self.scratch)?;
        let state = round.path().join("state");
        std::fs::create_dir_all(&state)?;
        let secrets = config.secrets_dir();
        if secrets.is_dir() {
            std::os::unix::fs::symlink(secrets, state.join("secrets"))?;
        }
        let (plan, scratch) = (plan.display().to_string(), round.path().display().to_string());
        let args = ["run", &plan, "--mode", "DRY_RUN", "--scratch", &scratch, "--json"];
        let args: Vec<&str> = args.into_iter().chain(self.values.iter().map(String::as_str)).collect();
        let (_, answer) = self.output(&args).await?;
        serde_json::from_str(&answer).context("the run was interrupted")
    }

    /// Runs the plan live on this terminal.
    pub(super) async fn live(&self, plan: &Path) -> anyhow::Result<()> {
        let plan = plan.display().to_string();
        let mut command = self.command(&["run", &plan, "--new"]);
        command.args(&self.values).args(&self.database).stdin(Stdio::inherit()).kill_on_drop(true);
        command.status().await?;
        Ok(())
    }
}

/// Returns the given parameter values as flags.
fn values(given: &ParameterArgs) -> Vec<String> {
    let set = given.set.iter().flat_map(|(name, value)| ["--set".to_owned(), format!("{name}={value}")]);
    let input = given.input.iter().flat_map(|file| ["--input".to_owned(), file.display().to_string()]);
    set.chain(input).collect()
}
