//! Reads an evidence file: its lines, their order, the chain of its events, and its trailer.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::line::EvidenceLine;
use super::record::{
    Content, EffectRecord, EventRecord, EvidenceHeader, PayloadRecord, ResponseRecord, SignatureRecord, Trailer,
};
use super::report::{ProblemKind, VerifyReport};
use super::salts::Salts;
use super::{SCHEMAS, line, record, sign};
use crate::encoding::canon;
use crate::event::Event;
use crate::model::effect::Effect;
use crate::model::ids::{Hash, Slot};
use crate::rules::ledger::LedgerRow;
use crate::state::{Durable, Job, label};

/// A value and the number of its line.
pub(super) type AtLine<T> = (u64, T);

/// The records of an evidence file.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    pub(super) header: Option<AtLine<EvidenceHeader>>,
    pub(super) events: Vec<AtLine<Event>>,
    pub(super) rows: Vec<AtLine<LedgerRow>>,
    pub(super) effects: Vec<AtLine<EffectRecord>>,
    pub(super) payloads: Vec<AtLine<PayloadRecord>>,
    pub(super) response: Option<AtLine<Value>>,
    pub(super) signature: Option<AtLine<SignedMessage>>,
    trailer: Option<AtLine<Trailer>>,
}

/// A signature and the message that it signs.
#[derive(Clone, Debug)]
pub(super) struct SignedMessage {
    pub(super) record: SignatureRecord,
    pub(super) message: Vec<u8>,
}

/// Kinds of records, in the order required in a file.
const ORDER: [&str; 8] = ["header", "event", "ledger", "effect", "payload", "response", "trailer", "signature"];

/// Reads a file. Problems are added to the report.
///
/// # Errors
/// Returns the reason if the bytes are not an evidence file or have another format version.
pub(super) fn read(bytes: &[u8]) -> Result<(Evidence, VerifyReport), String> {
    let mut pieces: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let whole = pieces.pop_if(|last| last.is_empty()).is_some();
    let opened: Vec<Result<EvidenceLine, line::Damage>> = pieces.iter().map(|text| line::open(text)).collect();
    if !opened.iter().flatten().any(|line| ORDER.contains(&line.record.as_str())) {
        return Err("no line is an evidence record".to_owned());
    }
    if let Some(Ok(first)) = opened.first()
        && first.record == "header"
        && let Some(schema) = first.fields.get("schema").and_then(Value::as_str)
        && !SCHEMAS.contains(&schema)
    {
        let known = SCHEMAS.map(|schema| format!("{schema:?}")).join(" and ");
        return Err(format!("its format is {schema:?}, but this program reads {known}"));
    }
    let mut reader = EvidenceReader {
        evidence: Evidence::default(),
        report: VerifyReport::new(pieces.len() as u64),
        section: 0,
        next_number: 1,
        damaged_before: 0,
        offset: 0,
    };
    for (index, (text, line)) in pieces.iter().zip(opened).enumerate() {
        let at = index as u64 + 1;
        match line {
            Ok(line) => reader.line(at, bytes, text, line),
            Err(damage) => reader.damaged(at, damage),
        }
        reader.offset += text.len() + 1;
    }
    reader.end(whole);
    Ok((reader.evidence, reader.report))
}

struct EvidenceReader {
    evidence: Evidence,
    report: VerifyReport,
    /// Index of the current section in [`ORDER`].
    section: usize,
    next_number: u64,
    /// Number of damaged lines directly before the current line.
    damaged_before: u64,
    /// Byte offset of the current line in the file.
    offset: usize,
}

impl EvidenceReader {
    fn damaged(&mut self, at: u64, damage: line::Damage) {
        self.report.add_problem(at, ProblemKind::DamagedLine, damage.what, damage.expected, damage.found);
        self.damaged_before += 1;
    }

