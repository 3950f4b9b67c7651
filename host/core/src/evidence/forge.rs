//! Test support: splits an evidence file into records, and builds a file from changed records. Recomputes every number,
//! sum and hash of the new file. Therefore only contradictions between independent records reveal a changed record.

use serde_json::{Map, Value};

use super::line;
use crate::encoding::canon;
use crate::model::ids::Hash;

/// A record: its kind and its fields.
pub(crate) type ForgedRecord = (String, Value);

/// Returns the records of a complete file.
pub(crate) fn parse_records(file: &[u8]) -> Vec<ForgedRecord> {
    let lines = file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let one = |text: &[u8]| {
        let line = line::open(text).expect("a whole line");
        (line.record, Value::Object(line.fields))
    };
    lines.map(one).collect()
}

/// Returns the file that consists of these records. Numbers and chains the events again, and adapts the job's row to
/// the new chain.
pub(crate) fn build_file(mut records: Vec<ForgedRecord>) -> Vec<u8> {
    let mut head = Hash::default();
    let mut count = 0u64;
    for (_, fields) in records.iter_mut().filter(|(record, _)| record == "event") {
        fields["event"]["seq"] = count.into();
        let bytes = canon::value_to_canonical(&fields["event"]);
        fields["prev_hash"] = head.to_hex().into();
        head = Hash::of(&[&head.0, &bytes]);
        fields["hash"] = head.to_hex().into();
        count += 1;
    }
    let mut file = Vec::new();
    for (index, (record, mut fields)) in records.into_iter().enumerate() {
        let number = index as u64 + 1;
        match record.as_str() {
            "header" => {
                fields["job"]["head"] = head.to_hex().into();
                fields["job"]["next_seq"] = count.into();
            }
            "trailer" => fields["sha256"] = Hash::of(&[&file]).to_hex().into(),
            _ => {}
        }
        let fields: Map<String, Value> = fields.as_object().expect("a record is an object").clone();
        file.extend_from_slice(&line::seal(&record, number, &fields));
        file.push(b'\n');
    }
    file
}
