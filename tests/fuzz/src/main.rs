//! Runs libFuzzer on one parser, which the variable `LATCH_FUZZ` names.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

mod targets;

static TARGET: OnceLock<&targets::Target> = OnceLock::new();

fuzz_target!(|bytes: &[u8]| {
    let target = TARGET.get_or_init(|| {
        let name = std::env::var("LATCH_FUZZ").unwrap_or_default();
        let found = targets::TARGETS.iter().find(|target| target.name == name);
        found.unwrap_or_else(|| panic!("LATCH_FUZZ={name} names no target"))
    });
    (target.run)(bytes);
});
