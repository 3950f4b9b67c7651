//! Arrays that grow until an operator refuses them.

use serde_json::{Map, Value};

use crate::check::variations::arrays::distinct;
use crate::check::variations::change::InputVariation;
use crate::check::variations::depths::{Link, counted, counted_members, links};
use crate::check::variations::places::{Place, places_of};
use crate::check::variations::schema_sample::LocatedSchema;

/// An array in a value: its pointer, its elements and the schema of an element.
pub(in crate::check) struct ArrayPlace<'v> {
    pointer: String,
    elements: &'v [Value],
    schema: LocatedSchema<'v>,
}

/// A way in which an array can grow.
pub(in crate::check) struct Growth<'v> {
    /// Description of the elements.
    what: String,
    /// Returns an array of this length.
    elements: Box<dyn Fn(usize) -> Vec<Value> + 'v>,
}

/// Search for the largest number of elements that an operator accepts. The number doubles until it is refused. Then the
/// distance to the least refused number is halved.
pub(in crate::check) struct ElementSearch {
    first: usize,
    accepted: usize,
    refused: Option<usize>,
    max: usize,
}

/// Returns the arrays in a value that have at least one element. `schema` is the schema of the value.
pub(in crate::check) fn array_places<'v>(value: &'v Value, schema: &'v Value) -> Vec<ArrayPlace<'v>> {
    let places = places_of(value, schema);
    let array = |place: Place<'v>| {
        let elements = place.value.as_array().filter(|elements| !elements.is_empty())?;
        Some(ArrayPlace { pointer: place.pointer, elements, schema: place.schema.items() })
    };
    places.into_iter().filter_map(array).collect()
}

impl<'v> ArrayPlace<'v> {
    /// Begins a search. Numbers above `max` are not tried.
    pub(in crate::check) fn search(&self, max: usize) -> ElementSearch {
        let length = self.elements.len();
        ElementSearch { first: length, accepted: length, refused: None, max }
    }

    /// Returns the value of this place with an array of this length.
    pub(in crate::check) fn grown(&self, value: &Value, growth: &Growth<'_>, count: usize) -> InputVariation {
        let mut value = value.clone();
        *value.pointer_mut(&self.pointer).expect("a place of the value") = (growth.elements)(count).into();
        let what = format!("{count} elements {} at {:?}", growth.what, self.pointer);
        InputVariation { what, value, is_large: false }
    }

    /// Returns the growth in which the elements have other texts.
    pub(in crate::check) fn of_texts(&self) -> Growth<'_> {
        Growth {
            what: "with other texts".to_owned(),
            elements: Box::new(|count| distinct(self.elements, count, &self.schema)),
        }
    }

    /// Returns all ways in which the array can grow: with other texts, with an integer that counts up, and as a chain.
    pub(in crate::check) fn growths(&self) -> Vec<Growth<'_>> {
        let objects: Option<Vec<&Map<String, Value>>> = self.elements.iter().map(Value::as_object).collect();
        let objects = objects.unwrap_or_default();
        let of_member = |name| {
            let objects = objects.clone();
            Growth {
                what: format!("whose {name:?} counts up"),
                elements: Box::new(move |count| counted(&objects, name, count, &self.schema)),
            }
        };
        let of_link = |link: Link<'v>| Growth {
            what: format!("whose {:?} is the {:?} of the element before", link.name, link.of),
            elements: Box::new(move |count| link.chain(count)),
        };
        let counted = counted_members(&objects).into_iter().map(of_member);
        std::iter::once(self.of_texts()).chain(counted).chain(links(&objects).into_iter().map(of_link)).collect()
    }
}

impl ElementSearch {
    /// Returns the number of elements to try next. Returns `None` at the end of the search.
    pub(in crate::check) fn next(&self) -> Option<usize> {
        let next = self.refused.map_or(self.accepted * 2, |refused| self.accepted.midpoint(refused)).min(self.max);
        (next > self.accepted).then_some(next)
    }

    /// Continues after the number that [`Self::next`] returned was accepted or refused.
    pub(in crate::check) fn record(&mut self, tried: usize, is_accepted: bool) {
        if is_accepted {
            self.accepted = tried;
        } else {
            self.refused = Some(tried);
        }
    }

    /// Returns the largest accepted number, if it is above the first one and a larger number was refused.
    pub(in crate::check) fn largest(&self) -> Option<usize> {
        (self.refused.is_some() && self.accepted > self.first).then_some(self.accepted)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the tried numbers and the largest accepted number of an operator that accepts up to `limit` elements.
    fn searched(length: usize, limit: usize, max: usize) -> (Vec<usize>, Option<usize>) {
        let value = json!({ "list": vec![1; length] });
        let places = array_places(&value, &Value::Null);
        let (mut search, mut tried) = (places[0].search(max), Vec::new());
        while let Some(next) = search.next() {
            tried.push(next);
            search.record(next, next <= limit);
        }
        (tried, search.largest())
    }

    #[test]
    fn largest_accepted_number_is_found() {
        assert_eq!(searched(2, 12, 100), (vec![4, 8, 16, 12, 14, 13], Some(12)));
        assert_eq!(searched(3, 3, 100), (vec![6, 4], None));
        assert_eq!(searched(2, 1000, 10), (vec![4, 8, 10], None));
        assert_eq!(searched(20, 1000, 10), (vec![], None));
    }

    #[test]
    fn arrays_grow_by_texts_numbers_and_links() {
        let value = json!([{ "id": "a1", "from": null, "n": 4 }, { "id": "a2", "from": "a1", "n": 4 }]);
        let places = array_places(&value, &Value::Null);
        let grown: Vec<_> = places[0].growths().iter().map(|growth| places[0].grown(&value, growth, 3)).collect();
        let whats: Vec<&str> = grown.iter().map(|one| one.what.as_str()).collect();
        let linked = "3 elements whose \"from\" is the \"id\" of the element before at \"\"";
        assert_eq!(whats, ["3 elements with other texts at \"\"", "3 elements whose \"n\" counts up at \"\"", linked]);
        assert_eq!((&grown[1].value[2]["n"], &grown[2].value[2]["from"]), (&json!(6), &json!("a2")));
    }
}
