//! Other values than those of the cases: each differs from the value of a case in one place, or in all numbers.
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

pub use known::KnownValues;
pub(super) use vary::{Variation, neighbours, number_places, variations, with_known};
