//! Restores the real names of the wall clock and entropy imports.
//!
//! The JavaScript and Python engines import parts of WASI that a plugin does not need, so their toolchains remove all
//! imports of the namespace `wasi`. A tool, however, needs the wall clock and entropy. During the build, the tool
//! imports both under the names `real:clocks` and `real:random`, which the toolchains keep. After the build, this
//! module changes `real` to `wasi`.

/// Id of the import section of a component.
const IMPORTS: u8 = 10;
/// Length in bytes of magic number, version and layer.
const HEADER: usize = 8;

const BEFORE: &[u8] = b"real:";
const AFTER: &[u8] = b"wasi:";
const NAMES: [&[u8]; 2] = [b"clocks/wall-clock@", b"random/random@"];

/// Renames the component's own imports in place. `real:` and `wasi:` have the same length, so no offset changes.
pub(super) fn restore_wasi_names(component: &mut [u8]) {
    let mut at = HEADER;
    while let Some((&id, rest)) = component.get(at..).and_then(<[u8]>::split_first) {
        let Some((size, length)) = read_leb128(rest) else { return };
        let start = at + 1 + length;
        let Some(section) = start.checked_add(size).and_then(|end| component.get_mut(start..end)) else { return };
        if id == IMPORTS {
            rename_in_section(section);
        }
        at = start + size;
    }
}

fn rename_in_section(section: &mut [u8]) {
    for name in NAMES {
        let whole = [BEFORE, name].concat();
        let places: Vec<usize> =
            section.windows(whole.len()).enumerate().filter(|(_, w)| *w == whole).map(|(at, _)| at).collect();
        for at in places {
            section[at..at + AFTER.len()].copy_from_slice(AFTER);
        }
    }
}

/// Reads a LEB128 number. Returns the value and its length in bytes.
fn read_leb128(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (i, byte) in bytes.iter().take(5).enumerate() {
        value |= usize::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return Some((value, i + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_imports_are_renamed() {
        let name = b"real:random/random@0.2.6";
        let mut made = vec![0, b'a', b's', b'm', 0x0d, 0, 1, 0];
        for id in [0, IMPORTS, 7] {
            made.extend([id, 0x80 | name.len() as u8, 0]);
            made.extend(name);
        }
        let before = made.clone();
        restore_wasi_names(&mut made);
        let changed = before.iter().zip(&made).filter(|(a, b)| a != b).count();
        assert_eq!(changed, 4, "r, e, a and l, once");
        assert_eq!(&made[8 + 27 + 3..][..24], b"wasi:random/random@0.2.6");
        for broken in 0..made.len() {
            restore_wasi_names(&mut made[..broken]);
        }
    }
}
