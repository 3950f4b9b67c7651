//! Measures the transaction rate of a PostgreSQL server with the program pgbench, for comparison with the rate of
//! workers on that server.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use latchwork_core::storage::StoreError;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS latchwork_pgbench_rows (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, bytes \
    TEXT NOT NULL);\nTRUNCATE latchwork_pgbench_rows;\n";
const DROP_TABLE: &str = "DROP TABLE latchwork_pgbench_rows;\n";
const ROW: &str = "INSERT INTO latchwork_pgbench_rows (bytes) VALUES (repeat('7', 230));\n";

/// Transaction that a client repeats.
#[derive(Clone, Copy, Debug)]
pub enum BenchTransaction {
    /// Inserts one row.
    OneRow,
    /// Inserts five rows in one pipelined transaction. The record of one call has about as many rows.
    FiveRows,
}

impl BenchTransaction {
    fn script(self) -> String {
        match self {
            Self::OneRow => ROW.to_owned(),
            Self::FiveRows => format!("\\startpipeline\nBEGIN;\n{}COMMIT;\n\\endpipeline\n", ROW.repeat(5)),
        }
    }
}

/// Returns the path of the program pgbench, from `PATH` or from the newest installed version of PostgreSQL.
pub fn pgbench() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin/pgbench"))))
        .filter(|(_, program)| program.is_file())
        .collect();
    found.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).map(|dir| dir.join("pgbench")).find(|program| program.is_file());
    in_path.or_else(|| found.pop().map(|(_, program)| program))
}

/// Returns the transactions per second of `clients` clients during `time`. Creates a table for the measurement
/// and drops the table afterwards. Writes scripts to `folder`.
pub fn transactions_per_second(
    pgbench: &Path,
    url: &str,
    what: BenchTransaction,
    clients: u32,
    time: Duration,
    folder: &Path,
) -> Result<f64, StoreError> {
    let run = |name: &str, script: &str, args: &[&str]| {
        let file = folder.join(name);
        let failed = |error: &dyn std::fmt::Display| StoreError::Unavailable(format!("pgbench: {error}"));
        std::fs::write(&file, script).map_err(|error| failed(&error))?;
        let mut command = Command::new(pgbench);
        command.args(["--no-vacuum", "--file"]).arg(&file).args(args).arg(url).stdin(Stdio::null());
        let ran = command.output().map_err(|error| failed(&error))?;
        match ran.status.success() {
            true => Ok(String::from_utf8_lossy(&ran.stdout).into_owned()),
            false => Err(failed(&String::from_utf8_lossy(&ran.stderr).trim())),
        }
    };
    run("table.sql", TABLE, &["--transactions=1"])?;
    let clients = format!("--client={clients}");
    let time = format!("--time={}", time.as_secs().max(1));
    let printed = run("load.sql", &what.script(), &["--protocol=prepared", &clients, "--jobs=2", &time])?;
    run("gone.sql", DROP_TABLE, &["--transactions=1"])?;
    rate(&printed).ok_or_else(|| StoreError::Unavailable(format!("pgbench printed no rate: {}", printed.trim())))
}

/// Reads the rate from the output of pgbench.
fn rate(printed: &str) -> Option<f64> {
    let line = printed.lines().filter_map(|line| line.strip_prefix("tps = ")).next_back()?;
    line.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pgbench_rate_is_parsed() {
        let printed =
            "number of clients: 8\nlatency average = 0.2 ms\ntps = 9601.250000 (without initial connection time)";
        assert_eq!(rate(printed), Some(9601.25));
        assert_eq!(rate("pgbench: error"), None);
    }
}
