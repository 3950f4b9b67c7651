//! Other values than those of the cases: each differs from the value of a case in one place, or in all numbers.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::check::schema_sample::{Schema, sample};

/// Maximum number of elements of an array that are changed by themselves.
const ELEMENTS_MAX: usize = 3;
/// Lengths of texts of emoji, in characters. The first one that is allowed is used.
const TEXT_LENGTHS: [usize; 4] = [300, 60, 24, 6];
/// Length of a very long text, in characters: more than an entry of the map can hold.
const LONG_TEXT: usize = 70_000;
/// Numbers of elements of a long array. The first one that is allowed is used.
const ELEMENTS: [usize; 4] = [10_000, 1_000, 200, 40];
/// Numbers of rows and of columns of a large grid. The first one that is allowed is used.
const GRIDS: [usize; 3] = [180, 60, 20];
/// Maximum number of different cells of which a grid is made.
const CELLS_MAX: usize = 4;
/// Numbers that replace a number.
const NUMBERS: [i64; 9] = [0, -1, 1, 2, 10, 40, 99, 999, 10_000];
/// Numbers that replace all numbers at once. They are odd, because a double holds a large product of even numbers exactly.
const ALL_NUMBERS: [i64; 3] = [999_983, 997, 53];
/// Numbers that replace a number in all elements of an array.
const ALL_ELEMENTS: [i64; 2] = [10_000, 0];
/// A number whose sums and products stay below 2^53 in most steps.
const LARGE: i32 = i32::MAX;

/// A value and what was changed, such as `an empty text at "/title"`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Variation {
    pub(super) what: String,
    pub(super) value: Value,
    /// True if the value is much larger than that of the case.
    pub(super) is_large: bool,
}

/// A change of the value at a place. `None` removes the value.
struct Change {
    what: String,
    value: Option<Value>,
    is_large: bool,
}

impl Change {
    fn to(what: impl Into<String>, value: impl Into<Value>) -> Self {
        Self { what: what.into(), value: Some(value.into()), is_large: false }
    }

    fn large(what: &str, value: impl Into<Value>) -> Self {
        Self { is_large: true, ..Self::to(what, value) }
    }
}

/// A value in the varied value.
struct Place<'v> {
    pointer: String,
    value: &'v Value,
    schema: Schema<'v>,
}

/// Returns variations that are allowed, at most `max`, spread over all places of the value. `schema` is that of the value.
pub(super) fn variations(
    value: &Value,
    schema: &Value,
    max: usize,
    is_allowed: impl Fn(&Value) -> bool,
) -> Vec<Variation> {
    let mut places = Vec::new();
    collect_places(value, Schema::of(schema), String::new(), &mut places);
    let of_all = all_numbers(value, &places, &is_allowed);
    let of_place = |place: &Place<'_>| -> std::vec::IntoIter<Variation> {
        let mut found = Vec::new();
        for alternatives in changes(place) {
            let variation = |change: Change| {
                let value = replaced(value, &place.pointer, change.value)?;
                let what = format!("{} at {:?}", change.what, place.pointer);
                is_allowed(&value).then_some(Variation { what, value, is_large: change.is_large })
            };
            found.extend(alternatives.into_iter().find_map(variation));
        }
        found.into_iter()
    };
    let mut of_places: Vec<_> = std::iter::once(of_all.into_iter()).chain(places.iter().map(of_place)).collect();
    // One of each place in turn, so that a large array leaves room for the other places.
    let mut all: Vec<Variation> = Vec::new();
    while all.len() < max && of_places.iter().any(|left| left.len() > 0) {
        for next in of_places.iter_mut().filter_map(Iterator::next) {
            if all.len() < max && next.value != *value && all.iter().all(|other| other.value != next.value) {
                all.push(next);
            }
        }
    }
    all
}

/// Collects all values, outer values first.
fn collect_places<'v>(value: &'v Value, schema: Schema<'v>, pointer: String, places: &mut Vec<Place<'v>>) {
    match value {
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate().take(ELEMENTS_MAX).rev() {
                collect_places(element, schema.items(), format!("{pointer}/{index}"), places);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                let escaped = name.replace('~', "~0").replace('/', "~1");
                collect_places(member, schema.property(name), format!("{pointer}/{escaped}"), places);
            }
        }
        _ => {}
    }
    places.push(Place { pointer, value, schema });
}

