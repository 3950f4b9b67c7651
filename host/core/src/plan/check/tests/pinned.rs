//! I149: the hash of a plan that states every key never changes.

use super::*;
use crate::model::manifest::{Determinism, PluginKind};

/// Catalog that accepts every operator.
pub(super) struct AnyOperator;

impl Catalog for AnyOperator {
    fn operator(&self, _name: &str) -> Option<OperatorInfo> {
        Some(OperatorInfo {
            effects: vec![],
            determinism: Determinism::Stable,
            kind: PluginKind::Tool,
            compensate: true,
        })
    }

    fn names(&self) -> Vec<String> {
        vec![]
    }

    fn knows_operators(&self) -> bool {
        false
    }
}

fn hash_of(text: &str) -> String {
    check(text.as_bytes(), &AnyOperator).unwrap_or_else(|found| panic!("{found:?}")).hash().to_hex()
}

/// The hashes of shipped plans equal the hashes that the parser of the first release computed.
#[test]
fn shipped_plans_keep_their_hash() {
    let shipped = [
        (
            include_str!("../../../../../../example-plugins/funding-outreach/plan.json"),
            "3dfd9a9eef17478419219aeaadbd7171120af46f39f953503634181ea5de56ab",
        ),
        (
            include_str!("../../../../../../example-plugins/llm-summary/plan.json"),
            "f58450850320e5be2be05dd10ba61342293b66bea0382fe4c95d8b06bc9fe316",
        ),
    ];
    for (text, hash) in shipped {
        assert_eq!(hash_of(text), hash, "{text}");
    }
}

/// The plans in the logs of earlier releases are in normal form and have the hash that the log records.
#[test]
fn plans_of_released_logs_keep_their_hash() {
    let released = [
        include_str!("../../../../../../tests/releases/0.1.0/golden.evidence.jsonl"),
        include_str!("../../../../../../tests/releases/0.1.0/cancelled.evidence.jsonl"),
        include_str!("../../../../../../tests/releases/0.1.0/waited.evidence.jsonl"),
    ];
    for log in released {
        let created = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let created = created.filter(|line| line["event"]["plan"].is_object()).collect::<Vec<_>>();
        assert_eq!(created.len(), 1);
        assert_eq!(
            hash_of(&created[0]["event"]["plan"].to_string()),
            created[0]["event"]["plan_hash"],
            "{}",
            created[0]
        );
    }
}
