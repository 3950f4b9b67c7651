//! The pages: their commands, their links, and what they say about the program.

mod commands;
mod glossary;
mod links;
mod promises;
mod recording;
mod reference;
