//! Extracts clauses from a deed, as evidence for a notary. The request has the SHA-256 of the deed, so an extract is
//! always one of the very text that the notary saw.

use std::collections::BTreeMap;

use latchwork_guest::{Determinism, Error, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Request {
    /// Number of the deed: `1911/204`.
    deed: String,
    /// SHA-256 of the deed's text, 64 hexadecimal digits.
    sha256: String,
    /// Numbers of the clauses. Empty: all.
    #[serde(default)]
    clauses: Vec<u32>,
}

#[derive(Deserialize)]
struct Deed {
    text: String,
    /// Office that keeps the deed.
    office: String,
}

#[derive(Serialize, JsonSchema)]
struct Extract {
    citation: String,
    clauses: BTreeMap<u32, String>,
}

const K: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
    0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
    0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
];

/// SHA-256 (FIPS 180-4), in hexadecimal digits.
fn sha256(text: &str) -> String {
    let mut state: [u32; 8] =
        [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
    let mut message = text.as_bytes().to_vec();
    let bits = (message.len() as u64) * 8;
    message.push(0x80);
    message.resize((message.len() + 8).next_multiple_of(64), 0);
    let end = message.len() - 8;
    message[end..].copy_from_slice(&bits.to_be_bytes());
    for block in message.chunks_exact(64) {
        let mut w = [0_u32; 64];
        for (word, bytes) in w.iter_mut().zip(block.chunks_exact(4)) {
            *word = bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
        }
        for t in 16..64 {
            let s0 = w[t - 15].rotate_right(7) ^ w[t - 15].rotate_right(18) ^ w[t - 15] >> 3;
            let s1 = w[t - 2].rotate_right(17) ^ w[t - 2].rotate_right(19) ^ w[t - 2] >> 10;
            w[t] = w[t - 16].wrapping_add(s0).wrapping_add(w[t - 7]).wrapping_add(s1);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for t in 0..64 {
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let one = h.wrapping_add(s1).wrapping_add(e & f ^ !e & g).wrapping_add(K[t]).wrapping_add(w[t]);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let two = s0.wrapping_add(a & b ^ a & c ^ b & c);
            (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(one), c, b, a, one.wrapping_add(two));
        }
        for (own, new) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *own = own.wrapping_add(new);
        }
    }
    state.iter().map(|word| format!("{word:08x}")).collect()
}

/// Clauses begin with their number in a line: `3. The lessee shall …`. Text before the first clause is the preamble.
fn clauses(text: &str) -> BTreeMap<u32, String> {
    let mut clauses: BTreeMap<u32, String> = BTreeMap::new();
    let mut current = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let begun = line.split_once(". ").and_then(|(number, rest)| Some((number.parse().ok()?, rest)));
        if let Some((number, rest)) = begun {
            current = Some(number);
            clauses.insert(number, rest.to_owned());
        } else if let Some(clause) = current.and_then(|number| clauses.get_mut(&number)) {
            clause.push(' ');
            clause.push_str(line);
        }
    }
    clauses
}

fn extract(request: Request, _: &step::Context) -> Result<Extract, Error> {
    let deed: Deed = tools::call("Deed.Read", &json!({ "deed": request.deed }))?;
    // The registry may correct a deed. An extract of another text would be worthless.
    if sha256(&deed.text) != request.sha256.to_ascii_lowercase() {
        return Err(Error::policy_denied(format!("deed {} is not the text of the request", request.deed)));
    }
    let mut clauses = clauses(&deed.text);
    if let Some(missing) = request.clauses.iter().find(|number| !clauses.contains_key(number)) {
        return Err(Error::invalid_input(format!("deed {} has no clause {missing}", request.deed)));
    }
    if !request.clauses.is_empty() {
        clauses.retain(|number, _| request.clauses.contains(number));
    }
    Ok(Extract { citation: format!("Deed {}, {}", request.deed, deed.office), clauses })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Deed.Extract", extract)
            .describe("Extracts clauses from a deed with a known hash.")
            // The hash in the request fixes what the registry answers.
            .determinism(Determinism::Pure),
    ],
}
