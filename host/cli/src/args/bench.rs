//! Arguments of `latch bench`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `latch bench`.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// Folder with the configuration of the benchmark plugins
    #[arg(value_name = "DIR", default_value = "example-plugins/bench")]
    pub dir: PathBuf,
    /// Run only this workload; may be repeated: ten, ten-read, ten-pure, ten-plan, zero
    #[arg(long, value_name = "NAME")]
    pub workload: Vec<String>,
    /// Number of concurrent jobs; may be repeated
    #[arg(long, value_name = "N", default_values_t = [1, 16, 64], value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub at_once: Vec<u32>,
    /// Duration of each measurement, in seconds
    #[arg(long, value_name = "S", default_value_t = 2.0, value_parser = seconds)]
    pub seconds: f64,
    /// Folder for the temporary databases, on the disk to measure [default: the configured state directory]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// Measure worker processes on this PostgreSQL database; it must hold no other jobs
    #[arg(long, value_name = "URL", conflicts_with_all = ["at_once", "scratch"])]
    pub server: Option<String>,
    /// With --server: number of worker processes; may be repeated
    #[arg(long, value_name = "N", default_values_t = [1, 2, 4], value_parser = clap::value_parser!(u32).range(1..=64), requires = "server")]
    pub workers: Vec<u32>,
    /// With --server: number of jobs in each round
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(10..=100_000), requires = "server")]
    pub queue: u32,
}

pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let range = 0.05..=600.0;
    let seconds = text.parse().ok().filter(|seconds| range.contains(seconds));
    seconds.ok_or_else(|| format!("{text} is not a number of seconds from {} to {}", range.start(), range.end()))
}
