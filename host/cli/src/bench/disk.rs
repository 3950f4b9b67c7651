//! Measures how many appends per second the disk can flush.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use latchwork_engine::os::clock;

use crate::bench::BenchError;

/// Bytes of one append, about the size of one recorded call.
const APPEND: [u8; 512] = [7; 512];

/// Returns the number of appends per second to a new file at `path`. Each append is flushed to the disk
/// before the next.
///
/// # Errors
/// The file cannot be written.
pub fn flushed_appends_per_second(path: &Path, time: Duration) -> Result<f64, BenchError> {
    let mut file = std::fs::File::create_new(path)?;
    let started_us = clock::boot_us();
    let until_us = started_us + u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let mut appends = 0_u32;
    loop {
        file.write_all(&APPEND)?;
        file.sync_data()?;
        appends += 1;
        let now_us = clock::boot_us();
        if now_us >= until_us {
            return Ok(f64::from(appends) * 1e6 / (now_us - started_us).max(1) as f64);
        }
    }
}
