//! Changes of an array.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::{Map, Value};

use crate::check::variations::change::ValueChange;
use crate::check::variations::continued::{of_rising, of_steps};
use crate::check::variations::depths::{of_counts, of_predecessors};
use crate::check::variations::edges::of_edges;
use crate::check::variations::numbering::{is_name, numbered, numbered_text, with_texts};
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
/// Numbers of elements of a long array in which the texts of one member differ. The first one that is allowed is used.
const MANY_NAMED: [usize; 3] = [2_000, 1_000, 200];
/// Maximum number of members for which there is such an array.
const NAMES_MAX: usize = 2;
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
pub(super) fn of_array<'v>(elements: &'v [Value], schema: &LocatedSchema<'v>) -> Vec<Vec<ValueChange<'v>>> {
    let one = |what: &str, elements: Vec<Value>| vec![ValueChange::to(what, elements)];
    let mut groups = vec![one("no elements", vec![])];
    let Some(first) = elements.first() else { return groups };
    for (name, tied) in ties(elements) {
        groups.push(one(&format!("elements with equal values of {name:?}"), tied));
    }
    for (name, twins) in twins(elements, &schema.items()) {
        groups.push(one(&format!("elements whose {name:?} differs in upper and lower case only"), twins));
    }
    for (name, number, changed) in numbers(elements) {
        groups.push(one(&format!("elements with the number {number} as {name:?}"), changed));
    }
    if let Some(objects) = objects(elements) {
        groups.extend(of_elements(&objects));
    }
    groups.extend(grids(elements));
    let other_texts = |count: &usize| {
        let what = format!("{count} elements with other texts");
        ValueChange::to(what, distinct(elements, *count, &schema.items()))
    };
    // A pattern can allow other numbers, and no other texts.
    let other_numbers = |count: &usize| {
        let what = format!("{count} elements with other numbers in texts");
        ValueChange::to(what, with_other_numbers(first, *count, &schema.items()))
    };
    groups.push(vec![other_texts(&DISTINCT), other_numbers(&DISTINCT)]);
    groups.push(MANY_DISTINCT.iter().map(other_texts).chain(MANY_DISTINCT.iter().map(other_numbers)).collect());
    groups.push(one("one element", vec![first.clone()]));
    groups.push(one("an element twice", elements.iter().chain([first]).cloned().collect()));
    groups.push(one("elements in reverse order", elements.iter().rev().cloned().collect()));
    let many = |count: usize| move || elements.iter().cycle().take(count).cloned().collect::<Vec<Value>>();
    groups.push(ELEMENTS.iter().map(|count| ValueChange::later("many elements", many(*count))).collect());
    let large = |count: &usize| {
        let (count, schema) = (*count, schema.items());
        let what = format!("{count} elements with other texts");
        ValueChange::later(what, move || distinct(elements, count, &schema))
    };
    let large_of_numbers = |count: &usize| {
        let (count, schema) = (*count, schema.items());
        let what = format!("{count} elements with other numbers in texts");
        ValueChange::later(what, move || with_other_numbers(first, count, &schema))
    };
    let very_many =
        |counts: &&[usize]| counts.iter().flat_map(|count| [large(count), large_of_numbers(count)]).collect();
    groups.extend(VERY_MANY_DISTINCT.iter().map(very_many));
    groups.extend(objects(elements).into_iter().flat_map(|objects| long_chains(&objects)));
    groups
}

/// Returns the changes that let an array grow, so that a result becomes deep, or elements are equal in most members.
pub(super) fn grown<'v>(elements: &'v [Value], schema: &LocatedSchema<'v>) -> Vec<Vec<ValueChange<'v>>> {
    let mut groups: Vec<Vec<ValueChange<'v>>> = of_lines(elements).into_iter().collect();
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
    groups.extend(objects(elements).map(many_named).unwrap_or_default());
    groups.extend(many_nulls(elements));
    groups
}

/// Returns `count` copies of these elements. Each copy has its number in its texts, so no two copies have equal texts.
/// `schema` is the schema of an element. Texts of an enumeration stay.
pub(super) fn distinct(elements: &[Value], count: usize, schema: &LocatedSchema<'_>) -> Vec<Value> {
    copies(elements, count, schema, |element| usize::from(element.is_object()))
}

