//! Encodings: canonical JSON, JSON Pointers, the random stream of a step, suggestions for misspelled
//! names, and truncation of texts.

pub mod canon;
pub mod pointer;
pub mod rng;
pub mod suggest;
pub mod truncate;
