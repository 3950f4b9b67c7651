//! Index of results that later jobs may reuse.

use std::collections::BTreeMap;

use latchwork_core::model::effect::Provenance;
use latchwork_core::model::ids::{Hash, JobId, Operator, StepId};
use latchwork_core::model::result_type::ResultType;
use latchwork_core::rules::reuse::ReusableResult;
use latchwork_core::storage::StoreError;
use latchwork_core::storage::admit::ActionId;

use crate::sql::readers::Readers;
use crate::sql::row::RowReader;
use crate::sql::statement::StatementName;
use crate::sql::statement_batch::StatementBatch;

/// Columns of a [`ReusableResult`], in order.
const COLUMNS: &str = "r.tenant_id, r.operator, r.input_hash, j.job_id, r.step, r.outcome_type, r.sensitivity, \
    r.digest, r.version, r.policy, r.result_type, r.verified, r.by_person, r.output_hash, r.time_us";

/// Stored numbers of result types. Never change a number. Other result types are not reused.
const RESULT_TYPES: [(ResultType, i64); 2] = [(ResultType::Pure, 1), (ResultType::Success, 2)];

/// Writes results. Each result replaces an older result with the same key.
pub(crate) fn replace(statements: &mut StatementBatch, reusables: &BTreeMap<ActionId, (i64, &ReusableResult)>) {
    let rows: Vec<_> = reusables
        .values()
        .filter_map(|(job, reusable)| {
            let number = RESULT_TYPES.iter().find(|(known, _)| *known == reusable.result_type)?.1;
            Some((*job, number, *reusable))
        })
        .collect();
    statements.push_upsert(
        "reusables",
        &["tenant_id", "operator", "input_hash"],
        &[
            "job",
            "step",
            "outcome_type",
            "sensitivity",
            "digest",
            "version",
            "policy",
            "result_type",
            "verified",
            "by_person",
            "output_hash",
            "time_us",
        ],
        &rows,
        |statements, (job, result_type, row)| {
            statements.text(row.tenant_id.as_str()).text(row.operator.as_str()).hash(row.input_hash).int(*job);
            statements.text(row.step_id.as_str()).text_or_null(row.outcome_type.as_deref());
            statements.text_or_null(row.sensitivity.as_deref()).hash(row.digest).text(row.version.as_str());
            statements.hash(row.policy).int(*result_type).int(row.is_verified);
            statements.int(row.provenance == Provenance::PersonDecision).hash(row.output_hash).int(row.time_us);
        },
    );
}

pub(crate) async fn read_reusable(
    readers: &Readers,
    tenant: &str,
    operator: &Operator,
    input_hash: Hash,
) -> Result<Option<ReusableResult>, StoreError> {
    let mut statements = StatementBatch::new(&format!(
        "SELECT {COLUMNS} FROM reusables r CROSS JOIN jobs j ON j.id = r.job WHERE r.tenant_id = ? AND r.operator \
         = ? AND r.input_hash = ?"
    ));
    statements.text(tenant).text(operator.as_str()).hash(input_hash);
    let rows = readers.run(StatementName::REUSABLE_READ, statements).await?;
    rows.iter().flatten().next().map(|row| ReusableResult::try_from(RowReader::new(row, "reusables"))).transpose()
}

impl TryFrom<RowReader<'_>> for ReusableResult {
    type Error = StoreError;
    fn try_from(mut row: RowReader<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            tenant_id: row.text()?,
            operator: Operator::from(row.text()?),
            input_hash: row.hash()?,
            job_id: JobId::from(row.text()?),
            step_id: StepId::from(row.text()?),
            outcome_type: row.text_or_null()?,
            sensitivity: row.text_or_null()?,
            digest: row.hash()?,
            version: row.text()?,
            policy: row.hash()?,
            result_type: {
                let number = row.int()?;
                let known = RESULT_TYPES.iter().find(|(_, known)| *known == number);
                known.map(|(kind, _)| *kind).ok_or_else(|| row.damaged(&format!("{number} is not a result type")))?
            },
            is_verified: row.bool()?,
            provenance: if row.bool()? { Provenance::PersonDecision } else { Provenance::Executed },
            output_hash: row.hash()?,
            time_us: row.int()?,
        })
    }
}
