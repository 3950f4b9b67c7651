//! Calls of models, and their costs.

mod costs;
mod steps;
