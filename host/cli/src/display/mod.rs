//! Text for people about jobs: responses, gates, results, events and durations.
//!
//! Floors, top first: `view` · `event_text`, `gates`, `results` · `arguments`, `brief`, `changed`, `enum_name`.

pub(crate) mod arguments;
pub(crate) mod brief;
pub(crate) mod changed;
pub(crate) mod enum_name;
pub(crate) mod event_text;
pub(crate) mod gates;
pub(crate) mod results;
pub(crate) mod view;
