//! Lines on stderr as JSON objects, with `--log-format json`.

use std::fmt;

use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use latchwork::runtime::TraceIds;
use latchwork_engine::os;
use latchwork_engine::os::Machine;

/// Formats log records as JSON lines. Adds the time to each record. If the trace id of a job is known, adds it to each
/// record about the job.
#[derive(Clone)]
pub(crate) struct RecordFormat {
    pub(super) machine: Machine,
    pub(super) trace_ids: TraceIds,
}

impl RecordFormat {
    /// Creates a format that takes the time of its records from `machine`. The hosts that get
    /// [`Printer::trace_ids`](crate::output::Printer::trace_ids) supply the trace ids.
    pub(crate) fn new(machine: Machine) -> Self {
        Self { machine, trace_ids: TraceIds::default() }
    }

    /// Formats one record, without its line end. If `fields` names a job, the trace id of the job is added.
    pub(super) fn line(&self, level: Level, message: &str, mut fields: Map<String, Value>) -> String {
        let trace = fields.get("job_id").and_then(Value::as_str).and_then(|job_id| self.trace_ids.get(job_id));
        if let Some(trace_id) = trace {
            fields.insert("trace_id".into(), json!(trace_id));
        }
        let now = humantime::format_rfc3339_micros(os::clock::system_time(self.machine.now_us()));
        fields.insert("time".into(), json!(now.to_string()));
        fields.insert("level".into(), json!(level.as_str()));
        fields.insert("message".into(), json!(message));
        Value::Object(fields).to_string()
    }
}

impl<S, N> FormatEvent<S, N> for RecordFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'w> FormatFields<'w> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut fields = LogFields::default();
        event.record(&mut fields);
        let LogFields { mut others, message } = fields;
        others.insert("target".into(), json!(event.metadata().target()));
        writeln!(writer, "{}", self.line(*event.metadata().level(), &message, others))
    }
}

/// Fields of a log record.
#[derive(Default)]
struct LogFields {
    message: String,
    others: Map<String, Value>,
}

impl LogFields {
    fn add(&mut self, field: &Field, value: Value) {
        self.others.insert(field.name().to_owned(), value);
    }
}

impl Visit for LogFields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        match field.name() {
            "message" => self.message = text,
            _ => self.add(field, Value::String(text)),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => value.clone_into(&mut self.message),
            _ => self.add(field, json!(value)),
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, json!(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, json!(value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, json!(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, json!(value));
    }
}
