//! Table of the limits that no plugin can pass, in one place. The code that enforces a limit uses the constant of its
//! row, and `latch doctor --limits` shows the rows.
//!
//! The size of a map and the bytes that a call writes to folders are settings of a grant. Limits of one operator are
//! settings of a plugin, and are pinned by a job. Their rows are the defaults, from which
//! [`Limits`](crate::model::manifest::Limits) takes its values.

use crate::encoding::canon;

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
    ($(
        $(#[doc = $doc:literal])+
        $constant:ident $(as $type:ty)?: $name:literal = $value:expr, $unit:literal $(, $setting:literal)?;
    )*) => {
        $($(#[doc = $doc])+ pub const $constant: bounds!(@type $($type)?) = $value;)*

        /// All rows, grouped by what they bound.
        pub const BOUNDS: &[Bound] = &[$(Bound {
            name: $name,
            value: $constant as u64,
            unit: $unit,
            bounds: bounds!(@text $($doc),+),
            setting: bounds!(@setting $($setting)?),
        }),*];
    };
    (@type) => { usize };
    (@type $type:ty) => { $type };
    (@text $($doc:literal),+) => { concat!($($doc),+) };
    (@setting) => { None };
    (@setting $setting:literal) => { Some($setting) };
}

/// Bytes that each entry of a key-value map counts in addition to the bytes of its key and its value. The migrations of
/// the store contain the same number.
pub const KV_ENTRY_BYTES: usize = 64;

bounds! {
    /// Size of a component.
    COMPONENT_BYTES: "component_bytes" = 64 << 20, "bytes", "limits.component";
    /// Code of all functions of a component.
    CODE_BYTES: "code_bytes" = 32 << 20, "bytes";
    /// Functions of all modules of a component.
    COMPONENT_FUNCTIONS: "component_functions" = 50_000, "functions";
    /// Code of one function.
    FUNCTION_BYTES: "function_bytes" = 1 << 20, "bytes";
    /// Estimated work of compiling one function: instructions, values, blocks, loops, branches, calls, and others.
    FUNCTION_WORK: "function_work" = 300_000_000, "units";
    /// Estimated work of compiling all functions of a component.
    COMPONENT_WORK: "component_work" = 2_500_000_000, "units";
    /// Estimated memory that branches, calls and repeated expressions need in the compilation of one function.
    FUNCTION_COMPILE_BYTES: "function_compile_bytes" = 512 << 20, "bytes";
    /// Estimated memory that branches, calls and repeated expressions need in the compilation of all functions.
    COMPONENT_COMPILE_BYTES: "component_compile_bytes" = 3 << 30, "bytes";
    /// Fuel of the start of a component: its instantiation and its static initializers.
    INSTANTIATION_FUEL as u64: "instantiation_fuel" = 1_000_000_000, "units";
    /// Linear memories of one instance of a component while it describes itself, together.
    DESCRIBE_MEMORY_BYTES as u64: "describe_memory_bytes" = 256 << 20, "bytes";
    /// Fuel of the call in which a component describes itself.
    DESCRIBE_FUEL as u64: "describe_fuel" = 10_000_000_000, "units";
    /// Wall-clock time of the call in which a component describes itself, with its start.
    DESCRIBE_TIMEOUT_MS as u32: "describe_timeout_ms" = 20_000, "milliseconds";
    /// Host calls of a component while it describes itself.
    DESCRIBE_HOST_CALLS as u32: "describe_host_calls" = 1_000, "calls";
    /// Description of a component: its version, and its operators with their schemas.
    DESCRIBE_BYTES as u32: "describe_bytes" = 4 << 20, "bytes";
    /// Operators of a component.
    OPERATORS: "operators" = 1_000, "operators";
    /// Text of the schema of an input or an output.
    SCHEMA_BYTES: "schema_bytes" = 256 << 10, "bytes";
    /// Nesting of arrays and objects in a schema.
    SCHEMA_NESTING: "schema_nesting" = 64, "levels";
    /// Subschemas of a schema that a check can reach, with the schema itself.
    SUBSCHEMAS: "subschemas" = 1_000, "subschemas";
    /// Subschemas in a row that apply to the same value.
    SCHEMA_CHAIN: "schema_chain" = 64, "subschemas";
    /// Automatons of all regular expressions in a schema.
    SCHEMA_PATTERN_BYTES: "schema_pattern_bytes" = 4 << 20, "bytes";
    /// Automatons of all regular expressions in the schemas of a component.
    COMPONENT_PATTERN_BYTES: "component_pattern_bytes" = 32 << 20, "bytes";
    /// Text of all regular expressions in the schemas of a component.
    SCHEMA_PATTERN_TEXT_BYTES: "schema_pattern_text_bytes" = 64 << 10, "bytes";
    /// Estimated work of checking a value against a schema. One unit is one subschema applied to one value.
    SCHEMA_WORK as u64: "schema_work" = 4_000_000, "units";
    /// Subschemas that are applied inside each other while a value is checked.
    SCHEMA_DEPTH: "schema_depth" = 8_192, "levels";
    /// Functions of a plain component.
    UNTYPED_FUNCTIONS: "untyped_functions" = 500, "functions";
    /// Types of one function of a plain component. A case of a variant counts as two types.
    UNTYPED_TYPES: "untyped_types" = 400, "types";
    /// Names of parameters, fields, cases and flags of one function of a plain component.
    UNTYPED_NAME_BYTES: "untyped_name_bytes" = 32 << 10, "bytes";
    /// Nesting of the types of one function of a plain component.
    UNTYPED_NESTING: "untyped_nesting" = 14, "levels";
    /// Values of one answer of a plain component, in the memory of the host.
    UNTYPED_VALUE_BYTES: "untyped_value_bytes" = 512 << 20, "bytes";
    /// Error of a plain component in a message. The rest is left out.
    UNTYPED_ERROR_BYTES: "untyped_error_bytes" = 1 << 10, "bytes";
    /// Instances of components and modules in one instance of a component.
    INSTANCES: "instances" = 10_000, "instances";
    /// Instances of modules in one instance of a component.
    CORE_INSTANCES: "core_instances" = 64, "instances";
    /// Linear memories of one instance of a component.
    MEMORIES: "memories" = 16, "memories";
    /// Tables of one instance of a component.
    TABLES: "tables" = 64, "tables";
    /// Linear memories of one instance of a component, together.
    MEMORY_BYTES as u64: "memory_bytes" = 64 << 20, "bytes", "limits.memory";
    /// Largest value of the setting `limits.memory`.
    MEMORY_BYTES_MAX as u64: "memory_bytes_max" = 4 << 30, "bytes";
    /// Elements of the tables of one instance of a component, together.
    TABLE_ELEMENTS as u32: "table_elements" = 100_000, "elements";
    /// Fuel of one try.
    FUEL as u64: "fuel" = 1_000_000_000, "units", "limits.fuel";
    /// Wall-clock time of one try.
    TIMEOUT_MS as u32: "timeout_ms" = 30_000, "milliseconds", "limits.timeout";
    /// Answer of one try, and events of one try of a step.
    OUTPUT_BYTES as u32: "output_bytes" = 1 << 20, "bytes", "limits.output";
    /// Largest value of the setting `limits.output`.
    OUTPUT_BYTES_MAX as u64: "output_bytes_max" = 256 << 20, "bytes";
    /// Largest value of the setting `limits.component`.
    COMPONENT_BYTES_MAX as u64: "component_bytes_max" = 1 << 30, "bytes";
    /// Host calls of one try.
    HOST_CALLS as u32: "host_calls" = 10_000, "calls", "limits.host_calls";
    /// Calls of virtual WASI in one try, for each host call that the limit allows.
    WASI_CALLS_PER_HOST_CALL as u32: "wasi_calls_per_host_call" = 100, "calls";
    /// Bytes that one host call passes in addition to the size of an answer.
    HOST_CALL_SLACK_BYTES: "host_call_slack_bytes" = 256 << 10, "bytes";
    /// Random bytes of one call.
    RANDOM_BYTES as u32: "random_bytes" = 64 << 10, "bytes";
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
    /// One log record. The rest is left out.
    LOG_RECORD_BYTES: "log_record_bytes" = 8 << 10, "bytes";
    /// Standard output or standard error of a tool in one call. The rest is left out.
    TOOL_STREAM_BYTES: "tool_stream_bytes" = 1 << 20, "bytes";
    /// Standard output and standard error of a step in one try. The rest is left out.
    STEP_STREAM_BYTES: "step_stream_bytes" = 1 << 20, "bytes";
    /// One write of a step to a stream of virtual WASI.
    STEP_WRITE_BYTES: "step_write_bytes" = 64 << 10, "bytes";
    /// Refused accesses of one call that are logged.
    DENIALS_LOGGED as u32: "denials_logged" = 20, "refusals";
    /// Description of a refused access. The rest is left out.
    ACCESS_BYTES: "access_bytes" = 500, "bytes";
    /// Error message of a guest or about a guest. The rest is left out.
    MESSAGE_BYTES: "message_bytes" = 8 << 10, "bytes";
    /// Name of a function of a guest in an error message. The rest is left out.
    FUNCTION_NAME_BYTES: "function_name_bytes" = 400, "bytes";
    /// Last texts of a guest in the error message of a trap. Earlier texts are left out.
    LAST_WORDS_BYTES: "last_words_bytes" = 2 << 10, "bytes";
    /// Unusable answer of a call in doubt that is kept. The rest is left out.
    KEPT_ANSWER_BYTES: "kept_answer_bytes" = 64 << 10, "bytes";
    /// Arguments and answers of the calls of one try of a step.
    RECORDED_BYTES: "recorded_bytes" = 256 << 20, "bytes";
    /// Nesting of arrays and objects in arguments, events, results and outputs.
    JSON_NESTING: "json_nesting" = canon::JSON_NESTING, "levels";
    /// Wait before a retry that an error can ask for. A longer one is cut.
    RETRY_AFTER_MS as u32: "retry_after_ms" = 24 * 60 * 60 * 1_000, "milliseconds";
    /// State that `verify` or a verifier of the host found. The rest is left out.
    FOUND_BYTES: "found_bytes" = 1 << 10, "bytes";
    /// Changes of the world in one answer of a tool.
    STATE_CHANGES: "state_changes" = 1_000, "changes";
    /// Name of a model in an answer of a tool.
    MODEL_NAME_BYTES: "model_name_bytes" = 256, "bytes";
    /// Models whose costs a job counts separately. Further ones are counted as `other`.
    MODELS: "models" = 100, "models";
    /// Handles of WASI that a tool holds at the same time.
    HANDLES: "handles" = 1_024, "handles";
    /// Streams and pollables of virtual WASI that a step holds at the same time.
    STEP_HANDLES: "step_handles" = 1_000, "handles";
    /// Files and directories that a call has open at the same time.
    OPEN_FILES: "open_files" = 64, "files";
    /// Directory streams that a call has open at the same time.
    DIRECTORY_STREAMS: "directory_streams" = 16, "streams";
    /// Entries of a directory that is listed.
    LISTING_ENTRIES: "listing_entries" = 10_000, "entries";
    /// Names of the entries of a directory that is listed.
    LISTING_BYTES: "listing_bytes" = 1 << 20, "bytes";
    /// Bytes that a call writes to its granted folders, with gaps, and with `dir_entry_bytes` for each new entry.
    DIR_BYTES as u64: "dir_bytes" = 1 << 30, "bytes", "grants.dir_bytes";
    /// Bytes that a new file, folder or link counts when a call makes it.
    DIR_ENTRY_BYTES: "dir_entry_bytes" = 4 << 10, "bytes";
    /// Sockets that a call makes.
    SOCKETS: "sockets" = 64, "sockets";
    /// Lookups of names that a call makes with `wasi:sockets`.
    LOOKUPS: "lookups" = 64, "lookups";
    /// Lookups of names by a call that run at the same time. Further ones wait.
    RUNNING_LOOKUPS: "running_lookups" = 8, "lookups";
    /// Lookups of names by all calls of a process that run at the same time. Further ones wait.
    PROCESS_LOOKUPS: "process_lookups" = 64, "lookups";
    /// Wall-clock time of one lookup of a name, with the wait for its turn.
    LOOKUP_TIMEOUT_MS as u32: "lookup_timeout_ms" = 10_000, "milliseconds";
    /// Addresses in the result of one lookup of a name. Further ones are left out.
    LOOKUP_ADDRESSES: "lookup_addresses" = 64, "addresses";
    /// HTTP requests of a call that are sent or answered at the same time.
    REQUESTS: "requests" = 32, "requests";
    /// Bodies of HTTP requests of a call that are in memory while secrets are inserted.
    BODY_BYTES: "body_bytes" = 8 << 20, "bytes";
    /// Names and values of the header fields of one HTTP message.
    FIELD_BYTES: "field_bytes" = 64 << 10, "bytes";
    /// Name of a host in an HTTP request or a name lookup.
    HOST_NAME_BYTES: "host_name_bytes" = 253, "bytes";
    /// Name of a secret.
    SECRET_NAME_BYTES: "secret_name_bytes" = 128, "bytes";
    /// Wall-clock time of one step in the replay of a file from another person.
    FOREIGN_TIMEOUT_MS as u32: "foreign_timeout_ms" = 600_000, "milliseconds";
    /// Linear memories of one step in the replay of a file from another person, together.
    FOREIGN_MEMORY_BYTES as u64: "foreign_memory_bytes" = 1 << 30, "bytes";
    /// Fuel of all steps in the replay of a file from another person, together. The last step may pass it.
    FOREIGN_FUEL as u64: "foreign_fuel" = 1_000_000_000_000, "units";
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
