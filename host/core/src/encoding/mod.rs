//! Encodings: canonical JSON, JSON Pointers, the random stream of a step, and suggestions for misspelled names.

pub mod canon;
pub mod pointer;
pub mod rng;
pub mod suggest;
