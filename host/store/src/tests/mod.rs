//! Tests that need direct SQL access, for example to damage a database.

mod damage;
mod failures;
mod fixture;
mod query_plans;
mod restored;
mod schema;
mod source_rules;
mod sweep;