/// Replaces all numbers at once: a sum, a product or a limit can depend on several of them.
fn all_numbers(value: &Value, places: &[Place<'_>], is_allowed: &impl Fn(&Value) -> bool) -> Vec<Variation> {
    let numbers: Vec<&Place<'_>> = places.iter().filter(|place| place.value.is_number()).collect();
    let with = |number: i64| {
        let mut varied = value.clone();
        for place in &numbers {
            // The usual number stays if the other one is not allowed.
            if let Some(other) =
                replaced(&varied, &place.pointer, Some(number.into())).filter(|other| is_allowed(other))
            {
                varied = other;
            }
        }
        Variation { what: format!("{number} for all numbers"), value: varied, is_large: false }
    };
    if numbers.len() < 2 { vec![] } else { ALL_NUMBERS.into_iter().map(with).collect() }
}

/// Returns a value in which the one at a place is another one, or is missing.
fn replaced(value: &Value, pointer: &str, other: Option<Value>) -> Option<Value> {
    let mut value = value.clone();
    let Some(other) = other else {
        let (parent, name) = pointer.rsplit_once('/')?;
        let members = value.pointer_mut(parent)?.as_object_mut()?;
        members.remove(&name.replace("~1", "/").replace("~0", "~"))?;
        return Some(value);
    };
    *value.pointer_mut(pointer)? = other;
    Some(value)
}

/// Returns the changes of a value. Of each group, the first change that is allowed is made.
fn changes(place: &Place<'_>) -> Vec<Vec<Change>> {
    let mut groups = match place.value {
        Value::Null => vec![],
        Value::Bool(value) => vec![vec![Change::to("the other truth value", !value)]],
        Value::Number(number) => of_number(number.is_f64()),
        Value::String(text) => of_text(text),
        Value::Array(elements) => of_array(elements),
        Value::Object(members) => of_object(members, &place.schema),
    };
    groups
        .extend(place.schema.alternatives().map(|other| vec![Change::to(format!("the value {other}"), other.clone())]));
    if !place.pointer.is_empty() {
        groups.push(vec![Change { what: "no value".to_owned(), value: None, is_large: false }]);
    }
    groups
}

fn of_number(is_fraction: bool) -> Vec<Vec<Change>> {
    let mut groups: Vec<Vec<Change>> =
        NUMBERS.into_iter().map(|number| vec![Change::to(format!("the number {number}"), number)]).collect();
    groups.insert(2, vec![Change::large("a large number", LARGE)]);
    if is_fraction {
        groups.push(vec![Change::to("a small number", 1e-9)]);
    }
    groups
}

fn of_text(text: &str) -> Vec<Vec<Change>> {
    // A text that is cut within a character has no canonical form. Whatever the length, one of two texts whose characters
    // begin at other places is cut within one.
    let emoji = |what: &str, first: &str| -> Vec<Change> {
        let text = |length: usize| format!("{first}{}", "\u{1f600}".repeat(length - 1));
        TEXT_LENGTHS.iter().map(|length| Change::to(what, text(*length))).collect()
    };
    vec![
        vec![Change::to("an empty text", "")],
        emoji("a text of emoji", "\u{1f600}"),
        emoji("a text of emoji after a letter", "a"),
        vec![Change::to("a blank text", " ")],
        vec![Change::to("another text", format!("{text}x"))],
        vec![Change::large("a very long text", "x".repeat(LONG_TEXT))],
    ]
}

fn of_array(elements: &[Value]) -> Vec<Vec<Change>> {
    let one = |what: &str, elements: Vec<Value>| vec![Change::to(what, elements)];
    let mut groups = vec![one("no elements", vec![])];
    let Some(first) = elements.first() else { return groups };
    for (name, tied) in ties(elements) {
        groups.push(one(&format!("elements with equal values of {name:?}"), tied));
    }
    for (name, number, changed) in numbers(elements) {
        groups.push(one(&format!("elements with the number {number} as {name:?}"), changed));
    }
    for (name, of, looped) in loops(elements) {
        groups.push(one(&format!("elements whose {name:?} is their own {of:?}"), looped));
    }
    for (cell, grids) in grids(elements) {
        groups.push(grids.into_iter().map(|grid| Change::large(&format!("a large grid of {cell}"), grid)).collect());
    }
    groups.push(one("one element", vec![first.clone()]));
    groups.push(one("an element twice", elements.iter().chain([first]).cloned().collect()));
    groups.push(one("elements in reverse order", elements.iter().rev().cloned().collect()));
    let many = |count: usize| -> Vec<Value> { elements.iter().cycle().take(count).cloned().collect() };
    groups.push(ELEMENTS.iter().map(|count| Change::large("many elements", many(*count))).collect());
    groups
}

/// Members that the schema names and the value does not have.
fn of_object(members: &Map<String, Value>, schema: &Schema<'_>) -> Vec<Vec<Change>> {
    let added = |(name, of_member): (&String, Schema<'_>)| {
        let mut members = members.clone();
        members.insert(name.clone(), sample(&of_member)?);
        Some(vec![Change::to(format!("a value for {name:?}"), members)])
    };
    schema.properties().filter(|(name, _)| !members.contains_key(*name)).filter_map(added).collect()
}

/// The elements as objects, if there are at least two and all are objects.
fn objects(elements: &[Value]) -> Option<Vec<&Map<String, Value>>> {
    let objects: Option<Vec<&Map<String, Value>>> = elements.iter().map(Value::as_object).collect();
    objects.filter(|objects| objects.len() > 1)
}

/// Returns, for each member that is a number or a text in all elements, the elements with the value of the first one.
fn ties(elements: &[Value]) -> Vec<(String, Vec<Value>)> {
    let Some(objects) = objects(elements) else { return vec![] };
    let is_scalar = |value: &Value| value.is_number() || value.is_string();
    let tied = |(name, value): (&String, &Value)| {
        let is_tied = objects.iter().all(|object| object.get(name).is_some_and(is_scalar));
        is_tied.then(|| (name.clone(), with_member(&objects, name, |_| value.clone())))
    };
    objects[0].iter().filter_map(tied).collect()
}

/// Returns, for each member that is a number in all elements, the elements with other numbers.
fn numbers(elements: &[Value]) -> Vec<(String, i64, Vec<Value>)> {
    let Some(objects) = objects(elements) else { return vec![] };
    let is_number = |name: &&String| objects.iter().all(|object| object.get(*name).is_some_and(Value::is_number));
    let names = objects[0].keys().filter(is_number);
    names
        .flat_map(|name| {
            ALL_ELEMENTS.map(|number| (name.clone(), number, with_member(&objects, name, |_| number.into())))
        })
        .collect()
}

/// Returns large grids for an array whose elements are rows: texts or arrays. Each grid is filled with one of the cells.
fn grids(elements: &[Value]) -> Vec<(String, Vec<Vec<Value>>)> {
    let square = |row: &dyn Fn(usize) -> Value| GRIDS.iter().map(|size| vec![row(*size); *size]).collect();
    if let Some(rows) = elements.iter().map(Value::as_str).collect::<Option<Vec<&str>>>() {
        let cells: BTreeSet<char> = rows.iter().flat_map(|row| row.chars()).collect();
        let grid = |cell: char| (format!("{cell:?}"), square(&|size| cell.to_string().repeat(size).into()));
        return cells.into_iter().take(CELLS_MAX).map(grid).collect();
    }
    let rows: Option<Vec<&Vec<Value>>> = elements.iter().map(Value::as_array).collect();
    let mut cells: Vec<&Value> = Vec::new();
    for cell in rows.into_iter().flatten().flatten().filter(|cell| !cell.is_object()) {
        if cells.len() < CELLS_MAX && !cells.contains(&cell) {
            cells.push(cell);
        }
    }
    let grid = |cell: &Value| (cell.to_string(), square(&|size| Value::Array(vec![cell.clone(); size])));
    cells.into_iter().map(grid).collect()
}

/// Returns, for each two members that are texts in an element, the elements in which the first one has the value of the
/// second one: a reference of an element to itself.
fn loops(elements: &[Value]) -> Vec<(String, String, Vec<Value>)> {
    let Some(objects) = objects(elements) else { return vec![] };
    let is_text = |name: &&String| objects.iter().any(|object| object.get(*name).is_some_and(Value::is_string));
    let mut names: Vec<&String> = objects.iter().flat_map(|object| object.keys()).filter(is_text).collect();
    names.sort();
    names.dedup();
    let mut found = Vec::new();
    for name in &names {
        for of in names.iter().filter(|of| *of != name) {
            let own = |object: &Map<String, Value>| object.get(*of).cloned().unwrap_or_default();
            found.push(((*name).clone(), (*of).clone(), with_member(&objects, name, own)));
        }
    }
    found
}

fn with_member(
    objects: &[&Map<String, Value>],
    name: &str,
    value: impl Fn(&Map<String, Value>) -> Value,
) -> Vec<Value> {
    let with_value = |object: &&Map<String, Value>| {
        let mut changed = (*object).clone();
        changed.insert(name.to_owned(), value(object));
        Value::Object(changed)
    };
    objects.iter().map(with_value).collect()
}

/// Returns values of the same form, as of another call: in each, one text has another letter, or one number is greater by 1.
pub(super) fn neighbours(value: &Value, is_allowed: impl Fn(&Value) -> bool) -> Vec<Value> {
    let mut places = Vec::new();
    collect_places(value, Schema::of(&Value::Null), String::new(), &mut places);
    let other = |place: &Place<'_>| {
        let other: Value = match place.value {
            Value::String(text) => format!("{text}x").into(),
            Value::Number(number) => (number.as_i64()? + 1).into(),
            _ => return None,
        };
        replaced(value, &place.pointer, Some(other)).filter(&is_allowed)
    };
    places.iter().filter_map(other).collect()
}

