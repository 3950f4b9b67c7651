//! Variations of the values of cases. A variation differs from the value of a case in one place, or in many places at
//! once.
//!
//! Floors, top first: `other_periods` · `year_members` · `drawn`, `growths`, `largest`, `periods`, `siblings`, `vary` · `arrays`,
//! `changed_members`, `confusable`, `columns`, `objects`, `similar`, `texts`, `whole` · `continued`, `depths`, `edges`, `mixed`,
//! `numerals`, `parts`, `positions`, `references`, `times` · `numbering`, `places`, `pools` · `change`, `known`,
//! `schema_sample`, `simpler`.

mod arrays;
mod change;
mod changed_members;
mod columns;
mod confusable;
mod continued;
mod depths;
mod drawn;
mod edges;
mod growths;
mod known;
mod largest;
mod mixed;
mod numbering;
mod numerals;
mod objects;
mod other_periods;
mod parts;
mod periods;
mod places;
mod pools;
mod positions;
mod references;
mod schema_sample;
mod siblings;
mod similar;
mod simpler;
mod texts;
mod times;
mod vary;
mod whole;
mod year_members;

pub(super) use change::{InputVariation, is_much_larger};
pub(super) use changed_members::changed_members;
pub(super) use confusable::{MovedLetter, MovedSeparator, in_other_letters, moved_letters, moved_separators};
pub(super) use drawn::drawn;
pub(super) use growths::array_places;
pub use known::KnownValues;
pub(super) use largest::largest_allowed;
pub(super) use other_periods::{OtherPeriods, other_periods};
pub(super) use periods::{YEARS, next_periods};
pub(super) use siblings::{repeated_elements, siblings, without_first};
pub(super) use similar::similar;
pub(super) use simpler::simpler;
pub(super) use times::{CASE_START_S, near_times};
pub(super) use vary::{columns, grown, neighbours, number_places, variations, with_known};
