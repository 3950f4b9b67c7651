//! Variations of the values of cases. A variation differs from the value of a case in one place, or in all numbers.
//!
//! Floors, top first: `vary` · `arrays`, `objects`, `texts` · `references` · `change`, `known`, `schema_sample`.

mod arrays;
mod change;
mod known;
mod objects;
mod references;
mod schema_sample;
mod texts;
mod vary;

pub(super) use arrays::distinct;
pub use known::KnownValues;
pub(super) use vary::{Variation, array_places, neighbours, number_places, variations, with_known};
