//! Varies a value in each of its places.

use serde_json::{Number, Value};

use crate::check::variations::change::{ChainEnds, InputVariation, ValueChange};
use crate::check::variations::columns::of_columns;
use crate::check::variations::known::KnownValues;
use crate::check::variations::numerals::of_numerals;
use crate::check::variations::objects::{of_object, with_keys};
use crate::check::variations::parts::of_parts;
use crate::check::variations::places::{Place, places_of, replaced};
use crate::check::variations::texts::of_text;
use crate::check::variations::whole::of_whole;
use crate::check::variations::{arrays, times};

/// Numbers that replace a number.
const NUMBERS: [i64; 9] = [0, -1, 1, 2, 10, 40, 99, 999, 10_000];
/// A number whose sums and products stay below 2^53 in most steps.
const LARGE: i32 = i32::MAX;

/// Returns at most `max` allowed variations, spread over all places of the value. `schema` is the schema of the value.
pub(in crate::check) fn variations(
    value: &Value,
    schema: &Value,
    max: usize,
    is_allowed: impl Fn(&Value) -> bool,
) -> Vec<InputVariation> {
    let places = places_of(value, schema);
    let of_all = of_whole(value, &places, &is_allowed);
    spread(value, &places, changes, of_all, max, &is_allowed)
}

/// Returns at most `max` allowed variations in which a text or an array of the value grows, or in which elements of an
/// array are equal in most members. `schema` is the schema of the value.
pub(in crate::check) fn grown(
    value: &Value,
    schema: &Value,
    max: usize,
    is_allowed: impl Fn(&Value) -> bool,
) -> Vec<InputVariation> {
    spread(value, &places_of(value, schema), growth, vec![], max, &is_allowed)
}

/// Returns at most `max` allowed variations in which one member changes in all elements of an array, or a number within
/// a text changes. `schema` is the schema of the value.
pub(in crate::check) fn columns(
    value: &Value,
    schema: &Value,
    max: usize,
    is_allowed: impl Fn(&Value) -> bool,
) -> Vec<InputVariation> {
    let changes = |place: &Place<'_>| match place.value {
        Value::String(text) if !place.schema.is_fixed() => of_numerals(text),
        other => of_columns(other, &place.schema),
    };
    spread(value, &places_of(value, schema), changes, vec![], max, &is_allowed)
}

/// Returns at most `max` allowed variations of the places, and first those in `of_all`. `changes` returns groups of
/// changes of a place. Of each group, the first change that is allowed is made.
fn spread<'v>(
    value: &Value,
    places: &'v [Place<'v>],
    changes: impl Fn(&'v Place<'v>) -> Vec<Vec<ValueChange<'v>>>,
    of_all: Vec<InputVariation>,
    max: usize,
    is_allowed: &impl Fn(&Value) -> bool,
) -> Vec<InputVariation> {
    let of_all: Vec<InputVariation> = of_all.into_iter().filter(|one| is_allowed(&one.value)).collect();
    let of_group = |place: &'v Place<'v>, alternatives: Vec<ValueChange<'v>>| -> Vec<InputVariation> {
        let varied = |mut change: ValueChange<'v>| {
            let ends = change.ends.take();
            let variation = InputVariation {
                what: format!("{} at {:?}", change.what, place.pointer),
                is_large: change.is_large,
                value: replaced(value, &place.pointer, change.into_value())?,
            };
            is_allowed(&variation.value).then_some((variation, ends))
        };
        let Some((variation, ends)) = alternatives.into_iter().find_map(varied) else { return vec![] };
        let at_ends = ends.iter().flat_map(|ends| at_ends(&variation, place, ends)).collect::<Vec<_>>();
        let allowed = at_ends.into_iter().filter(|one| is_allowed(&one.value));
        std::iter::once(variation).chain(allowed).collect()
    };
    // Makes a variation only when it is taken, because many of the values are large.
    let of_place = |place: &'v Place<'v>| -> Box<dyn Iterator<Item = InputVariation> + '_> {
        Box::new(changes(place).into_iter().flat_map(move |group| of_group(place, group)))
    };
    let of_all: Box<dyn Iterator<Item = InputVariation>> = Box::new(of_all.into_iter());
    let mut of_places: Vec<_> = std::iter::once(of_all).chain(places.iter().map(of_place)).collect();
    // Takes a few variations of each place in turn, so that the variations of a large array leave room for those of
    // other places. Takes more variations of an array in each turn, because arrays have the most variations.
    let is_array = |number: usize| number > 0 && places[number - 1].value.is_array();
    let mut all: Vec<InputVariation> = Vec::new();
    let mut has_ended = false;
    while all.len() < max && !has_ended {
        has_ended = true;
        let some = of_places.iter_mut().enumerate().flat_map(|(number, left)| {
            let count = if is_array(number) { 3 } else { 1 };
            left.by_ref().take(count)
        });
        for next in some {
            has_ended = false;
            if next.value != *value && all.iter().all(|other| other.value != next.value) {
                all.push(next);
            }
            if all.len() == max {
                break;
            }
        }
    }
    all
}

