//! Plans that several tests submit, and what they read of their jobs.

pub(crate) mod bookings;
pub(crate) mod fetches;
