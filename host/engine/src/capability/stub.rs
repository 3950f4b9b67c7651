//! Stub for the servers that a tool may reach, used to check tools without sending anything.

use bytes::Bytes;
use http::{Request, Response};

use crate::capability::grants::Origin;

/// Reason why a request gets no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StubFailure {
    /// The server refuses the connection.
    Refused,
    /// The server receives the request but does not answer in time.
    TimedOut,
}

/// Answers in place of every granted server. Grants, rights, placeholders and the call's deadline are checked
/// first, as for real servers.
pub trait HttpStub: Send + Sync {
    /// Answers a request. The secrets are already inserted, as in a request that leaves the host.
    fn answer(&self, place: &Origin, request: Request<Bytes>) -> Result<Response<Bytes>, StubFailure>;
}
