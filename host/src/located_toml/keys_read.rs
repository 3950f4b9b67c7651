//! Record of the keys that were read. A test compares these keys with the schema.

use std::cell::RefCell;
use std::collections::BTreeSet;

thread_local!(static KEYS_READ: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) });

pub(super) fn record(path: &str) {
    KEYS_READ.with_borrow_mut(|asked| asked.insert(path.to_owned()));
}

/// Returns the keys read by this thread, as JSON pointers.
pub(crate) fn keys() -> BTreeSet<String> {
    let pointer = |path: &String| {
        // A quoted key may contain any character and forms one part of the pointer.
        let quoted = path.split('"').enumerate();
        let parts = quoted.map(|(n, part)| match n % 2 {
            0 => part.replace('[', ".").replace(']', "").replace('.', "/"),
            _ => part.replace('~', "~0").replace('/', "~1"),
        });
        format!("/{}", parts.collect::<String>())
    };
    KEYS_READ.with_borrow(|asked| asked.iter().map(pointer).collect())
}
