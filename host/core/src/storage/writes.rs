//! Writes to one job, with their purpose. A decision produces them as a [`Draft`], and a sealed batch contains them.

use crate::event::Body;
use crate::model::effect::Effect;
use crate::rules::reuse::ReusableResult;
use crate::storage::changes::{ActionWrite, LedgerWrite, Payload};
use crate::storage::kind::{BatchKind, Merge, Record, StartCalls};

/// Writes to one job for the purpose `K`. `E` is the form of the events: [`Body`] in a draft, and
/// [`Event`](crate::event::Event) in a sealed batch.
#[derive(Clone, Debug)]
pub struct Writes<K, E> {
    /// Purpose of the writes.
    pub kind: K,
    /// Events to append, in order.
    pub events: Vec<E>,
    /// Changes of ledger rows.
    pub ledger: Vec<LedgerWrite>,
    /// Effects to store. With atomic commit they are written together with the events that mention them.
    pub effects: Vec<Effect>,
    /// Payloads to store.
    pub payloads: Vec<Payload>,
    /// Changes of action key reservations.
    pub actions: Vec<ActionWrite>,
    /// Ids of the inbox rows that the writes turn into events.
    pub inbox_done: Vec<i64>,
    /// Results that later jobs may reuse. For one input, the newest result replaces older results.
    pub reusables: Vec<ReusableResult>,
}

/// Writes that a decision requests, before they have a position in the log.
///
/// The purpose decides which drafts can be one batch. Two drafts of one purpose can be merged:
///
/// ```
/// use latchwork_core::storage::{BatchKind, Draft, StartCalls};
/// fn records(one: Draft, other: Draft) -> Draft<BatchKind> {
///     one.merge(other).into()
/// }
/// fn starts(one: Draft<StartCalls>, other: Draft<StartCalls>) -> Draft<StartCalls> {
///     one.merge(other)
/// }
/// ```
///
/// Two drafts of different purposes cannot be merged:
///
/// ```compile_fail,E0308
/// use latchwork_core::storage::{Draft, StartCalls};
/// fn refused(record: Draft, starts: Draft<StartCalls>) -> Draft {
///     record.merge(starts)
/// }
/// ```
///
/// A draft whose purpose is no longer known to the compiler cannot be merged at all:
///
/// ```compile_fail,E0599
/// use latchwork_core::storage::{BatchKind, Draft};
/// fn refused(one: Draft<BatchKind>, other: Draft<BatchKind>) -> Draft<BatchKind> {
///     one.merge(other)
/// }
/// ```
pub type Draft<K = Record> = Writes<K, Body>;

impl<K, E> Writes<K, E> {
    /// Returns true if nothing is written and no inbox row is marked as done.
    pub fn is_empty(&self) -> bool {
        self.inbox_done.is_empty() && self.has_no_writes()
    }

    /// Returns true if nothing is written beyond marking inbox rows as done.
    pub fn has_no_writes(&self) -> bool {
        self.events.is_empty()
            && self.ledger.is_empty()
            && self.effects.is_empty()
            && self.payloads.is_empty()
            && self.actions.is_empty()
            && self.reusables.is_empty()
    }

    /// Returns the writes with another form of the purpose and of the events.
    pub(crate) fn map<L, F>(self, kind: impl FnOnce(K) -> L, events: impl FnOnce(Vec<E>) -> Vec<F>) -> Writes<L, F> {
        let Self { kind: old, events: bodies, ledger, effects, payloads, actions, inbox_done, reusables } = self;
        Writes { kind: kind(old), events: events(bodies), ledger, effects, payloads, actions, inbox_done, reusables }
    }
}

impl<K: Merge> Draft<K> {
    /// Merges two drafts. The writes of `self` come first.
    #[must_use]
    pub fn merge(mut self, other: Draft<K>) -> Draft<K> {
        self.kind = self.kind.merge(other.kind);
        self.events.extend(other.events);
        self.ledger.extend(other.ledger);
        self.effects.extend(other.effects);
        self.payloads.extend(other.payloads);
        self.actions.extend(other.actions);
        self.inbox_done.extend(other.inbox_done);
        self.reusables.extend(other.reusables);
        self
    }
}

