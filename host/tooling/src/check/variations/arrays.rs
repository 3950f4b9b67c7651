//! Changes of an array.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::check::variations::change::ValueChange;
use crate::check::variations::continued::{of_rising, of_steps};
use crate::check::variations::depths::{of_counts, of_predecessors};
use crate::check::variations::edges::of_edges;
use crate::check::variations::numbering::numbered;
use crate::check::variations::parts::of_lines;
use crate::check::variations::positions::of_positions;
use crate::check::variations::references::{long_chains, of_elements, with_member};
use crate::check::variations::schema_sample::LocatedSchema;

/// Numbers of elements of a long array. The first one that is allowed is used.
const ELEMENTS: [usize; 5] = [12_000, 10_000, 1_000, 200, 40];
/// Numbers of elements of a long array in which the texts of all elements differ. Of each group, the first one that is
/// allowed is used. The second group has more elements than an answer of a tool may have changes.
const VERY_MANY_DISTINCT: [&[usize]; 2] = [&[12_000, 10_000, 2_000], &[1_200, 1_000]];
/// Numbers of rows and of columns of a large grid. The first one that is allowed is used.
const GRIDS: [usize; 3] = [180, 60, 20];
/// Maximum number of different cells of which a grid is made.
const CELLS_MAX: usize = 4;
/// Number of elements of a short array in which the texts of all elements differ.
const DISTINCT: usize = 12;
/// Numbers of elements of a longer one. The first one that is allowed is used.
const MANY_DISTINCT: [usize; 5] = [60, 40, 30, 24, 18];
/// Maximum number of levels of an element in which texts are changed.
const DEPTH_MAX: usize = 4;
/// Maximum number of members for which there is an array of elements that differ only in this member.
const EQUAL_MAX: usize = 2;
/// Numbers that replace a number in all elements of an array.
const ALL_ELEMENTS: [i64; 2] = [10_000, 0];

/// Returns the changes of an array. Of each group, the first change that is allowed is made.
pub(super) fn of_array(elements: &[Value], schema: &LocatedSchema<'_>) -> Vec<Vec<ValueChange>> {
    let one = |what: &str, elements: Vec<Value>| vec![ValueChange::to(what, elements)];
    let mut groups = vec![one("no elements", vec![])];
    let Some(first) = elements.first() else { return groups };
    for (name, tied) in ties(elements) {
        groups.push(one(&format!("elements with equal values of {name:?}"), tied));
    }
    for (name, number, changed) in numbers(elements) {
        groups.push(one(&format!("elements with the number {number} as {name:?}"), changed));
    }
    if let Some(objects) = objects(elements) {
        groups.extend(of_elements(&objects));
    }
    for (cell, grids) in grids(elements) {
        groups
            .push(grids.into_iter().map(|grid| ValueChange::large(&format!("a large grid of {cell}"), grid)).collect());
    }
    let other_texts = |count: &usize| {
        let what = format!("{count} elements with other texts");
        ValueChange::to(what, distinct(elements, *count, &schema.items()))
    };
    groups.push(vec![other_texts(&DISTINCT)]);
    groups.push(MANY_DISTINCT.iter().map(other_texts).collect());
    groups.push(one("one element", vec![first.clone()]));
    groups.push(one("an element twice", elements.iter().chain([first]).cloned().collect()));
    groups.push(one("elements in reverse order", elements.iter().rev().cloned().collect()));
    let many = |count: usize| -> Vec<Value> { elements.iter().cycle().take(count).cloned().collect() };
    groups.push(ELEMENTS.iter().map(|count| ValueChange::large("many elements", many(*count))).collect());
    let large = |count: &usize| {
        let what = format!("{count} elements with other texts");
        ValueChange::large(&what, distinct(elements, *count, &schema.items()))
    };
    groups.extend(VERY_MANY_DISTINCT.iter().map(|counts| counts.iter().map(large).collect()));
    groups.extend(objects(elements).iter().flat_map(|objects| long_chains(objects)));
    groups
}

