//! Variations of the values of cases. A variation differs from the value of a case in one place, or in all numbers.
//!
//! Floors, top first: `vary` · `arrays`, `columns`, `objects`, `texts` · `continued`, `depths`, `numerals`, `parts`,
//! `positions`, `references` · `numbering` · `change`, `known`, `schema_sample`.

mod arrays;
mod change;
mod columns;
mod continued;
mod depths;
mod known;
mod numbering;
mod numerals;
mod objects;
mod parts;
mod positions;
mod references;
mod schema_sample;
mod texts;
mod vary;

pub use known::KnownValues;
pub(super) use vary::{
    InputVariation, array_places, columns, grown, neighbours, number_places, variations, with_known,
};
