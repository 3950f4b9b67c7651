//! Integration tests in one binary. Each folder has the tests of one subject. `support` has the helpers that tests of
//! several folders share; a helper of a single folder is in that folder.

#![expect(clippy::unwrap_used, reason = "a panic fails the test and names the line")]

mod authors;
mod calls;
mod check;
mod cli;
mod config;
mod conformance;
mod crash;
mod docs;
mod evidence;
mod jobs;
mod llm;
mod people;
mod plugins;
mod postgres;
mod screens;
mod sdk;
mod sources;
mod stores;
mod support;
mod undo;
mod workers;