    fn line(&mut self, at: u64, file: &[u8], text: &[u8], line: EvidenceLine) {
        self.check_position(at, &line);
        let after_damage = std::mem::take(&mut self.damaged_before) > 0;
        let fields = Value::Object(line.fields);
        let evidence = &mut self.evidence;
        let twice = match line.record.as_str() {
            "header" => read_one(&mut self.report, at, fields, &mut evidence.header),
            "event" => {
                self.event(at, text, fields, after_damage);
                false
            }
            "ledger" => {
                match record::to_row(fields) {
                    Ok(row) => evidence.rows.push((at, row)),
                    Err(error) => bad_record(&mut self.report, at, "ledger", error),
                }
                false
            }
            "effect" => {
                evidence.effects.extend(read_record(&mut self.report, at, "effect", fields));
                false
            }
            "payload" => {
                evidence.payloads.extend(read_record(&mut self.report, at, "payload", fields));
                false
            }
            "response" => {
                let record: Option<AtLine<ResponseRecord>> = read_record(&mut self.report, at, "response", fields);
                let twice = evidence.response.is_some();
                evidence.response = evidence.response.take().or(record.map(|(at, record)| (at, record.response)));
                twice
            }
            "trailer" => {
                let twice = read_one(&mut self.report, at, fields, &mut evidence.trailer);
                if let Some((_, trailer)) = &evidence.trailer {
                    let found = Hash::of(&[&file[..self.offset]]);
                    // Skip the hash of a damaged file. The damage was already reported at the damaged line.
                    if found != trailer.sha256 && self.report.intact {
                        let message = "the lines before the trailer do not match its hash";
                        self.report.add_problem(at, ProblemKind::FileHash, message, trailer.sha256, found);
                    }
                }
                twice
            }
            "signature" => {
                let record: Option<AtLine<SignatureRecord>> = read_record(&mut self.report, at, "signature", fields);
                let twice = evidence.signature.is_some();
                if let Some((_, record)) = record {
                    evidence.signature =
                        Some((at, SignedMessage { record, message: sign::message(&file[..self.offset]) }));
                }
                twice
            }
            other => {
                let message = format!("unknown kind of record: {other:?}");
                self.report.add_problem(at, ProblemKind::DamagedLine, message, ORDER.join(", "), other);
                false
            }
        };
        if twice {
            let message = format!("duplicate {}", line.record);
            self.report.add_problem(at, ProblemKind::MissingLines, message, "one in a file", "another");
        }
    }

    /// Checks the number and kind of a line against the line's position.
    fn check_position(&mut self, at: u64, line: &EvidenceLine) {
        let (expected, number) = (self.next_number, line.number);
        // Damage may have split one original line into several, or joined two original lines. N damaged lines before
        // this line therefore stand for 1 to N + 1 original lines.
        let least = expected + self.damaged_before.min(1);
        let most = expected + if self.damaged_before > 0 { self.damaged_before + 1 } else { 0 };
        if number > most {
            let missing = match number - most {
                1 => format!("line {most} of the exported file is missing before this one"),
                _ => format!("lines {most} to {} of the exported file are missing before this one", number - 1),
            };
            self.report.add_problem(at, ProblemKind::MissingLines, missing, most, number);
        } else if number < least {
            let message = format!("line {number} of the exported file is here: it was moved, duplicated or inserted");
            self.report.add_problem(at, ProblemKind::MissingLines, message, expected, number);
        }
        self.next_number = expected.max(number + 1);
        if let Some(section) = ORDER.iter().position(|record| *record == line.record) {
            if section < self.section {
                let message = format!("a record {:?} follows the {:?} records", line.record, ORDER[self.section]);
                self.report.add_problem(at, ProblemKind::MissingLines, message, ORDER[self.section], &line.record);
            }
            self.section = self.section.max(section);
        }
    }

    fn event(&mut self, at: u64, text: &[u8], fields: Value, after_damage: bool) {
        let Some((_, record)) = read_record::<EventRecord>(&mut self.report, at, "event", fields) else { return };
        let text = std::str::from_utf8(text).expect("an opened line is JSON");
        let raw = canon::raw::fields(text).expect("an opened line is an object");
        let bytes = raw.iter().find(|(name, _)| name == "event").expect("it was read above").1.get().as_bytes();
        let found = Hash::of(&[&record.prev_hash.0, bytes]);
        if found != record.hash {
            self.report.add_problem(at, ProblemKind::Chain, "the event does not match its hash", record.hash, found);
            return;
        }
        let before = self.evidence.events.last().map(|(_, event)| event);
        let head = before.map_or_else(Hash::default, |event| event.hash);
        let next = before.map_or(0, |event| event.seq + 1);
        if record.prev_hash != head && !after_damage {
            let message = "the event does not follow the previous one: the chain is broken here";
            self.report.add_problem(at, ProblemKind::Chain, message, head, record.prev_hash);
        }
        let seq = record.event.get("seq").and_then(Value::as_u64);
        if seq != Some(next) && !after_damage {
            let found = seq.map_or_else(|| "none".to_owned(), |seq| seq.to_string());
            self.report.add_problem(at, ProblemKind::Chain, "the sequence number of the event is wrong", next, found);
        }
        match Event::parse(bytes, seq.unwrap_or(next), record.prev_hash) {
            Ok(event) => self.evidence.events.push((at, event)),
            Err(error) => {
                self.report.add_problem(at, ProblemKind::Chain, error.to_string(), "an event", line::excerpt(bytes))
            }
        }
    }

    fn end(&mut self, whole: bool) {
        let last = self.report.lines;
        if !whole {
            self.report.add_problem(
                last,
                ProblemKind::MissingLines,
                "the file ends in the middle of a line",
                "a line break",
                "",
            );
        }
        // A damaged line may be the record that seems to be missing.
        if self.report.problems.iter().any(|problem| problem.kind == ProblemKind::DamagedLine) {
            return;
        }
        let parts = [
            ("header", self.evidence.header.is_some(), 1),
            ("response", self.evidence.response.is_some(), last),
            ("trailer", self.evidence.trailer.is_some(), last),
        ];
        for (part, _, at) in parts.into_iter().filter(|(_, there, _)| !there) {
            let message = format!("the file has no {part}: it was truncated");
            self.report.add_problem(at, ProblemKind::MissingLines, message, part, "nothing");
        }
    }
}

