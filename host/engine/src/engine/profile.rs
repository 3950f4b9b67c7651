//! The only module that builds a [`wasmtime::Config`].
//!
//! A profile is a list of named settings. The list is both applied to the configuration and hashed into the profile's
//! digest, so every change of a setting changes the digest. Jobs record the digest. The digest is also part of the
//! cache key of compiled code.

use wasmtime::{Config, OptLevel, RegallocAlgorithm, Strategy};

use latchwork_core::model::bounds;
use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::PluginKind;

/// Version of the engine, which is part of every digest. A test compares it with the lock file.
const WASMTIME: &str = "48.0.8";

/// Milliseconds between two epoch ticks. At each tick, running guests yield and check their wall-clock limit.
pub(crate) const EPOCH_TICK_MS: u64 = 10;

/// Stack size of a guest, in bytes. Deeper recursion is `STACK_OVERFLOW`.
const WASM_STACK_BYTES: usize = 1 << 20;

/// Stack size of the fiber that runs a guest: the guest's own stack plus the stack of host functions.
const FIBER_STACK_BYTES: usize = 2 << 20;

/// Stack size of a guest in unoptimized code, in bytes. Such code has a slot in the frame for each value, so one frame
/// of a Go program can have several megabytes. The operating system maps the stack page by page when it is used.
const UNOPTIMIZED_STACK_BYTES: usize = 192 << 20;

/// Number of bytes that the stack of a fiber or thread has beyond the guest's own stack, in unoptimized code.
const UNOPTIMIZED_STACK_MARGIN_BYTES: usize = 16 << 20;

/// One setting: its name, its value as text, and the function that applies it.
type Setting = (&'static str, String, Box<dyn FnOnce(&mut Config)>);

/// Returns the configuration of a profile and the digest of all its settings.
///
/// NaN canonicalization is enabled for tools as well. Otherwise the bits of a NaN would depend on the machine, and so
/// would the result of a tool that is pure.
pub(crate) fn build_profile(kind: PluginKind) -> (Config, Hash) {
    let mut config = Config::new();
    let mut text = format!("wasmtime={WASMTIME}\nfuel_of_instantiation={}\n", bounds::INSTANTIATION_FUEL);
    if kind == PluginKind::Step {
        text.push_str(&format!("virtual_wasi={}\n", crate::engine::virtual_wasi::VERSION));
    }
    for (name, value, apply) in settings() {
        apply(&mut config);
        text.push_str(&format!("{name}={value}\n"));
    }
    (config, Hash::of(&[text.as_bytes()]))
}

/// An engine configuration that runs steps differently but must give the same results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EngineVariation {
    /// The machine code is the same as in the normal engine. No pool is used: each instance maps its own memory. The
    /// guest has half the stack.
    Unpooled,
    /// The code is compiled without optimization and with another register allocator. Memory lies at other addresses,
    /// is copied instead of mapped, and its bounds are checked by instructions. Unoptimized code needs more stack. The
    /// stack is therefore larger: every guest that fits the usual stack also fits this stack.
    Unoptimized,
}

/// Returns the configuration for steps under a variation, and the digest for cache keys of its code.
pub(crate) fn build_variation(variation: EngineVariation) -> (Config, Hash) {
    let (mut config, digest) = build_profile(PluginKind::Step);
    match variation {
        EngineVariation::Unpooled => {
            config.max_wasm_stack(WASM_STACK_BYTES / 2);
            // The compiled code does not depend on the stack size or the pool. The digest stays the same, so the
            // variation uses existing cache entries.
            (config, digest)
        }
        EngineVariation::Unoptimized => {
            config
                .cranelift_opt_level(OptLevel::None)
                .cranelift_regalloc_algorithm(RegallocAlgorithm::SinglePass)
                .memory_init_cow(false)
                .memory_reservation(0)
                .memory_reservation_for_growth(0)
                .memory_guard_size(0)
                .max_wasm_stack(UNOPTIMIZED_STACK_BYTES)
                .async_stack_size(UNOPTIMIZED_STACK_BYTES + UNOPTIMIZED_STACK_MARGIN_BYTES);
            (config, Hash::of(&[&digest.0, b"unoptimized"]))
        }
    }
}

