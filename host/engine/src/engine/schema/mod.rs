//! JSON Schemas of operators, compiled once.
//!
//! Schemas and values come from plugins, so they must not cost the host unbounded time, memory or stack. A schema is
//! inspected before it is compiled (`graph`). The work of a check is counted before the check starts (`work`).
//!
//! A schema that exceeds a limit is refused like an invalid schema. A value that exceeds a limit is refused like a
//! value that does not fit.

mod graph;
mod keywords;
mod patterns;
mod size;
mod work;

use serde_json::Value;

use latchwork_core::encoding::truncate;
use latchwork_core::model::bounds;
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::plan::SchemaMismatch;

use crate::guest::json_gate::OUTSIDE_SCHEMA;

use graph::Graph;
pub(crate) use patterns::{PatternSizes, check_component as check_component_patterns};
use work::CheckCost;

/// Maximum number of violations that a message lists.
const VIOLATIONS_SHOWN: usize = 5;
/// Maximum number of violations that [`misfits`] reports.
const MISFITS_MAX: usize = 100;
/// Maximum length of a reason that quotes a value, in characters.
const REASON_CHARS_MAX: usize = 300;
/// Maximum product of work and depth for which each violation is located. Above this limit, the error does not name the
/// place of a violation. Locating is costly: each failing alternative is evaluated again for every alternative that
/// contains it.
const LOCATE_WORK_MAX: u64 = 400_000;
/// Maximum nesting of subschema evaluations for which the stack of any thread is large enough. Deeper checks
/// run on a thread of their own.
const INLINE_DEPTH_MAX: usize = 48;
/// Stack size for deeper evaluations: 8 KiB for each level of the deepest nesting allowed.
const CHECK_STACK_BYTES: usize = 64 * 1024 * 1024;
/// Stack size for compiling: 128 KiB for each of at most a thousand subschemas. Compiling a subschema needs more stack
/// than checking it.
const COMPILE_STACK_BYTES: usize = 128 * 1024 * 1024;

/// The two schemas of an operator.
#[derive(Debug)]
pub(crate) struct Schemas {
    input: CompiledSchema,
    output: CompiledSchema,
}

#[derive(Debug)]
struct CompiledSchema {
    validator: jsonschema::Validator,
    graph: Graph,
}

impl Schemas {
    /// Compiles both schemas.
    ///
    /// # Errors
    /// The name of each invalid schema, with the reason.
    pub(crate) fn compile(input: &str, output: &str) -> Result<Self, Vec<(&'static str, String)>> {
        match (compile(input), compile(output)) {
            (Ok(input), Ok(output)) => Ok(Self { input, output }),
            (input, output) => Err([("input-schema", input.err()), ("output-schema", output.err())]
                .into_iter()
                .filter_map(|(name, error)| Some((name, error?)))
                .collect()),
        }
    }

    /// Sizes of all regular expressions in both schemas.
    pub(crate) fn pattern_sizes(&self) -> PatternSizes {
        let mut sizes = self.input.graph.pattern_sizes;
        sizes.add(self.output.graph.pattern_sizes);
        sizes
    }

    pub(crate) fn check_input(&self, value: &Value) -> Result<(), Failure> {
        check_value(&self.input, value)
            .map_err(|text| misfit(Code::InvalidInput, &format!("the input does not fit the operator: {text}")))
    }

    pub(crate) fn check_output(&self, value: &Value) -> Result<(), Failure> {
        check_value(&self.output, value)
            .map_err(|text| misfit(Code::SchemaValidationFailed, &format!("{OUTSIDE_SCHEMA}: {text}")))
    }
}

/// Returns the failure for a value that does not fit. The message names members of the value, which can be long.
pub(crate) fn misfit(code: Code, message: &str) -> Failure {
    Failure::new(code, truncate::at_bytes(message, bounds::MESSAGE_BYTES).start)
}

