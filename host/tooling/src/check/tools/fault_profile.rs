//! Simulated faults of the servers and the map of a case.

/// Simulated behaviour of the servers and the map in a run. Everything that a variant does not mention behaves as the
/// case defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultProfile {
    /// No fault.
    Fair,
    /// Servers answer every request with this status.
    Status(u16),
    /// Servers answer every world-changing request with this status.
    ChangeStatus(u16),
    /// Servers answer every request that only asks with this status.
    QuestionStatus(u16),
    /// Servers answer every request with status 429 and a date in `retry-after`.
    LimitedUntil,
    /// Servers answer with the status of the case and a page in place of its body.
    Garbled,
    /// Servers refuse connections.
    Refused,
    /// Servers receive requests and never answer them.
    Silent,
    /// Servers refuse the world-changing request with this number, from 0, and every later one with status 422.
    RefusedFrom(usize),
    /// Servers refuse connections once they have received this number of world-changing requests.
    UnreachableAfter(usize),
    /// The map does not answer.
    NoMap,
    /// The map can be read only.
    ReadOnlyMap,
    /// The map does not answer the read with this number, from 0.
    ReadRefused(usize),
    /// The map refuses the write with this number, from 0, or also every later one.
    WriteRefused { number: usize, and_later: bool },
    /// Every access to a folder fails.
    NoFolder,
    /// The change of a folder with this number, from 0, fails.
    FolderChangeRefused(u32),
    /// The map makes the write with this number, from 0, but its answer is lost.
    WriteUnanswered(usize),
}
