//! Computes the smoothed delay of a container from the chain of its scans.

use std::collections::BTreeMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest wait that counts, in minutes.
const WAIT_MAX: u64 = 10_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Chain {
    /// Number of the scan whose delay is asked for.
    last: u32,
    scans: Vec<Scan>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Scan {
    id: u32,
    /// The scan before this one. The first scan has none.
    after: Option<u32>,
    /// Minutes that the container waited at this place.
    wait: u32,
}

#[derive(Serialize, JsonSchema)]
struct Delay {
    /// Smoothed delay in hundredths of a minute.
    delay: u64,
    scans: u64,
}

struct Scans<'s> {
    by_id: BTreeMap<u32, &'s Scan>,
}

impl Scans<'_> {
    /// Returns the smoothed delay in hundredths at a scan, and the number of scans up to it. Each scan counts for a
    /// tenth, and the delay before it for nine tenths.
    fn delay_at(&self, id: u32, left: usize) -> Result<(u64, u64), &'static str> {
        let Some(scan) = self.by_id.get(&id) else { return Err("a scan of the chain is missing") };
        if left == 0 {
            return Err("the scans form a circle");
        }
        let wait = u64::from(scan.wait).min(WAIT_MAX) * 100;
        match scan.after {
            None => Ok((wait, 1)),
            Some(before) => {
                let (delay, scans) = self.delay_at(before, left - 1)?;
                Ok(((delay * 9 + wait) / 10, scans + 1))
            }
        }
    }
}

fn smooth(chain: Chain, _: &step::Context) -> Result<Delay, Error> {
    let by_id: BTreeMap<u32, &Scan> = chain.scans.iter().map(|scan| (scan.id, scan)).collect();
    if by_id.len() < chain.scans.len() {
        return Err(Error::invalid_input("two scans have the same number"));
    }
    let left = by_id.len();
    let (delay, scans) = Scans { by_id }.delay_at(chain.last, left).map_err(Error::invalid_input)?;
    Ok(Delay { delay, scans })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Parcel.Delay", smooth).describe("Computes the smoothed delay of a container."),
    ],
}