impl Draft {
    /// Returns the writes of the record as a batch of the kind `kind`. If `kind` is a record too, the batch meets the
    /// requirements of both records.
    #[must_use]
    pub fn with_kind(self, kind: BatchKind) -> Draft<BatchKind> {
        let kind_of = |own: Record| match kind {
            BatchKind::Record(record) => BatchKind::Record(own.merge(record)),
            kind => kind,
        };
        self.map(kind_of, |events| events)
    }
}

impl<E> Writes<BatchKind, E> {
    /// Returns true if the batch may wait for the flush of a later batch. Only records may wait.
    ///
    /// The loss of a record without events leaves no gap in the log, so no later write would detect the loss. Such a
    /// record is therefore flushed immediately.
    pub fn lingers(&self) -> bool {
        matches!(self.kind, BatchKind::Record(record) if !record.flushes()) && !self.events.is_empty()
    }
}

impl<K: Default, E> Default for Writes<K, E> {
    fn default() -> Self {
        let (ledger, effects, payloads, actions, inbox_done, reusables) = Default::default();
        Self { kind: K::default(), events: Vec::new(), ledger, effects, payloads, actions, inbox_done, reusables }
    }
}

impl From<Draft> for Draft<BatchKind> {
    fn from(draft: Draft) -> Draft<BatchKind> {
        draft.map(BatchKind::Record, |events| events)
    }
}

impl From<Draft<StartCalls>> for Draft<BatchKind> {
    fn from(draft: Draft<StartCalls>) -> Draft<BatchKind> {
        draft.map(BatchKind::StartCalls, |events| events)
    }
}

#[cfg(test)]
mod tests {
    use crate::model::ids::Slot;
    use crate::storage::{AttemptEnd, BatchKind, Draft, Merge, Record, StartCalls};

    #[test]
    fn merged_record_meets_the_requirements_of_both() {
        let all = [Record::Linger, Record::Flush, Record::LingerWhole, Record::FlushWhole];
        for (one, other) in all.iter().flat_map(|one| all.iter().map(move |other| (*one, *other))) {
            let merged = one.merge(other);
            assert_eq!(merged.flushes(), one.flushes() || other.flushes(), "{one:?}, {other:?}");
            assert_eq!(merged.is_whole(), one.is_whole() || other.is_whole(), "{one:?}, {other:?}");
        }
    }

    #[test]
    fn merged_barrier_continues_the_calls_of_both() {
        let barrier = |slot: &str| Draft { kind: StartCalls { continued: vec![Slot::new(slot)] }, ..Draft::default() };
        let merged: Draft<BatchKind> = barrier("a").merge(barrier("b")).into();
        let continued = vec![Slot::new("a"), Slot::new("b")];
        assert_eq!(merged.kind, BatchKind::StartCalls(StartCalls { continued }));
    }

    #[test]
    fn only_a_record_with_events_lingers() {
        let event = || crate::event::Body::JobCompleted {};
        let draft = |kind| Draft { kind, events: vec![event()], ..Draft::default() };
        let end_wait = BatchKind::EndWait { compatible_inbox_ids: Vec::new() };
        let end = BatchKind::EndAttempt(AttemptEnd::Completed);
        for kind in [BatchKind::START_CALLS, end_wait, end, BatchKind::ParkUnloaded, BatchKind::Audit] {
            assert!(!draft(kind.clone()).lingers(), "{kind:?}");
        }
        for record in [Record::Linger, Record::LingerWhole] {
            let mut lingering = draft(BatchKind::Record(record));
            assert!(lingering.lingers(), "{record:?}");
            assert!(!Draft { events: Vec::new(), ..lingering.clone() }.lingers(), "{record:?}");
            lingering.kind.flush();
            assert!(!lingering.lingers(), "{record:?}");
        }
    }
}
