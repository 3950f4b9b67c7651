//! Stores the manifest of an untyped component in a custom section after the component's own bytes.
//!
//! An untyped component does not describe itself, so its manifest is derived from its exports. The manifest is stored
//! and hashed together with the component. A job pins the digest of both, so later changes of `latch.toml` do not
//! change the manifest of this job.

use serde::{Deserialize, Serialize};
use wasm_encoder::{ComponentSection, CustomSection, Encode};

use latchwork_core::model::manifest::{Manifest, OperatorSpec};

use crate::engine::untyped::ExportName;

/// Name of the custom section.
const SECTION: &str = "latchwork:plain";
/// Length of a component's magic number and version.
const HEADER_BYTES: usize = 8;

/// A manifest with the export that serves each operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct DerivedManifest {
    pub(super) version: String,
    pub(super) operators: Vec<SealedOperator>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SealedOperator {
    #[serde(flatten)]
    pub(super) export: ExportName,
    pub(super) spec: OperatorSpec,
}

impl DerivedManifest {
    pub(super) fn manifest(&self) -> Manifest {
        let operators = self.operators.iter().map(|operator| operator.spec.clone()).collect();
        Manifest { version: self.version.clone(), operators }
    }
}

/// Returns the custom section to append to the component.
pub(super) fn write(sealed: &DerivedManifest) -> Vec<u8> {
    let data = serde_json::to_vec(sealed).expect("every key of a manifest is a string");
    let section = CustomSection { name: SECTION.into(), data: data.as_slice().into() };
    let mut bytes = vec![ComponentSection::id(&section)];
    section.encode(&mut bytes);
    bytes
}

/// Reads the manifest from the last custom section named [`SECTION`].
pub(super) fn read(component: &[u8]) -> Result<DerivedManifest, String> {
    let data = last_section(component).ok_or("it has no sealed manifest")?;
    serde_json::from_slice(data).map_err(|error| format!("its sealed manifest cannot be read: {error}"))
}

/// Returns the content of the last custom section named [`SECTION`].
fn last_section(component: &[u8]) -> Option<&[u8]> {
    let mut rest = component.get(HEADER_BYTES..)?;
    let mut found = None;
    while let Some((id, behind)) = rest.split_first() {
        let (len, behind) = read_leb128(behind)?;
        let (content, next) = behind.split_at_checked(len)?;
        if *id == 0
            && let Some((len, behind)) = read_leb128(content)
            && let Some((name, data)) = behind.split_at_checked(len)
            && name == SECTION.as_bytes()
        {
            found = Some(data);
        }
        rest = next;
    }
    found
}

/// Reads an unsigned LEB128 number of up to 32 bits. Returns the number and the remaining bytes.
fn read_leb128(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0_u64;
    for (index, byte) in bytes.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((usize::try_from(value).ok()?, &bytes[index + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I72: the last section is used, and damaged bytes give an error instead of a panic.
    #[test]
    fn last_sealed_manifest_is_read() {
        let sealed = |version: &str| DerivedManifest { version: version.into(), operators: vec![] };
        let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
        assert!(read(&bytes).is_err());
        for version in ["1.0.0", "2.0.0"] {
            bytes.extend(write(&sealed(version)));
            assert_eq!(read(&bytes).unwrap(), sealed(version));
        }
        for end in 0..bytes.len() {
            let _ = read(&bytes[..end]);
        }
    }
}
