//! Jobs from their plan to their end: plans, modes, waits and forks.

mod fork;
mod golden;
mod modes;
mod plans;
mod waits;
