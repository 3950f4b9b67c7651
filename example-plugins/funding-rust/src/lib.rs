//! Steps of a funding outreach: summary of a professor's page, comparison with a CV, letter, and review of the
//! letter.

mod align;
mod draft;
mod html;
mod review;
mod source;
mod summarize;
mod text;

use latchwork_guest::{Determinism, Effect, step};

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Professor.Summarize", summarize::run)
            .describe("Says who a professor is and what they work on, from their page.")
            .effects([Effect::ReadOnly, Effect::ProduceOutcome])
            .outcome("Professor.Summary", "final"),
        step::operator("Alignment.Build", align::run)
            .describe("Says what a CV and a professor's interests have in common, with evidence.")
            .effects([Effect::ReadOnly, Effect::ProduceOutcome])
            .outcome("Professor.Alignment", "final"),
        // The operator is stable and not pure, because its output contains the current date.
        step::operator("Email.GenerateDraft", draft::run)
            .describe("Writes a letter from a summary and an alignment.")
            .determinism(Determinism::Stable)
            .outcome("Email.Draft", "draft"),
        step::operator("Email.Review", review::run)
            .describe("Reviews a draft and mends what can be mended.")
            .outcome("Email.Review", "draft"),
    ],
}

#[cfg(test)]
mod tests;
