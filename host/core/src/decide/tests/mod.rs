//! Tests of the decision functions. A simulated worker executes jobs in a simulated world that counts
//! executions. Tests can kill the worker at any point.

mod call;
mod crash;
mod job;
mod people;
mod support;
mod undo;
