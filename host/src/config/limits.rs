//! Concurrency limits and rate limits of operators.

/// Limits of one operator in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperatorLimit {
    /// Maximum number of calls in flight.
    pub max_concurrent: Option<u32>,
    /// Maximum number of calls started per interval.
    pub rate: Option<RateLimit>,
}

/// Rate limit of at most `permits` calls per `per_ms` milliseconds. All these calls may start in one burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Number of calls; at least 1.
    pub permits: u32,
    /// Length of the interval in milliseconds; at least 1.
    pub per_ms: u32,
}
