//! Removes debug information from a core module, and keeps the names of its functions.
//!
//! Reports of traps show these names. Zig writes them only together with debug information, which is twenty times as
//! large as the code and contains paths of this machine.

use wasm_encoder::{Module, RawSection};
use wasmparser::{Parser, Payload};

/// Beginning of the names of the sections with debug information.
const DEBUG: &str = ".debug_";

/// Returns the module without its sections of debug information. A module that cannot be read stays as it is.
pub(super) fn without_debug_sections(module: Vec<u8>) -> Vec<u8> {
    kept_sections(&module).unwrap_or(module)
}

fn kept_sections(module: &[u8]) -> wasmparser::Result<Vec<u8>> {
    let mut kept = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        let is_debug = matches!(&payload, Payload::CustomSection(section) if section.name().starts_with(DEBUG));
        if let (Some((id, range)), false) = (payload.as_section(), is_debug) {
            kept.section(&RawSection { id, data: &module[range] });
        }
    }
    Ok(kept.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I243: only the debug information is removed.
    #[test]
    fn only_sections_of_debug_information_are_removed() {
        let header = b"\0asm\x01\0\0\0";
        let custom = |name: &[u8]| [&[0, name.len() as u8 + 1, name.len() as u8], name].concat();
        // One type: a function without parameters and results.
        let types = [1, 4, 1, 0x60, 0, 0];
        let kept = [&header[..], &types, &custom(b"name"), &custom(b"producers")].concat();
        let mut module = kept.clone();
        module.splice(header.len()..header.len(), custom(b".debug_info"));
        module.extend(custom(b".debug_line"));
        assert_eq!(without_debug_sections(module.clone()), kept);
        assert_eq!(without_debug_sections(custom(b".debug_info")), custom(b".debug_info"), "no module");
        for end in 0..module.len() {
            without_debug_sections(module[..end].to_vec());
        }
    }
}