/// Returns the numbers in a value with their pointers.
pub(super) fn number_places(value: &Value) -> Vec<(String, f64)> {
    let mut places = Vec::new();
    collect_places(value, Schema::of(&Value::Null), String::new(), &mut places);
    places.into_iter().filter_map(|place| Some((place.pointer, place.value.as_f64()?))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: &Value, schema: &Value) -> Vec<Variation> {
        variations(value, schema, 10_000, |_| true)
    }

    /// Asserts that there is such a variation.
    fn has(found: &[Variation], what: &str, expected: &Value) {
        let variation = found.iter().find(|variation| variation.what == what);
        assert_eq!(variation.map(|variation| &variation.value), Some(expected), "{what}");
    }

    #[test]
    fn each_variation_differs_in_one_value_or_in_all_numbers() {
        let input = json!({ "title": "snow", "pages": [{ "a/b": 1.5, "ok": true }, { "a/b": 2.5, "ok": true }] });
        let found = of(&input, &json!({}));
        has(&found, "an empty text at \"/title\"", &json!({ "title": "", "pages": input["pages"] }));
        has(&found, "no value at \"/title\"", &json!({ "pages": input["pages"] }));
        has(&found, "no elements at \"/pages\"", &json!({ "title": "snow", "pages": [] }));
        let with = |pages: Value| json!({ "title": "snow", "pages": pages });
        let tied = json!([{ "a/b": 1.5, "ok": true }, { "a/b": 1.5, "ok": true }]);
        has(&found, "elements with equal values of \"a/b\" at \"/pages\"", &with(tied));
        let zero = json!([{ "a/b": 0, "ok": true }, { "a/b": 2.5, "ok": true }]);
        has(&found, "the number 0 at \"/pages/0/a~1b\"", &with(zero));
        has(&found, "no value at \"/pages/0/a~1b\"", &with(json!([{ "ok": true }, { "a/b": 2.5, "ok": true }])));
        let all = json!([{ "a/b": 53, "ok": true }, { "a/b": 53, "ok": true }]);
        has(&found, "53 for all numbers", &with(all));
        assert!(found.iter().all(|variation| variation.value != input));
    }

    #[test]
    fn elements_refer_to_themselves_and_missing_members_have_values() {
        let input = json!([{ "name": "a", "within": "b" }, { "name": "b" }]);
        let schema = json!({
            "items": { "$ref": "#/$defs/place" },
            "$defs": { "place": { "type": "object", "properties": { "size": { "type": "integer", "minimum": 3 } } } },
        });
        let found = of(&input, &schema);
        let looped = json!([{ "name": "a", "within": "a" }, { "name": "b", "within": "b" }]);
        has(&found, "elements whose \"within\" is their own \"name\" at \"\"", &looped);
        let sized = json!([{ "name": "a", "within": "b", "size": 3 }, { "name": "b" }]);
        has(&found, "a value for \"size\" at \"/0\"", &sized);
    }

    #[test]
    fn neighbours_differ_in_one_text_or_number() {
        let is_small = |value: &Value| value["b"] != 3;
        let found = neighbours(&json!({ "a": "x", "b": 2, "c": [true, "y"] }), is_small);
        let expected = [json!({ "a": "xx", "b": 2, "c": [true, "y"] }), json!({ "a": "x", "b": 2, "c": [true, "yx"] })];
        assert_eq!(found, expected);
    }

    #[test]
    fn grids_have_one_of_the_cells() {
        for (input, cell, row) in
            [(json!(["..~", "~.."]), "'~'", json!("~".repeat(20))), (json!([[0, 1], [1, 1]]), "1", json!(vec![1; 20]))]
        {
            let is_small = |input: &Value| input.as_array().is_some_and(|rows| rows.len() <= 20);
            let found = variations(&input, &json!({}), 1_000, is_small);
            has(&found, &format!("a large grid of {cell} at \"\""), &json!(vec![row; 20]));
        }
    }

    #[test]
    fn variations_are_allowed_and_spread_over_the_places() {
        let is_short = |input: &Value| input["a"].as_str().is_none_or(|text| text.chars().count() <= 24);
        let found = variations(&json!({ "a": "x", "b": 1, "c": [] }), &json!({}), 6, is_short);
        assert_eq!(found.len(), 6);
        for name in ["a", "b"] {
            let place = format!("{:?}", format!("/{name}"));
            assert!(found.iter().any(|variation| variation.what.ends_with(&place)), "{found:?}");
        }
        let long = variations(&json!({ "a": "x" }), &json!({}), 100, is_short);
        let emoji = long.iter().find(|variation| variation.what.starts_with("a text of emoji at"));
        assert_eq!(emoji.unwrap().value["a"], "\u{1f600}".repeat(24));
        assert!(long.iter().all(|variation| !variation.is_large));
    }
}
