//! Compensation of jobs, before and after their end.

mod compensation;
mod finished_jobs;