/// Returns the changes that let an array grow, so that a result becomes deep, or elements are equal in most members.
pub(super) fn grown(elements: &[Value], schema: &LocatedSchema<'_>) -> Vec<Vec<ValueChange>> {
    let mut groups: Vec<Vec<ValueChange>> = of_lines(elements).into_iter().collect();
    if let Some(objects) = objects(elements) {
        for (name, equal) in equal_but_for_one(&objects, &schema.items()) {
            groups.push(vec![ValueChange::to(format!("elements that differ only in {name:?}"), equal)]);
        }
    }
    let within: Vec<Value> = copies(elements, DISTINCT, &schema.items(), |_| DEPTH_MAX);
    if !elements.is_empty() && within != distinct(elements, DISTINCT, &schema.items()) {
        groups.push(vec![ValueChange::to(format!("{DISTINCT} elements with other texts in all levels"), within)]);
    }
    let all: Option<Vec<&Map<String, Value>>> = elements.iter().map(Value::as_object).collect();
    let all = all.unwrap_or_default();
    groups.extend(of_counts(&all, &schema.items()));
    groups.extend(of_predecessors(&all));
    groups.extend(of_steps(&all, &schema.items()));
    groups.extend(of_rising(&all, &schema.items()));
    groups.extend(of_positions(&all));
    groups.push(of_edges(elements));
    groups
}

/// Returns `count` copies of these elements. Each copy has its number in its texts, so no two copies have equal texts.
/// `schema` is the schema of an element. Texts of an enumeration stay.
pub(super) fn distinct(elements: &[Value], count: usize, schema: &LocatedSchema<'_>) -> Vec<Value> {
    copies(elements, count, schema, |element| usize::from(element.is_object()))
}

/// Returns `count` copies of these elements with other texts. `depth` returns the number of levels of an element in which
/// texts are changed.
fn copies(elements: &[Value], count: usize, schema: &LocatedSchema<'_>, depth: impl Fn(&Value) -> usize) -> Vec<Value> {
    let numbered = |(number, element): (usize, &Value)| numbered(element, number, schema, depth(element));
    elements.iter().cycle().take(count).enumerate().map(numbered).collect()
}

/// Returns one array for each member that is a text in all elements and differs in some of them. The elements have
/// their own values of this member, and all other values are those of the first element.
fn equal_but_for_one(objects: &[&Map<String, Value>], schema: &LocatedSchema<'_>) -> Vec<(String, Vec<Value>)> {
    let [first, others @ ..] = objects else { return vec![] };
    let equal = |(name, value): (&String, &Value)| {
        let is_text = objects.iter().all(|object| object.get(name).is_some_and(Value::is_string));
        let is_own = is_text && !schema.property(name).is_fixed() && others.iter().any(|other| other[name] != *value);
        let with_own = |object: &&Map<String, Value>| {
            let mut element = (*first).clone();
            element.insert(name.clone(), object[name].clone());
            Value::Object(element)
        };
        is_own.then(|| (name.clone(), objects.iter().map(with_own).collect()))
    };
    first.iter().filter_map(equal).take(EQUAL_MAX).collect()
}

/// The elements as objects, if there are at least two and all are objects.
fn objects(elements: &[Value]) -> Option<Vec<&Map<String, Value>>> {
    let objects: Option<Vec<&Map<String, Value>>> = elements.iter().map(Value::as_object).collect();
    objects.filter(|objects| objects.len() > 1)
}

/// Returns one array for each member that is a number or a text in all elements. In the array for a member, this member
/// has the value of the first element in all elements.
fn ties(elements: &[Value]) -> Vec<(String, Vec<Value>)> {
    let Some(objects) = objects(elements) else { return vec![] };
    let is_scalar = |value: &Value| value.is_number() || value.is_string();
    let tied = |(name, value): (&String, &Value)| {
        let is_tied = objects.iter().all(|object| object.get(name).is_some_and(is_scalar));
        is_tied.then(|| (name.clone(), with_member(&objects, name, |_| value.clone())))
    };
    objects[0].iter().filter_map(tied).collect()
}

/// Returns several arrays for each member that is a number in all elements. In one array, the member has one number of
/// `ALL_ELEMENTS` in all elements.
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

/// Returns large grids for an array whose elements are rows. A row is a text or an array. In one grid, all cells are
/// equal, and their value is a cell of the rows.
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