fn compile(text: &str) -> Result<CompiledSchema, String> {
    let (schema, graph) = Graph::read(text)?;
    let compiled = run_with_stack(COMPILE_STACK_BYTES, || {
        // Patterns run in the `regex` engine. The time of a match grows with the length of the text and with the size
        // of the pattern. `graph` bounds the sizes, and `work` counts both.
        let patterns = jsonschema::PatternOptions::regex()
            .size_limit(2 * bounds::SCHEMA_PATTERN_BYTES)
            .dfa_size_limit(patterns::CACHE_BYTES_MAX);
        // The format `regex` would compile each text of a value as an expression, so its check is left out.
        let options = jsonschema::options().with_pattern_options(patterns).with_format("regex", |_: &str| true);
        options.build(&schema).map_err(|error| format!("not a JSON Schema: {}", error.masked()))
    });
    Ok(CompiledSchema { validator: compiled??, graph })
}

/// Checks a value and lists up to [`VIOLATIONS_SHOWN`] violations by JSON pointer. Values are masked, because
/// they may be large or private.
fn check_value(schema: &CompiledSchema, value: &Value) -> Result<(), String> {
    let too_complex = "too complex: its schema has too many ways to look at so deep or large a value";
    let work = work::count(&schema.graph, value).ok_or(too_complex)?;
    if work.depth <= INLINE_DEPTH_MAX {
        return check_and_locate(&schema.validator, value, work);
    }
    run_with_stack(CHECK_STACK_BYTES, || check_and_locate(&schema.validator, value, work))?
}

fn check_and_locate(validator: &jsonschema::Validator, value: &Value, work: CheckCost) -> Result<(), String> {
    if validator.is_valid(value) {
        return Ok(());
    }
    if work.applications.saturating_mul(work.depth as u64) > LOCATE_WORK_MAX {
        return Err("it is too large to say where".to_owned());
    }
    let mut errors = validator.iter_errors(value);
    let displayed: Vec<_> = errors
        .by_ref()
        .take(VIOLATIONS_SHOWN)
        .map(|error| {
            let at = error.instance_path().to_string();
            format!("{} {}", if at.is_empty() { "/" } else { &at }, error.masked())
        })
        .collect();
    let more = errors.count();
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    Err(format!("{}{more}", displayed.join("; ")))
}

/// Lists the violations of a schema that came with a plan. The schema is compiled for this one check.
///
/// # Errors
/// The reason why the schema is invalid or the check would take too much work.
pub fn misfits(schema: &Value, value: &Value) -> Result<Vec<SchemaMismatch>, String> {
    let schema = compile(&schema.to_string())?;
    let work = work::count(&schema.graph, value)
        .ok_or("checking a value this deep or large against it takes too much work")?;
    if work.depth <= INLINE_DEPTH_MAX {
        return Ok(locate_misfits(&schema.validator, value, work));
    }
    run_with_stack(CHECK_STACK_BYTES, || locate_misfits(&schema.validator, value, work))
}

fn locate_misfits(validator: &jsonschema::Validator, value: &Value, work: CheckCost) -> Vec<SchemaMismatch> {
    if validator.is_valid(value) {
        return vec![];
    }
    if work.applications.saturating_mul(work.depth as u64) > LOCATE_WORK_MAX {
        let why = "the values do not fit the schema; they are too large to list the violations".to_owned();
        return vec![SchemaMismatch::Wrong { pointer: String::new(), why }];
    }
    validator.iter_errors(value).take(MISFITS_MAX).flat_map(|error| misfits_of_error(&error)).collect()
}

fn misfits_of_error(error: &jsonschema::ValidationError<'_>) -> Vec<SchemaMismatch> {
    use jsonschema::error::ValidationErrorKind::{AdditionalProperties, Required, UnevaluatedProperties};
    let pointer = error.instance_path().to_string();
    match error.kind() {
        Required { property } => {
            vec![SchemaMismatch::Missing { pointer, name: property.as_str().unwrap_or_default().to_owned() }]
        }
        AdditionalProperties { unexpected } | UnevaluatedProperties { unexpected } => unexpected
            .iter()
            .map(|name| SchemaMismatch::Unknown { pointer: pointer.clone(), name: name.clone() })
            .collect(),
        _ => {
            let why = truncate::at_characters(&error.to_string(), REASON_CHARS_MAX).to_string();
            vec![SchemaMismatch::Wrong { pointer, why }]
        }
    }
}