impl EngineVariation {
    /// Size of the thread's stack that a synchronous call of a guest needs, in bytes. `None` if the stack of any thread
    /// is large enough.
    pub(crate) fn thread_stack_bytes(self) -> Option<usize> {
        match self {
            EngineVariation::Unpooled => None,
            EngineVariation::Unoptimized => Some(UNOPTIMIZED_STACK_BYTES + UNOPTIMIZED_STACK_MARGIN_BYTES),
        }
    }
}

macro_rules! set {
    ($method:ident, $value:expr) => {
        (
            stringify!($method),
            format!("{:?}", $value),
            Box::new(|config: &mut Config| {
                config.$method($value);
            }),
        )
    };
}

fn settings() -> Vec<Setting> {
    vec![
        set!(cranelift_nan_canonicalization, true),
        set!(wasm_component_model, true),
        set!(wasm_simd, true),
        // Relaxed SIMD is disabled, because it may round differently on another processor. `relaxed_simd_deterministic`
        // is a second safeguard: relaxed SIMD would be deterministic if it were enabled.
        set!(wasm_relaxed_simd, false),
        set!(relaxed_simd_deterministic, true),
        // The following settings disable threads, garbage collection, stack switching and component-model async. These
        // features are also missing in the compiled program, because the features of the wasmtime crate for them are
        // disabled.
        set!(wasm_memory64, false),
        set!(wasm_gc, false),
        set!(gc_support, false),
        set!(wasm_stack_switching, false),
        set!(shared_memory, false),
        set!(concurrency_support, false),
        set!(wasm_bulk_memory, true),
        set!(wasm_multi_value, true),
        set!(wasm_tail_call, true),
        set!(wasm_extended_const, true),
        set!(wasm_multi_memory, true),
        set!(wasm_wide_arithmetic, false),
        set!(wasm_custom_page_sizes, false),
        set!(consume_fuel, true),
        set!(epoch_interruption, true),
        set!(max_wasm_stack, WASM_STACK_BYTES),
        set!(async_stack_size, FIBER_STACK_BYTES),
        set!(strategy, Strategy::Cranelift),
        set!(cranelift_opt_level, OptLevel::Speed),
        set!(cranelift_regalloc_algorithm, RegallocAlgorithm::Backtracking),
        set!(memory_init_cow, true),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wasmtime_version_matches_lock_file() {
        let lock = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock")).unwrap();
        assert!(lock.contains(&format!("name = \"wasmtime\"\nversion = \"{WASMTIME}\"")), "profile.rs says {WASMTIME}");
    }

    /// I218: the bits of a NaN are the same on every processor, in steps and in tools.
    #[test]
    fn nan_has_the_same_bits_in_steps_and_tools() {
        use wasm_encoder::{
            CodeSection, ExportKind, ExportSection, Function, FunctionSection, Instruction, TypeSection,
        };
        let (mut types, mut functions, mut exports, mut code) =
            (TypeSection::new(), FunctionSection::new(), ExportSection::new(), CodeSection::new());
        types.ty().function([wasm_encoder::ValType::F32; 2], [wasm_encoder::ValType::I32]);
        functions.function(0);
        exports.export("divide", ExportKind::Func, 0);
        let mut divide = Function::new([]);
        for instruction in [Instruction::LocalGet(0), Instruction::LocalGet(1), Instruction::F32Div] {
            divide.instruction(&instruction);
        }
        divide.instruction(&Instruction::I32ReinterpretF32).instruction(&Instruction::End);
        code.function(&divide);
        let mut module = wasm_encoder::Module::new();
        module.section(&types).section(&functions).section(&exports).section(&code);
        for kind in [PluginKind::Step, PluginKind::Tool] {
            let engine = wasmtime::Engine::new(&build_profile(kind).0).unwrap();
            let module = wasmtime::Module::new(&engine, module.clone().finish()).unwrap();
            let mut store = wasmtime::Store::new(&engine, ());
            store.set_fuel(1_000).unwrap();
            store.set_epoch_deadline(1_000);
            let instance = wasmtime::Instance::new(&mut store, &module, &[]).unwrap();
            let divide = instance.get_typed_func::<(f32, f32), u32>(&mut store, "divide").unwrap();
            assert_eq!(divide.call(&mut store, (0.0, 0.0)).unwrap(), 0x7fc0_0000, "{kind:?}");
        }
    }

    #[test]
    fn profile_digests_differ_and_are_stable() {
        let (step, tool) = (build_profile(PluginKind::Step).1, build_profile(PluginKind::Tool).1);
        assert_ne!(step, tool);
        assert_eq!(step, build_profile(PluginKind::Step).1);
    }
}