/// Returns `count` copies of an element. The first number in each text becomes greater from copy to copy.
fn with_other_numbers(element: &Value, count: usize, schema: &LocatedSchema<'_>) -> Vec<Value> {
    let depth = usize::from(element.is_object());
    let copy = |number: usize| with_texts(element, schema, depth, &|text| numbered_text(text, number));
    (0..count).map(copy).collect()
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

/// Returns long arrays that end with copies of an element that is null, if only some elements are.
fn many_nulls(elements: &[Value]) -> Option<Vec<ValueChange<'_>>> {
    if !elements.iter().any(Value::is_null) || elements.iter().all(Value::is_null) {
        return None;
    }
    let many = |count: &usize| {
        let nulls = std::iter::repeat_n(Value::Null, *count);
        let all = move || elements.iter().cloned().chain(nulls).collect::<Vec<Value>>();
        ValueChange::later(format!("{count} more elements that are null"), all)
    };
    Some(ELEMENTS.iter().map(many).collect())
}

/// Returns long arrays of copies of these elements. In each array, one member that differs in all elements has the text of
/// the first element with a number, and all others stay. The texts of the others may be names of a fixed set that the
/// schema does not have.
fn many_named<'v>(objects: Vec<&'v Map<String, Value>>) -> Vec<Vec<ValueChange<'v>>> {
    let objects = Rc::new(objects);
    let many = |name: &'v str, text: &'v str, count: usize| {
        let objects = objects.clone();
        let element = move |(number, object): (usize, &&'v Map<String, Value>)| {
            let mut element = (*object).clone();
            element.insert(name.to_owned(), numbered_text(text, number).into());
            Value::Object(element)
        };
        let what = format!("{count} elements with other texts in {name:?}");
        ValueChange::later(what, move || {
            objects.iter().cycle().take(count).enumerate().map(element).collect::<Vec<_>>()
        })
    };
    let names = objects[0].iter().filter(|(name, _)| is_name(&objects, name));
    let texts = names.filter_map(|(name, value)| Some((name, value.as_str()?))).take(NAMES_MAX);
    texts.map(|(name, text)| MANY_NAMED.iter().map(|count| many(name, text, *count)).collect()).collect()
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

/// Returns one array for each member that is a text in all elements. In it, the second element has the text of the first one
/// in the other case.
fn twins(elements: &[Value], schema: &LocatedSchema<'_>) -> Vec<(String, Vec<Value>)> {
    let Some(objects) = objects(elements) else { return vec![] };
    let twin = |(name, value): (&String, &Value)| {
        let own = value.as_str().filter(|_| !schema.property(name).is_fixed())?;
        let upper = own.to_uppercase();
        let other = if upper == own { own.to_lowercase() } else { upper };
        objects.iter().all(|object| object.get(name).is_some_and(Value::is_string)).then_some(())?;
        let mut all = elements.to_vec();
        *all[1].get_mut(name)? = other.as_str().into();
        (other != own).then(|| (name.clone(), all))
    };
    objects[0].iter().filter_map(twin).take(EQUAL_MAX).collect()
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
fn grids<'v>(elements: &'v [Value]) -> Vec<Vec<ValueChange<'v>>> {
    fn squares<'v>(cell: &str, row: impl Fn(usize) -> Value + Copy + 'v) -> Vec<ValueChange<'v>> {
        let what = format!("a large grid of {cell}");
        GRIDS.iter().map(|size| ValueChange::later(&what, move || vec![row(*size); *size])).collect()
    }
    if let Some(rows) = elements.iter().map(Value::as_str).collect::<Option<Vec<&str>>>() {
        let cells: BTreeSet<char> = rows.iter().flat_map(|row| row.chars()).collect();
        let grid = |cell: char| squares(&format!("{cell:?}"), move |size| cell.to_string().repeat(size).into());
        return cells.into_iter().take(CELLS_MAX).map(grid).collect();
    }
    let rows: Option<Vec<&Vec<Value>>> = elements.iter().map(Value::as_array).collect();
    let mut cells: Vec<&Value> = Vec::new();
    for cell in rows.into_iter().flatten().flatten().filter(|cell| !cell.is_object()) {
        if cells.len() < CELLS_MAX && !cells.contains(&cell) {
            cells.push(cell);
        }
    }
    let grid = |cell: &'v Value| squares(&cell.to_string(), move |size| Value::Array(vec![cell.clone(); size]));
    cells.into_iter().map(grid).collect()
}
