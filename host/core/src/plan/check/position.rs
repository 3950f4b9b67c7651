//! Positions of JSON values in the text of a plan.

use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::encoding::canon::raw;
use crate::plan::bindings::child;

/// Offsets of all values in a text that is valid JSON. They are computed only for an invalid plan, so a valid plan
/// costs no extra time.
pub(super) struct Positions<'a> {
    text: &'a [u8],
    offsets: HashMap<String, usize>,
    /// Offset of the start of each line.
    lines: Vec<usize>,
}

impl<'a> Positions<'a> {
    pub(super) fn of(text: &'a [u8]) -> Self {
        let newlines = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let lines = std::iter::once(0).chain(newlines.map(|(index, _)| index + 1)).collect();
        let mut positions = Self { text, offsets: HashMap::new(), lines };
        let root: &RawValue = serde_json::from_slice(text).expect("it has been parsed before");
        positions.add(String::new(), root);
        positions
    }

    /// Returns the offset of the value at `pointer`. If this value does not exist, returns the offset of its nearest
    /// enclosing value.
    pub(super) fn offset(&self, pointer: &str) -> usize {
        let mut pointer = pointer;
        loop {
            if let Some(offset) = self.offsets.get(pointer) {
                return *offset;
            }
            pointer = pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
        }
    }

    /// Returns line and column of an offset, both from 1. The column counts characters.
    pub(super) fn line_column(&self, offset: usize) -> (usize, usize) {
        let line = self.lines.partition_point(|start| *start <= offset);
        let before = &self.text[self.lines[line - 1]..offset];
        (line, before.iter().filter(|byte| **byte & 0xC0 != 0x80).count() + 1)
    }

    fn add(&mut self, pointer: String, raw: &RawValue) {
        // A raw value borrows from the text of the plan, so its address gives its offset in the text.
        let offset = raw.get().as_ptr().addr() - self.text.as_ptr().addr();
        for (key, inner) in children(raw).expect("it has been parsed before") {
            self.add(child(&pointer, &key), inner);
        }
        // If a key occurs twice, the first occurrence counts.
        self.offsets.entry(pointer).or_insert(offset);
    }
}

/// Returns the direct children of a value, by key or index.
fn children(raw: &RawValue) -> Result<Vec<(String, &RawValue)>, serde_json::Error> {
    match raw.get().as_bytes().first() {
        Some(b'{') => raw::fields(raw.get()),
        Some(b'[') => {
            let items = raw::items(raw.get())?.into_iter().enumerate();
            Ok(items.map(|(index, item)| (index.to_string(), item)).collect())
        }
        _ => Ok(Vec::new()),
    }
}
