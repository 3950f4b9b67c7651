//! Table of the limits that no plugin can pass, in one place. The code that enforces a limit uses the constant of its
//! row, and `latch doctor --limits` shows the rows.
//!
//! The size of a map is a setting of a grant. Limits of one operator are settings of a plugin, and are pinned by a job:
//! their defaults are those of [`Limits`](crate::model::manifest::Limits), and their rows have the same values.

/// One row of the table of limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Bound {
    /// Name of the limit, such as `component_bytes`.
    pub name: &'static str,
    /// Largest allowed value, or the default of a setting.
    pub value: u64,
    /// Unit of the value.
    pub unit: &'static str,
    /// Description of what the limit bounds.
    pub bounds: &'static str,
    /// Setting in a `[[plugin]]` that changes the limit. `None`: the limit is fixed.
    pub setting: Option<&'static str>,
}

macro_rules! bounds {
    ($($(#[doc = $doc:literal])+ $constant:ident: $name:literal = $value:expr, $unit:literal $(, $setting:literal)?;)*) => {
        $($(#[doc = $doc])+ pub const $constant: usize = $value;)*

        /// All rows, grouped by what they bound.
        pub const BOUNDS: &[Bound] = &[$(Bound {
            name: $name,
            value: $constant as u64,
            unit: $unit,
            bounds: bounds!(@text $($doc),+),
            setting: bounds!(@setting $($setting)?),
        }),*];
    };
    (@text $($doc:literal),+) => { concat!($($doc),+) };
    (@setting) => { None };
    (@setting $setting:literal) => { Some($setting) };
}

/// Bytes that each entry of a key-value map counts besides its key and its value. The migrations of the store contain the
/// same number.
pub const KV_ENTRY_BYTES: usize = 64;

bounds! {
    /// Size of a component.
    COMPONENT_BYTES: "component_bytes" = 64 << 20, "bytes", "limits.component";
    /// Code of all functions of a component.
    CODE_BYTES: "code_bytes" = 32 << 20, "bytes";
    /// Functions of all modules of a component.
    COMPONENT_FUNCTIONS: "component_functions" = 50_000, "functions";
    /// Code of one function.
    FUNCTION_BYTES: "function_bytes" = 512 << 10, "bytes";
    /// Estimated work of compiling one function: instructions times values, blocks, and loops.
    FUNCTION_WORK: "function_work" = 100_000_000, "units";
    /// Estimated work of compiling all functions of a component.
    COMPONENT_WORK: "component_work" = 2_000_000_000, "units";
    /// Instances of components and modules in one instance of a component.
    INSTANCES: "instances" = 10_000, "instances";
    /// Instances of modules in one instance of a component.
    CORE_INSTANCES: "core_instances" = 64, "instances";
    /// Linear memories of one instance of a component.
    MEMORIES: "memories" = 16, "memories";
    /// Tables of one instance of a component.
    TABLES: "tables" = 64, "tables";
    /// Key of the key-value map.
    KV_KEY_BYTES: "kv_key_bytes" = 256, "bytes";
    /// Value in the key-value map.
    KV_VALUE_BYTES: "kv_value_bytes" = 64 << 10, "bytes";
    /// Key-value map of one tenant, or of all tenants: keys, values, and 64 bytes for each entry.
    KV_MAP_BYTES: "kv_map_bytes" = 16 << 20, "bytes", "grants.kv.bytes";
    /// Name of an event that a step emits.
    EVENT_NAME_BYTES: "event_name_bytes" = 128, "bytes";
    /// Log records of one try.
    LOG_BYTES: "log_bytes" = 1 << 20, "bytes";
    /// Arguments and answers of the calls of one try of a step.
    RECORDED_BYTES: "recorded_bytes" = 256 << 20, "bytes";
    /// Changes of the world in one answer of a tool.
    STATE_CHANGES: "state_changes" = 1_000, "changes";
    /// Name of a model in an answer of a tool.
    MODEL_NAME_BYTES: "model_name_bytes" = 256, "bytes";
    /// Models whose costs a job counts separately. Further ones are counted as `other`.
    MODELS: "models" = 100, "models";
    /// Handles of WASI that a tool holds at the same time.
    HANDLES: "handles" = 1_024, "handles";
    /// Files and directories that a call has open at the same time.
    OPEN_FILES: "open_files" = 64, "files";
    /// Directory streams that a call has open at the same time.
    DIRECTORY_STREAMS: "directory_streams" = 16, "streams";
    /// Entries of a directory that is listed.
    LISTING_ENTRIES: "listing_entries" = 10_000, "entries";
    /// Names of the entries of a directory that is listed.
    LISTING_BYTES: "listing_bytes" = 1 << 20, "bytes";
    /// Sockets that a call makes.
    SOCKETS: "sockets" = 64, "sockets";
    /// HTTP requests of a call that are sent or answered at the same time.
    REQUESTS: "requests" = 32, "requests";
    /// Bodies of HTTP requests of a call that are in memory while secrets are inserted.
    BODY_BYTES: "body_bytes" = 8 << 20, "bytes";
    /// Names and values of the header fields of one HTTP message.
    FIELD_BYTES: "field_bytes" = 64 << 10, "bytes";
}

#[cfg(test)]
mod tests {
    use super::BOUNDS;

    #[test]
    fn names_are_unique_and_descriptions_are_sentences() {
        for (at, bound) in BOUNDS.iter().enumerate() {
            assert!(BOUNDS[at + 1..].iter().all(|other| other.name != bound.name), "{}", bound.name);
            assert!(bound.bounds.ends_with('.') && bound.value > 0, "{bound:?}");
        }
    }
}