/// Returns copies of a variation in which the values beside the array name an end of its chain. They name the same end, or
/// the first one names another end. Only a value that named an element before the change is replaced.
fn at_ends(variation: &InputVariation, array: &Place<'_>, ends: &ChainEnds) -> Vec<InputVariation> {
    let Some((parent, _)) = array.pointer.rsplit_once('/') else { return vec![] };
    let is_list = |list: &Vec<Value>| !list.is_empty() && list.iter().all(|name| ends.names.contains(name));
    let [first, last] = &ends.ends;
    // The ends that the first and each further value beside the array get.
    let with = |(of_first, of_others): (&Value, &Value)| {
        let mut value = variation.value.clone();
        let (mut is_changed, mut end) = (false, of_first);
        for (_, member) in value.pointer_mut(parent)?.as_object_mut()? {
            let other = match member {
                Value::Array(list) if is_list(list) => Value::Array(vec![end.clone()]),
                Value::String(_) | Value::Number(_) if ends.names.contains(member) => end.clone(),
                _ => continue,
            };
            is_changed |= *member != other;
            *member = other;
            end = of_others;
        }
        let what = format!("{}, and {of_first} and {of_others} beside it", variation.what);
        is_changed.then_some(InputVariation { what, value, is_large: variation.is_large })
    };
    let mut found: Vec<InputVariation> = Vec::new();
    for one in [(first, last), (last, first), (first, first), (last, last)].into_iter().filter_map(with) {
        if found.iter().all(|before| before.value != one.value) {
            found.push(one);
        }
    }
    found
}

/// Returns the changes that let a text or an array grow. Of each group, the first change that is allowed is made.
fn growth<'v>(place: &'v Place<'v>) -> Vec<Vec<ValueChange<'v>>> {
    match place.value {
        Value::String(text) if !place.schema.is_fixed() => of_parts(text),
        Value::Array(elements) => arrays::grown(elements, &place.schema),
        _ => vec![],
    }
}

/// Returns the changes of a value. Of each group, the first change that is allowed is made.
fn changes<'v>(place: &'v Place<'v>) -> Vec<Vec<ValueChange<'v>>> {
    let mut groups = match place.value {
        Value::Null => vec![],
        Value::Bool(value) => vec![vec![ValueChange::to("the other truth value", !value)]],
        Value::Number(number) => of_number(number),
        Value::String(text) => of_text(text),
        Value::Array(elements) => arrays::of_array(elements, &place.schema),
        Value::Object(members) => of_object(members, &place.schema),
    };
    groups.extend(
        place.schema.alternatives().map(|other| vec![ValueChange::to(format!("the value {other}"), other.clone())]),
    );
    if !place.pointer.is_empty() {
        groups.push(vec![ValueChange::removal()]);
    }
    groups
}

fn of_number(number: &Number) -> Vec<Vec<ValueChange<'static>>> {
    let mut groups: Vec<Vec<ValueChange<'static>>> =
        NUMBERS.into_iter().map(|number| vec![ValueChange::to(format!("the number {number}"), number)]).collect();
    groups.insert(2, vec![ValueChange::large("a large number", LARGE)]);
    groups.splice(1..1, number.as_i64().map(times::of_number).unwrap_or_default());
    if number.is_f64() {
        groups.push(vec![ValueChange::to("a small number", 1e-9)]);
    }
    groups
}

