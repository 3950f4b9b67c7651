//! For tests: a file taken apart and put together again by somebody who knows the format and
//! recomputes every number, sum and hash. What such a file still shows must come from witnesses
//! that do not agree.

use serde_json::{Map, Value};

use super::line;
use crate::canon;
use crate::ids::Hash;

/// A record: its kind and its fields.
pub(crate) type Record = (String, Value);

/// The records of a whole file.
pub(crate) fn take_apart(file: &[u8]) -> Vec<Record> {
    let lines = file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let one = |text: &[u8]| {
        let line = line::open(text).expect("a whole line");
        (line.record, Value::Object(line.fields))
    };
    lines.map(one).collect()
}

/// The file of these records: events numbered and chained anew, the job's row made to fit them.
pub(crate) fn put_together(mut records: Vec<Record>) -> Vec<u8> {
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
