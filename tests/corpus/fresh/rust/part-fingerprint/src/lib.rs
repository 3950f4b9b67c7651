use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Part {
    maker: String,
    number: String,
    /// Grams.
    weight: u32,
}

#[derive(Serialize, JsonSchema)]
struct Printed {
    /// Positive number of a BIGINT column.
    fingerprint: u64,
    shelf: u64,
}

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// FNV-1a with 64 bits.
fn hash(text: &str, from: u64) -> u64 {
    text.bytes().fold(from, |value, byte| (value ^ u64::from(byte)).wrapping_mul(PRIME))
}

fn fingerprint(part: Part, _: &step::Context) -> Result<Printed, Error> {
    if part.number.trim().is_empty() {
        return Err(Error::invalid_input("the part has no number"));
    }
    let maker = hash(&part.maker.to_lowercase(), OFFSET);
    let number = hash(part.number.trim(), maker);
    let value = hash(&part.weight.to_string(), number);
    // Databases have signed numbers of 64 bits.
    let fingerprint = value >> 1;
    Ok(Printed { fingerprint, shelf: fingerprint % 40 + 1 })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Part.Fingerprint", fingerprint).describe("Computes the number under which a part is stored."),
    ],
}
