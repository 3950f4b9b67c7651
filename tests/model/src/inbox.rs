//! Requests in the inbox of a job.

/// A request in the inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ModelRequest {
    /// Cancel the job.
    Cancel,
    /// Answer stored by a worker that had lost the job.
    Late {
        /// Slot of the invocation.
        slot: u8,
        /// Number of the try.
        try_no: u8,
    },
    /// A person's decision about an invocation in doubt.
    Resolve {
        /// Slot of the invocation.
        slot: u8,
        /// Number of the try.
        try_no: u8,
        /// Result that the person found, or `None` if nothing happened.
        found_result: Option<u8>,
    },
}