/// Returns at most `max` variations of the value. Each contains one text or number from the plugin's sources, or one group
/// of `keys` in one map. In an array, only the first element is changed.
pub(in crate::check) fn with_known(
    value: &Value,
    schema: &Value,
    known: &KnownValues,
    keys: &[Vec<String>],
    max: usize,
    is_allowed: impl Fn(&Value) -> bool,
) -> Vec<InputVariation> {
    let places = places_of(value, schema);
    let places: Vec<&Place<'_>> = places.iter().filter(|place| place.is_in_first_elements()).collect();
    let maps = places.iter().flat_map(|place| {
        let members = place.value.as_object().filter(|_| place.schema.allows_other_members());
        let with = move |(members, keys): (_, &Vec<String>)| {
            let what = format!("more keys at {:?}", place.pointer);
            Some((what, &place.pointer, with_keys(members, &place.schema, keys)?))
        };
        members.into_iter().flat_map(|members| keys.iter().map(move |keys| (members, keys))).filter_map(with)
    });
    let texts = known.texts.iter().flat_map(|text| {
        let places = places.iter().filter(|place| place.value.is_string());
        places.map(move |place| {
            (format!("the text {text:?} at {:?}", place.pointer), &place.pointer, text.as_str().into())
        })
    });
    let numbers = known.numbers.iter().flat_map(|number| [*number, number.saturating_add(1)]).flat_map(|number| {
        let places = places.iter().filter(|place| place.value.is_number());
        places.map(move |place| (format!("the number {number} at {:?}", place.pointer), &place.pointer, number.into()))
    });
    let mut all: Vec<InputVariation> = Vec::new();
    for (what, pointer, other) in maps.chain(alternated(texts, numbers)) {
        let Some(varied) = replaced(value, pointer, Some(other)).filter(|varied| varied != value && is_allowed(varied))
        else {
            continue;
        };
        if all.len() < max && all.iter().all(|before| before.value != varied) {
            all.push(InputVariation { what, value: varied, is_large: false });
        }
    }
    all
}

/// Takes an element of each iterator in turn.
fn alternated<T>(first: impl Iterator<Item = T>, second: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    let (mut first, mut second) = (first.fuse(), second.fuse());
    std::iter::from_fn(move || Some((first.next(), second.next())))
        .map_while(|(one, other)| if one.is_none() && other.is_none() { None } else { Some([one, other]) })
        .flatten()
        .flatten()
}

/// Returns similar values, as another call may have them. In each value, one text has an additional letter, or one
/// number is greater by 1.
pub(in crate::check) fn neighbours(value: &Value, is_allowed: impl Fn(&Value) -> bool) -> Vec<Value> {
    let places = places_of(value, &Value::Null);
    let other = |place: &Place<'_>| {
        let other: Value = match place.value {
            Value::String(text) => format!("{text}x").into(),
            Value::Number(number) => match number.as_i64() {
                Some(number) => (number + 1).into(),
                None => (number.as_f64()? + 1.0).into(),
            },
            _ => return None,
        };
        replaced(value, &place.pointer, Some(other)).filter(&is_allowed)
    };
    places.iter().filter_map(other).collect()
}

