//! Servers and connections that fail while workers use them.

mod call_in_flight;
mod connection_cuts;
mod database_outage;
mod server_failures;
mod standby;
mod stop_during_outage;
mod unaccepted_server;
