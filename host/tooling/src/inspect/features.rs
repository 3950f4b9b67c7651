//! Detects the WebAssembly features that no plugin may use. A file uses such a feature if the file is valid with all
//! features enabled, but invalid with only this feature disabled.

use wasmparser::{Validator, WasmFeatures};

use crate::inspect::names;

/// A refused feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Identifier for programs.
    pub id: &'static str,
    /// Name for human readers.
    pub name: &'static str,
    /// Reason for the refusal.
    pub why: &'static str,
    /// Advice on how to build without the feature.
    pub instead: &'static str,
}

/// Use of a refused feature in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureUse {
    /// The feature.
    pub feature: Feature,
    /// The validator's message about the use.
    pub found: String,
    /// Function that uses the feature, by name, or by number if it has no name.
    pub function: Option<String>,
}

const NOT_SUPPORTED: &str = "this host's engine does not support it";

/// Refused features, each with the validator flags that enable it.
const REFUSED: [(WasmFeatures, Feature); 13] = [
    (
        WasmFeatures::RELAXED_SIMD,
        Feature {
            id: "relaxed-simd",
            name: "relaxed SIMD",
            why: "its results may differ from one processor to the next",
            instead: "build without -C target-feature=+relaxed-simd or -mrelaxed-simd; plain SIMD is fine",
        },
    ),
    (
        WasmFeatures::THREADS.union(WasmFeatures::SHARED_EVERYTHING_THREADS),
        Feature {
            id: "threads",
            name: "threads and shared memory",
            why: "the results of threads depend on timing",
            instead: "build for a target without threads: no +atomics, no -pthread, no --shared-memory",
        },
    ),
    (
        WasmFeatures::MEMORY64,
        Feature {
            id: "memory64",
            name: "memory64",
            why: "a plugin's memory is limited far below 4 GiB, and the engine's bounds rely on it",
            instead: "build for wasm32, not wasm64",
        },
    ),
    (
        WasmFeatures::GC.union(WasmFeatures::GC_TYPES),
        Feature {
            id: "gc",
            name: "garbage collection",
            why: NOT_SUPPORTED,
            instead: "use a toolchain that compiles to linear memory, or disable its WasmGC output",
        },
    ),
    (
        WasmFeatures::STACK_SWITCHING,
        Feature {
            id: "stack-switching",
            name: "stack switching",
            why: NOT_SUPPORTED,
            instead: "build without engine-level coroutines",
        },
    ),
    (
        WasmFeatures::CM_ASYNC
            .union(WasmFeatures::CM_ASYNC_STACKFUL)
            .union(WasmFeatures::CM_MORE_ASYNC_BUILTINS)
            .union(WasmFeatures::CM_THREADING)
            .union(WasmFeatures::CM_ERROR_CONTEXT),
        Feature {
            id: "component-model-async",
            name: "the component model's async",
            why: "the order in which its tasks run is not recorded",
            instead: "build with synchronous bindings: componentize-qjs --sync, wit-bindgen without `async`",
        },
    ),
    (
        WasmFeatures::EXCEPTIONS,
        Feature {
            id: "exceptions",
            name: "exception handling",
            why: NOT_SUPPORTED,
            instead: "build without -fwasm-exceptions (C++: -fno-exceptions)",
        },
    ),
    (
        WasmFeatures::LEGACY_EXCEPTIONS,
        Feature {
            id: "legacy-exceptions",
            name: "legacy exception handling",
            why: NOT_SUPPORTED,
            instead: "build without -fwasm-exceptions (C++: -fno-exceptions)",
        },
    ),
    (
        WasmFeatures::FUNCTION_REFERENCES,
        Feature {
            id: "function-references",
            name: "typed function references",
            why: NOT_SUPPORTED,
            instead: "build for a target that calls through tables",
        },
    ),
    (
        WasmFeatures::WIDE_ARITHMETIC,
        Feature {
            id: "wide-arithmetic",
            name: "wide arithmetic",
            why: "it is not standardized yet",
            instead: "build without +wide-arithmetic",
        },
    ),
    (
        WasmFeatures::CUSTOM_PAGE_SIZES,
        Feature {
            id: "custom-page-sizes",
            name: "custom page sizes",
            why: "memory is limited in pages of 64 KiB",
            instead: "build without --page-size",
        },
    ),
    (
        WasmFeatures::MEMORY_CONTROL,
        Feature {
            id: "memory-control",
            name: "memory control",
            why: NOT_SUPPORTED,
            instead: "build without memory.discard",
        },
    ),
    (
        WasmFeatures::CM_VALUES
            .union(WasmFeatures::CM_GC)
            .union(WasmFeatures::CM_MAP)
            .union(WasmFeatures::CM_FIXED_LENGTH_LISTS)
            .union(WasmFeatures::CM64),
        Feature {
            id: "component-model-extras",
            name: "parts of the component model that are not standardized yet",
            why: NOT_SUPPORTED,
            instead: "build with bindings for WASI 0.2",
        },
    ),
];

/// Returns the refused features that a file uses. The file must be valid with all features enabled.
pub(super) fn refused_features(bytes: &[u8]) -> Vec<FeatureUse> {
    let refused = REFUSED.iter().fold(WasmFeatures::empty(), |all, (flags, _)| all.union(*flags));
    // Most files use no refused feature, so one validation is enough for them.
    if validate(bytes, WasmFeatures::all().difference(refused)).is_ok() {
        return vec![];
    }
    let one = |(flags, feature): &(WasmFeatures, Feature)| {
        let error = validate(bytes, WasmFeatures::all().difference(*flags)).err()?;
        let function = names::function_at(bytes, error.offset());
        let found = error.message().lines().next_back().unwrap_or_default().to_owned();
        Some(FeatureUse { feature: *feature, found, function })
    };
    REFUSED.iter().filter_map(one).collect()
}

fn validate(bytes: &[u8], features: WasmFeatures) -> wasmparser::Result<()> {
    Validator::new_with_features(features).validate_all(bytes).map(drop)
}