/// Returns the numbers in a value with their pointers, and the greatest number of their type if nothing else bounds them.
pub(in crate::check) fn number_places(value: &Value, schema: &Value) -> Vec<(String, f64, Option<f64>)> {
    let places = places_of(value, schema);
    let of_place = |place: Place<'_>| Some((place.pointer, place.value.as_f64()?, place.schema.type_max()));
    places.into_iter().filter_map(of_place).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::check::variations::schema_sample::LocatedSchema;

    fn of(value: &Value, schema: &Value) -> Vec<InputVariation> {
        variations(value, schema, 10_000, |_| true)
    }

    /// Asserts that there is such a variation.
    fn has(found: &[InputVariation], what: &str, expected: &Value) {
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
        let ring = json!([{ "name": "a", "within": "b" }, { "name": "b", "within": "a" }]);
        has(&found, "elements whose \"within\" is the next element's \"name\" at \"\"", &ring);
        let sized = json!([{ "name": "a", "within": "b", "size": 3 }, { "name": "b" }]);
        has(&found, "a value for \"size\" at \"/0\"", &sized);
    }

    #[test]
    fn references_form_rings_and_chains() {
        let input = json!([{ "name": "a", "needs": ["b"] }, { "name": "b", "needs": [] }]);
        let is_short = |value: &Value| value.as_array().is_some_and(|elements| elements.len() <= 200);
        let found = variations(&input, &json!({}), 10_000, is_short);
        let ring = json!([{ "name": "a", "needs": ["b"] }, { "name": "b", "needs": ["a"] }]);
        has(&found, "elements whose \"needs\" is the next element's \"name\" at \"\"", &ring);
        let chain = found.iter().find(|variation| variation.what.starts_with("200 elements")).unwrap();
        let ends = (&chain.value[0], &chain.value[1], &chain.value[199]);
        let expected = (
            json!({ "name": "a", "needs": ["a-1"] }),
            json!({ "name": "a-1", "needs": ["a-2"] }),
            json!({ "name": "a-199", "needs": [] }),
        );
        assert_eq!(ends, (&expected.0, &expected.1, &expected.2));
        let map = json!({ "a": ["b"], "b": [] });
        let found = of(&map, &json!({ "type": "object" }));
        has(&found, "keys that refer to each other at \"\"", &json!({ "a": ["b"], "b": ["a"] }));
        let record = of(&map, &json!({ "type": "object", "properties": { "a": {} } }));
        assert!(record.iter().all(|variation| !variation.what.contains("keys")));
    }

    #[test]
    fn elements_have_other_texts() {
        let elements = [json!({ "name": "a", "size": 1 }), json!("b")];
        let found = arrays::distinct(&elements, 3, &LocatedSchema::of(&Value::Null));
        assert_eq!(found, [json!({ "name": "a-0", "size": 1 }), json!("b-1"), json!({ "name": "a-2", "size": 1 })]);
        let number_of = |one: &Value| one["code"].as_str()?.strip_prefix("NO")?.parse::<u32>().ok();
        let is_code = |value: &Value| {
            value.as_array().is_some_and(|all| all.len() < 2_000 && all.iter().all(|one| number_of(one).is_some()))
        };
        let found = variations(&json!([{ "code": "NO7" }]), &json!({}), 1_000, is_code);
        let many = found.iter().find(|one| one.what.starts_with("1200 elements with other numbers")).unwrap();
        assert_eq!((&many.value[0], &many.value[1199]), (&json!({ "code": "NO7" }), &json!({ "code": "NO1206" })));
    }

    #[test]
    fn expressions_are_nested() {
        let is_short = |value: &Value| value.as_str().is_some_and(|text| text.len() < 1_000);
        let nested = |text: &str| {
            let found = variations(&json!(text), &json!({}), 1_000, is_short);
            found.into_iter().filter(|variation| variation.what.contains("many")).collect::<Vec<_>>()
        };
        let around =
            |open: &str, text: &str, close: &str| json!(format!("{}{text}{}", open.repeat(200), close.repeat(200)));
        has(&nested("a[1]"), "a text in many [] at \"\"", &around("[", "a[1]", "]"));
        has(&nested("a + -b"), "a text in many () at \"\"", &around("(", "a + -b", ")"));
        has(&nested("a + -b"), "a text after many - at \"\"", &around("-", "a + -b", ""));
        assert_eq!(nested("2026-01-02"), []);
    }

    #[test]
    fn known_values_and_keys_are_tried_in_each_place() {
        let known = KnownValues { texts: vec!["W".to_owned()], numbers: vec![7] };
        let input = json!({ "symbols": ["Ni", "Cu"], "size": 3, "remarks": { "seen": "x" } });
        let schema = json!({ "type": "object", "properties": { "remarks": { "type": "object" } } });
        let found =
            with_known(&input, &schema, &known, &[vec!["tag".to_owned()], vec!["size".to_owned()]], 10, |_| true);
        let with = |name: &str, value: Value| {
            let mut changed = input.clone();
            changed[name] = value;
            changed
        };
        has(&found, "more keys at \"/remarks\"", &with("remarks", json!({ "seen": "x", "tag": "x" })));
        assert!(found.iter().any(|one| one.value == with("remarks", json!({ "seen": "x", "size": "x" }))));
        has(&found, "the text \"W\" at \"/symbols/0\"", &with("symbols", json!(["W", "Cu"])));
        has(&found, "the number 7 at \"/size\"", &with("size", json!(7)));
        has(&found, "the number 8 at \"/size\"", &with("size", json!(8)));
        has(&found, "more keys at \"\"", &with("tag", json!("x")));
        assert_eq!(found.len(), 7);
        let closed = json!({ "type": "object", "additionalProperties": false });
        assert!(
            with_known(&input, &closed, &KnownValues::default(), &[vec!["tag".to_owned()]], 10, |_| true)
                .iter()
                .all(|one| one.value.get("tag").is_none())
        );
    }

    #[test]
    fn neighbours_differ_in_one_text_or_number() {
        let is_small = |value: &Value| value["b"] != 3;
        assert_eq!(neighbours(&json!(20.5), |_| true), [json!(21.5)]);
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
