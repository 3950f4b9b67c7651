//! Removes debug information from a core module, and keeps the names of its functions.
//!
//! Reports of traps show these names. Zig writes them only together with debug information, which is twenty times as large
//! as the code and contains paths of this machine.

use crate::build::real_imports::read_leb128;

/// Length in bytes of magic number and version.
const HEADER: usize = 8;
/// Id of a custom section.
const CUSTOM: u8 = 0;
/// Beginning of the names of the sections with debug information.
const DEBUG: &[u8] = b".debug_";

/// Returns the module without its sections of debug information. A module that cannot be read stays as it is.
pub(super) fn without_debug_sections(module: Vec<u8>) -> Vec<u8> {
    let Some((header, mut rest)) = module.split_at_checked(HEADER) else { return module };
    let mut kept = header.to_vec();
    while let Some((&id, body)) = rest.split_first() {
        let Some((size, length)) = read_leb128(body) else { return module };
        let Some(content) = length.checked_add(size).and_then(|end| body.get(length..end)) else { return module };
        let (section, next) = rest.split_at(1 + length + size);
        let is_debug =
            id == CUSTOM && read_leb128(content).is_some_and(|(_, length)| content[length..].starts_with(DEBUG));
        if !is_debug {
            kept.extend_from_slice(section);
        }
        rest = next;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I243: only the debug information is removed.
    #[test]
    fn only_sections_of_debug_information_are_removed() {
        let section = |id: u8, name: &[u8]| [&[id, name.len() as u8 + 1, name.len() as u8], name].concat();
        let kept =
            [b"\0asm\x01\0\0\0".to_vec(), section(1, b"type"), section(0, b"name"), section(0, b"producers")].concat();
        let mut module = kept.clone();
        module.splice(HEADER..HEADER, section(0, b".debug_info"));
        module.extend(section(0, b".debug_line"));
        assert_eq!(without_debug_sections(module.clone()), kept);
        assert_eq!(without_debug_sections(section(1, b".debug_info")), section(1, b".debug_info"));
        for end in 0..module.len() {
            without_debug_sections(module[..end].to_vec());
        }
    }
}
