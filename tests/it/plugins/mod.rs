//! Plugins as the host loads and runs them.

mod changed;
mod changed_inputs;
mod component_size;
mod description;
mod examples;
mod fuel;
#[path = "../../fuzz/src/targets.rs"]
mod fuzz_targets;
mod granted_folders;
mod hostile;
mod inspect;
mod json_gate;
mod native;
mod pinned;
mod rights;
mod rights_in_modes;
mod stock_guests;
mod unloadable;
mod untyped;
mod validators;
mod virtual_wasi;
mod wasm_target;
