//! The pages: their commands and their links.

mod commands;
mod links;
mod recording;
