//! Evidence files, histories, and the evidence of earlier releases.

mod export;
mod history;
mod machine_limits;
mod releases;
mod withheld;
