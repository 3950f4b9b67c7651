//! Rows that a group of batches writes.

use std::collections::{BTreeMap, BTreeSet};

use latchwork_core::model::effect::Effect;
use latchwork_core::model::ids::Slot;
use latchwork_core::rules::cost::Charge;
use latchwork_core::rules::ledger::LedgerRow;
use latchwork_core::rules::reuse::ReusableResult;
use latchwork_core::storage::admit::ActionId;
use latchwork_core::storage::expectation::Expectation;
use latchwork_core::storage::{ActionRow, InboxRequest, Payload};

use crate::tables::events;

/// Rows to write, in order. A later change of a row replaces an earlier change.
#[derive(Default)]
pub(crate) struct RowWrites<'a> {
    pub(crate) events: Vec<events::Append>,
    pub(crate) ledger: BTreeMap<(i64, Slot), LedgerRow>,
    pub(crate) effects: Vec<(i64, &'a Effect)>,
    pub(crate) payloads: Vec<(i64, &'a Payload)>,
    pub(crate) inbox_done: Vec<i64>,
    pub(crate) requests: Vec<(i64, InboxRequest)>,
    pub(crate) charges: Vec<(i64, Charge)>,
    pub(crate) actions: BTreeMap<ActionId, Option<(i64, ActionRow)>>,
    pub(crate) waits: BTreeSet<(ActionId, i64)>,
    pub(crate) reusables: BTreeMap<ActionId, (i64, &'a ReusableResult)>,
    pub(crate) awaited: BTreeMap<(i64, &'a str), &'a Expectation>,
    pub(crate) timers: BTreeMap<(i64, &'a str), Option<i64>>,
}
