//! Writes an evidence file: the contents of the stores for one job, line by line.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::record::{
    AnswerKind, Content, EffectRecord, EvidenceHeader, JobRecord, PayloadRecord, PluginRecord, ResponseRecord, Trailer,
};
use super::withhold::{UnknownLabel, Withhold};
use super::{SCHEMAS, line, payloads, record};
use crate::model::effect::Effect;
use crate::model::ids::{Hash, Operator};
use crate::model::keys;
use crate::model::manifest::PluginKind;
use crate::model::person::PublicKey;
use crate::response;
use crate::response::Response;
use crate::rules::cost::CostTotals;
use crate::state::{Durable, FoldError, Job, label};
use crate::storage::StoredJob;

/// Newest version of events in a file of the first format.
const FIRST_FORMAT_EVENTS: u32 = 2;

/// Contents of a file.
#[derive(Clone, Debug)]
pub struct Export<'a> {
    /// Everything that the store holds for the job.
    pub record: &'a StoredJob,
    /// Effects of the job, from the effect store.
    pub effects: &'a [Effect],
    /// Payloads to withhold.
    pub withhold: &'a Withhold,
    /// Program that writes the file, such as `latchwork 0.1.0`.
    pub program: &'a str,
    /// Current time, microseconds since 1970 UTC.
    pub exported_us: i64,
    /// Key that will sign the file, if any.
    pub signer: Option<PublicKey>,
}