/// Runs `work` on a separate thread with a stack of the given size.
fn run_with_stack<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> Result<T, String> {
    let thread = std::thread::Builder::new().name("latch-schema".to_owned()).stack_size(bytes);
    std::thread::scope(|scope| {
        let started = thread.spawn_scoped(scope, work).map_err(|error| format!("no thread to check it: {error}"))?;
        started.join().map_err(|_| "checking it failed".to_owned())
    })
}

#[cfg(test)]
mod tests {
    mod edges;

    use super::*;
    use serde_json::json;

    #[test]
    fn violations_are_located() {
        let object = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
        let schemas = Schemas::compile(object, "true").unwrap();
        schemas.check_input(&json!({"n": 1})).unwrap();
        let failure = schemas.check_input(&json!({"n": "secret"})).unwrap_err();
        assert_eq!(failure.code, Code::InvalidInput);
        assert!(failure.message.contains("/n"), "{failure}");
        assert!(!failure.message.contains("secret"), "{failure}");
    }

    #[test]
    fn both_invalid_schemas_are_reported() {
        let bad = Schemas::compile("{", r#"{"type":"nonsense"}"#).unwrap_err();
        assert_eq!(bad.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["input-schema", "output-schema"]);
    }
    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!(1), |inner, _| json!([inner]))
    }

    fn output(schema: &Value) -> Schemas {
        Schemas::compile("true", &schema.to_string()).unwrap()
    }

    /// Checks a value that must be refused, and returns the message. The check must finish quickly, on a thread with
    /// the stack size of a worker thread.
    fn refused_at_once(schema: &Value, value: Value) -> String {
        let schemas = output(schema);
        let check = move || schemas.check_output(&value).unwrap_err();
        let failure = std::thread::Builder::new().stack_size(2 << 20).spawn(check).unwrap().join().unwrap();
        assert_eq!(failure.code, Code::SchemaValidationFailed);
        failure.message
    }

    #[test]
    fn exponential_schema_is_refused_quickly() {
        // Each level of the value doubles the number of alternatives to evaluate.
        let branch = json!({"type": "array", "items": {"$ref": "#"}, "minItems": 1});
        let doubling = json!({"anyOf": [branch, branch]});
        for levels in [22, 60, 120] {
            assert!(refused_at_once(&doubling, nested(levels)).contains("too complex"));
        }
        let few = refused_at_once(&doubling, nested(3));
        assert!(few.contains("/ "), "few alternatives are located: {few}");
        // Each definition applies the next definition twice, so the work doubles with each definition.
        let mut definitions: serde_json::Map<String, Value> = (0..25)
            .map(|n| {
                let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
                (format!("d{n}"), json!({"allOf": [next, next]}))
            })
            .collect();
        definitions.insert("d25".to_owned(), json!({"type": "string"}));
        let dag = json!({"$ref": "#/$defs/d0", "$defs": definitions});
        assert!(refused_at_once(&dag, json!(1)).contains("too complex"));
    }

    #[test]
    fn deep_check_runs_on_a_large_stack() {
        // Each definition refers to the next definition. The last definition applies the whole schema to the items, so
        // the chain begins again at each level of the value.
        let definitions: serde_json::Map<String, Value> = (0..60)
            .map(|n| {
                let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
                (format!("d{n}"), if n == 59 { json!({"items": {"$ref": "#"}}) } else { next })
            })
            .collect();
        let row = json!({"$ref": "#/$defs/d0", "type": ["array", "number"], "$defs": definitions});
        output(&row).check_output(&nested(120)).unwrap();
        let plain = json!({"type": ["array", "string"], "items": {"$ref": "#"}});
        assert!(refused_at_once(&plain, nested(120)).contains("/0/0"));
        let nest = (0..30).fold(json!({"items": {"$ref": "#"}}), |inner, _| json!({"allOf": [inner]}));
        output(&nest).check_output(&nested(125)).unwrap();
    }

    #[test]
    fn unbounded_schemas_are_refused_at_load() {
        let chain: serde_json::Map<String, Value> =
            (0..100).map(|n| (format!("d{n}"), json!({"allOf": [{"$ref": format!("#/$defs/d{}", n + 1)}]}))).collect();
        let mut chain = json!({"$ref": "#/$defs/d0", "$defs": chain});
        chain["$defs"]["d100"] = json!({"items": {"$ref": "#"}});
        let deep = (0..80).fold(json!({}), |inner, _| json!({"not": inner}));
        let many: serde_json::Map<String, Value> = (0..2000).map(|n| (n.to_string(), json!({}))).collect();
        for (schema, why) in [
            (chain, "in a row"),
            (deep, "deep"),
            (json!({"properties": many}), "subschemas"),
            (json!({"$ref": "#"}), "never end"),
            (json!({"anyOf": [{"type": "null"}, {"not": {"$ref": "#"}}]}), "never end"),
            (json!({"$ref": "https://example.com/other"}), "lead"),
            (json!({"$ref": "#/nowhere"}), "lead"),
            (json!({"$defs": {"x": {"$id": "https://example.com/x"}}}), "$id"),
            (json!({"pattern": "(?=a)b"}), "JSON Schema"),
            (json!({"description": "x".repeat(300_000)}), "bytes"),
        ] {
            let text = schema.to_string();
            let refused = Schemas::compile(&text, "true").unwrap_err();
            assert!(refused[0].1.contains(why), "{why}: {refused:?}");
        }
    }

    /// I208. The time of a match grows with the text and with the pattern's automaton, and a check counts both.
    #[test]
    fn work_of_a_pattern_grows_with_its_states() {
        let long = json!("x".repeat(1_000_000));
        let slow = json!({"type": "string", "pattern": "^[xy]*x[xy]{1000}z$"});
        assert!(refused_at_once(&slow, long.clone()).contains("too complex"));
        assert!(refused_at_once(&slow, json!("xyxyz")).contains("does not match"));
        let by_name = json!({"patternProperties": {"^[xy]*x[xy]{1000}z$": true}});
        assert!(refused_at_once(&by_name, json!({ "x".repeat(1_000_000): 1 })).contains("too complex"));
        output(&json!({"pattern": "^x*$"})).check_output(&long).unwrap();
        for (pattern, text) in [
            (r"^\w+([.-]\w+)*@\w+(\.\w+)+$", "ada@example.org".to_owned()),
            (r"^\w{1,64}$", "x".repeat(64)),
            (r"^.{1,1000}$", "x".repeat(1_000)),
            (r"^\d{4}-\d{2}-\d{2}$", "2026-11-26".to_owned()),
        ] {
            output(&json!({ "pattern": pattern })).check_output(&json!(text)).unwrap();
        }
    }

    /// I208. A few bytes of a pattern cannot fill the memory of the host.
    #[test]
    fn large_patterns_are_refused_at_load() {
        let large = json!({"pattern": "^[xy]*x[xy]{200000}z$"});
        let many: serde_json::Map<String, Value> =
            (0..400).map(|n| (n.to_string(), json!({ "pattern": format!(r"^\p{{L}}+{n}$") }))).collect();
        for schema in [large, json!({ "properties": many })] {
            let refused = Schemas::compile("true", &schema.to_string()).map(|_| ()).unwrap_err();
            assert!(refused[0].1.contains("regular expressions"), "{refused:?}");
        }
    }

    #[test]
    fn common_schemas_are_checked() {
        let tree = json!({
            "$id": "https://example.com/tree", "$ref": "#/$defs/node",
            "$defs": {
                "node": {
                    "type": "object", "required": ["name"], "unevaluatedProperties": false,
                    "allOf": [{"properties": {"name": {"type": "string", "pattern": "^[a-z]+$"}}}],
                    "properties": {"children": {"type": "array", "uniqueItems": true, "items": {"$ref": "#/$defs/node"}}},
                },
            },
        });
        let leaf = |name: &str| json!({"name": name, "children": []});
        let schemas = output(&tree);
        schemas.check_output(&json!({"name": "a", "children": [leaf("b"), leaf("c")]})).unwrap();
        let failure = schemas.check_output(&json!({"name": "a", "children": [leaf("B")]})).unwrap_err();
        assert!(failure.message.contains("/children/0/name"), "{failure}");
        // A large answer is accepted if its structure is simple.
        let rows = json!({"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}});
        let many: Vec<_> = (0..50_000).map(|n| json!({"n": n})).collect();
        output(&rows).check_output(&json!(many)).unwrap();
    }
}
