//! Gates and other requests of people, and the notices that people get.

mod gates;
mod notify;
mod pending_requests;
mod prompt;
mod signed;