/// Reads a record of a kind that may occur only once in a file. Returns true if the file already had a record of this
/// kind.
fn read_one<T: DeserializeOwned>(
    report: &mut VerifyReport,
    at: u64,
    fields: Value,
    place: &mut Option<AtLine<T>>,
) -> bool {
    let record = read_record(report, at, std::any::type_name::<T>().rsplit(':').next().unwrap_or_default(), fields);
    let twice = place.is_some();
    if !twice {
        *place = record;
    }
    twice
}

fn read_record<T: DeserializeOwned>(
    report: &mut VerifyReport,
    at: u64,
    name: &str,
    fields: Value,
) -> Option<AtLine<T>> {
    match serde_json::from_value(fields) {
        Ok(record) => Some((at, record)),
        Err(error) => {
            bad_record(report, at, name, error.to_string());
            None
        }
    }
}

fn bad_record(report: &mut VerifyReport, at: u64, name: &str, error: String) {
    report.add_problem(at, ProblemKind::DamagedLine, format!("the record {name} cannot be read"), name, error);
}

impl Evidence {
    /// Returns the header.
    pub fn header(&self) -> Option<&EvidenceHeader> {
        self.header.as_ref().map(|(_, header)| header)
    }

    /// Returns the line number of an event.
    pub(super) fn line_of(&self, seq: u64) -> u64 {
        let index = usize::try_from(seq).unwrap_or(usize::MAX).min(self.events.len().saturating_sub(1));
        self.events.get(index).map_or(1, |(at, _)| *at)
    }

    /// Returns the line number of the step's last checkpoint or failure. Returns the line number of the last event if
    /// the step never ended.
    pub fn line_of_step(&self, step: &crate::model::ids::StepId) -> u64 {
        let ended = |event: &Event| matches!(&event.body, crate::event::Body::StateCheckpointed { step_id, .. } | crate::event::Body::StepFailed { step_id, .. } if step_id == step);
        let found = self.events.iter().rev().find(|(_, event)| ended(event));
        found.or(self.events.last()).map_or(1, |(at, _)| *at)
    }

    /// Returns the events in order.
    pub fn events(&self) -> Vec<Event> {
        self.events.iter().map(|(_, event)| event.clone()).collect()
    }

    /// Returns the salts that the file contains.
    pub fn salts(&self) -> Salts {
        let effects = self.effects.iter().filter_map(|(_, e)| Some((label::answer(&e.slot, e.try_no), e.salt?)));
        let payloads = self.payloads.iter().filter_map(|(_, payload)| Some((payload.label.clone(), payload.salt?)));
        Salts::Labels(effects.chain(payloads).collect())
    }

    /// Returns the labels whose content is withheld.
    pub fn withheld(&self) -> Vec<String> {
        let effects = self.effects.iter().filter(|(_, effect)| effect.content == Content::Withheld);
        let effects = effects.map(|(_, effect)| label::answer(&effect.slot, effect.try_no));
        let payloads = self.payloads.iter().filter(|(_, payload)| payload.content == Content::Withheld);
        effects.chain(payloads.map(|(_, payload)| payload.label.clone())).collect()
    }

    /// Rebuilds the durable state of the job from the file. The file does not contain the job's secret, so
    /// hashes of payloads come from [`Evidence::salts`].
    pub(super) fn durable(&self, job: Job) -> Durable {
        let mut effects: BTreeMap<(Slot, u32), Arc<Effect>> = BTreeMap::new();
        for (_, record) in &self.effects {
            let effect = bytes_of(&record.content).and_then(|bytes| serde_json::from_slice(&bytes).ok());
            if let Some(effect) = effect {
                effects.insert((record.slot.clone(), record.try_no), Arc::new(effect));
            }
        }
        let payloads = self.payloads.iter();
        let payloads = payloads.filter_map(|(_, p)| Some((p.label.clone(), bytes_of(&p.content)?.into())));
        Durable {
            job,
            secret: Hash::default(),
            rows: self.rows.iter().map(|(_, row)| (row.slot.clone(), row.clone())).collect(),
            effects,
            payloads: payloads.collect(),
            compatible_inbox_ids: Vec::new(),
            prefetched: Default::default(),
        }
    }
}

/// Returns the bytes that the record itself contains. Returns `None` if the bytes are stored under another
/// label, withheld or not kept.
pub(super) fn bytes_of(content: &Content) -> Option<Vec<u8>> {
    match content {
        Content::Text(text) => Some(text.clone().into_bytes()),
        Content::Hex(text) => hex::decode(text).ok(),
        Content::SameAs(_) | Content::Withheld | Content::NotKept => None,
    }
}
