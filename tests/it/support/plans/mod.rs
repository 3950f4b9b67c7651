//! Plans that several tests submit, and functions that read the jobs of these plans.

pub(crate) mod bookings;
pub(crate) mod fetches;