/// Reason why a job cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The log is not a valid log of a job.
    #[error(transparent)]
    Log(#[from] FoldError),
    /// A label to withhold does not exist.
    #[error(transparent)]
    Label(#[from] UnknownLabel),
}

/// Returns the file up to and including its trailer.
///
/// # Errors
/// Returns the reason why the job cannot be exported. No partial file is returned.
pub fn write(export: &Export<'_>) -> Result<Vec<u8>, ExportError> {
    let durable = Durable::load(export.record.clone(), export.effects.to_vec())?;
    let effects = effects(export);
    let payloads = payloads(export, &durable);
    let labels: Vec<String> = effects.iter().map(|e| label::answer(&e.slot, e.try_no)).collect();
    let known: Vec<&str> = labels.iter().chain(payloads.iter().map(|p| &p.label)).map(String::as_str).collect();
    export.withhold.check(&known)?;
    let hidden = payloads::withheld_labels(&known, &payloads, export.withhold);

    let mut file = File::default();
    file.add("header", &header(export, &durable.job, &hidden));
    for event in &export.record.events {
        file.push(line::seal_event(file.next, &event.bytes, &event.hash, &event.prev_hash));
    }
    for row in durable.rows.values() {
        file.add("ledger", &record::from_row(row));
    }
    for (mut effect, label) in effects.into_iter().zip(labels) {
        if hidden.contains(&label) {
            (effect.salt, effect.content) = (None, Content::Withheld);
        }
        file.add("effect", &effect);
    }
    for mut payload in payloads {
        if hidden.contains(&payload.label) {
            (payload.salt, payload.content) = (None, Content::Withheld);
        }
        file.add("payload", &payload);
    }
    file.add("response", &ResponseRecord { response: bare_response(&durable) });
    let sha256 = Hash::of(&[&file.bytes]);
    file.add("trailer", &Trailer { sha256 });
    Ok(file.bytes)
}

struct File {
    bytes: Vec<u8>,
    next: u64,
}

impl Default for File {
    fn default() -> Self {
        Self { bytes: Vec::new(), next: 1 }
    }
}

impl File {
    fn add(&mut self, record: &str, fields: &impl serde::Serialize) {
        self.push(line::seal(record, self.next, fields));
    }
    fn push(&mut self, line: Vec<u8>) {
        self.bytes.extend_from_slice(&line);
        self.bytes.push(b'\n');
        self.next += 1;
    }
}

fn header(export: &Export<'_>, job: &Job, hidden: &BTreeSet<String>) -> EvidenceHeader {
    let StoredJob { row, secret, events, .. } = export.record;
    // The file of a job that an earlier version accepted keeps the earlier format, so that the earlier version can read
    // the file.
    let is_first_format = events.iter().all(|event| event.body.schema_version() <= FIRST_FORMAT_EVENTS);
    EvidenceHeader {
        schema: SCHEMAS[usize::from(!is_first_format)].to_owned(),
        program: export.program.to_owned(),
        exported_us: export.exported_us,
        job: JobRecord::new(row, job.header.request.of_same_kind(secret, &row.request_key)),
        engine_profile: job.header.engine_profile,
        plugins: plugins(job),
        withheld: hidden.iter().cloned().collect(),
        signer: export.signer.map(|key| key.to_string()),
    }
}

/// Returns the components of the operators that the job pinned, by name and digest.
pub(super) fn plugins(job: &Job) -> Vec<PluginRecord> {
    let mut plugins: BTreeMap<(&str, Hash), (&str, PluginKind, Vec<Operator>)> = BTreeMap::new();
    for (operator, pinned) in &job.header.operators {
        let entry = plugins.entry((&pinned.plugin, pinned.digest));
        entry.or_insert((&pinned.version, pinned.kind, Vec::new())).2.push(operator.clone());
    }
    plugins
        .into_iter()
        .map(|((plugin, digest), (version, kind, operators))| PluginRecord {
            plugin: plugin.to_owned(),
            version: version.to_owned(),
            digest,
            kind,
            operators,
        })
        .collect()
}

fn effects(export: &Export<'_>) -> Vec<EffectRecord> {
    let mut effects: Vec<&Effect> = export.effects.iter().collect();
    effects.sort_by(|a, b| (&a.slot, a.try_no).cmp(&(&b.slot, b.try_no)));
    let one = |effect: &Effect| {
        let salt = keys::payload_salt(&export.record.secret, &label::answer(&effect.slot, effect.try_no));
        let bytes = effect.to_bytes();
        EffectRecord {
            slot: effect.slot.clone(),
            try_no: effect.try_no,
            kind: AnswerKind::from(&effect.answer),
            provenance: effect.provenance,
            time_us: effect.time_us,
            hash: Hash::of(&[&salt.0, &bytes]),
            len: u32::try_from(bytes.len()).expect("answers are limited far below 4 GiB"),
            salt: Some(salt),
            content: content(&bytes),
        }
    };
    effects.into_iter().map(one).collect()
}

/// Returns the payloads of the payload table. For each other payload that an event references, returns a record with
/// its hash. The bytes of such a payload are stored under another label or not at all.
fn payloads(export: &Export<'_>, durable: &Durable) -> Vec<PayloadRecord> {
    let salt = |label: &str| keys::payload_salt(&export.record.secret, label);
    let mut all: BTreeMap<String, PayloadRecord> = BTreeMap::new();
    for payload in &export.record.payloads {
        let salt = salt(&payload.label);
        let reference =
            keys::payload_ref_from_salt(&salt, &payload.bytes).expect("payloads are limited far below 4 GiB");
        let record = PayloadRecord {
            label: payload.label.clone(),
            hash: reference.hash,
            len: reference.len,
            salt: Some(salt),
            content: content(&payload.bytes),
        };
        all.insert(payload.label.clone(), record);
    }
    for event in &export.record.events {
        for (label, reference) in payloads::references(event) {
            let Some(content) = payloads::content_elsewhere(&label, &durable.job) else { continue };
            let salt = Some(salt(&label));
            all.entry(label.clone()).or_insert(PayloadRecord {
                label,
                hash: reference.hash,
                len: reference.len,
                salt,
                content,
            });
        }
    }
    all.into_values().collect()
}

fn content(bytes: &[u8]) -> Content {
    match std::str::from_utf8(bytes) {
        Ok(text) => Content::Text(text.to_owned()),
        Err(_) => Content::Hex(hex::encode(bytes)),
    }
}

/// Returns the response without previews, outputs, arguments and costs, because other records of the file contain them.
/// Also leaves out the commands. Also leaves out the list of last steps, because this list follows from the plan.
pub(super) fn bare_response(durable: &Durable) -> Value {
    let mut response: Response = response::response(durable);
    response.next_actions.clear();
    response.cost = CostTotals::default();
    response.outputs.clear();
    response.last_steps.clear();
    response.outcomes.iter_mut().for_each(|outcome| outcome.preview.clear());
    response.blocked.iter_mut().chain(&mut response.blocked_on).for_each(|blocked| blocked.call = None);
    serde_json::to_value(response).expect("a response is plain data")
}
