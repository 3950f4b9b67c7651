//! Draws the vouchers that an auditor looks at: some of each supplier, by lot.

use std::collections::{HashMap, HashSet};

use latchwork_guest::{Determinism, Error, rng, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Ledger {
    #[schemars(length(max = 1500))]
    vouchers: Vec<Voucher>,
    /// Number of vouchers to draw of each supplier. A supplier with fewer vouchers is looked at in full.
    #[schemars(range(min = 1, max = 25))]
    per_supplier: usize,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Voucher {
    #[schemars(regex(pattern = r"^[A-Z0-9-]{1,20}$"))]
    number: String,
    #[schemars(length(min = 1, max = 60))]
    supplier: String,
    /// Amount in cents.
    #[schemars(range(max = 10_000_000_000_000_u64))]
    cents: u64,
}

#[derive(Serialize, JsonSchema)]
struct Sample {
    /// Suppliers in the order of the ledger.
    suppliers: Vec<Drawn>,
    /// Sum of the drawn vouchers in cents, as text, because it can pass the integers of a double.
    total: String,
    /// Checksum of the drawn numbers, 16 hexadecimal digits.
    seal: String,
}

#[derive(Serialize, JsonSchema)]
struct Drawn {
    supplier: String,
    /// Drawn numbers in the order of the ledger.
    numbers: Vec<String>,
}

/// FNV-1a over the numbers, each of them ended by a line feed.
fn seal<'n>(numbers: impl Iterator<Item = &'n str>) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for number in numbers {
        for byte in number.bytes().chain([b'\n']) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

fn draw(ledger: Ledger, _: &step::Context) -> Result<Sample, Error> {
    let mut seen = HashSet::new();
    if let Some(twice) = ledger.vouchers.iter().find(|voucher| !seen.insert(voucher.number.as_str())) {
        return Err(Error::invalid_input(format!("voucher {} is listed twice", twice.number)));
    }

    // The map only finds the place of a supplier. The list has the order.
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (row, voucher) in ledger.vouchers.iter().enumerate() {
        let place = *places.entry(&voucher.supplier).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[place].push(row);
    }

    // One read for all draws, so that the number of host calls does not grow with the ledger.
    let draws: usize = groups.iter().map(|rows| rows.len().min(ledger.per_supplier)).sum();
    let random = rng::bytes(draws * 4);
    let mut lots = random.chunks_exact(4).map(|lot| u32::from_le_bytes([lot[0], lot[1], lot[2], lot[3]]));

    let mut total = 0;
    let mut suppliers = Vec::with_capacity(groups.len());
    for mut rows in groups {
        let wanted = rows.len().min(ledger.per_supplier);
        for place in 0..wanted {
            let left = (rows.len() - place) as u64;
            let lot = u64::from(lots.next().unwrap_or(0));
            rows.swap(place, place + (lot * left >> 32) as usize);
        }
        rows.truncate(wanted);
        rows.sort_unstable();
        total += rows.iter().map(|row| ledger.vouchers[*row].cents).sum::<u64>();
        suppliers.push(Drawn {
            supplier: ledger.vouchers[rows[0]].supplier.clone(),
            numbers: rows.iter().map(|row| ledger.vouchers[*row].number.clone()).collect(),
        });
    }
    let seal = seal(suppliers.iter().flat_map(|drawn| &drawn.numbers).map(String::as_str));
    Ok(Sample { suppliers, total: total.to_string(), seal })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        // Stable: the draw uses the random numbers of the job.
        step::operator("Voucher.Draw", draw)
            .describe("Draws some vouchers of each supplier for an audit.")
            .determinism(Determinism::Stable),
    ],
}
