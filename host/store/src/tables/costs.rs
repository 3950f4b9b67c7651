//! Sums of the costs of calls. The transaction that records an answer also updates the sums. Reports and budget checks
//! read the sums.

use latchwork_core::model::ids::JobId;
use latchwork_core::rules::cost::{self, Charge, CostGrouping, CostTotals};
use latchwork_core::storage::StoreError;

use crate::sql::readers::Readers;
use crate::sql::row::RowReader;
use crate::sql::statement::StatementName;
use crate::sql::statement_batch::StatementBatch;

/// Columns of sums, in the order of [`CostTotals::columns`].
const SUMS: [&str; 10] = [
    "calls",
    "nondeterministic",
    "tokens_in",
    "tokens_out",
    "cost_micro_usd",
    "credits",
    "cache_hits",
    "cache_misses",
    "fuel",
    "wall_ms",
];

/// Tables of sums. Each entry has the name of the table, its key columns, and SQL expressions for the values of the
/// key. In the expressions, `j` is the row of the job. `v` is a row with the columns job, model, day, month and the
/// amounts to add.
const TABLES: [(&str, &str, &str); 3] = [
    ("job_costs", "job, model", "j.id, v.column2"),
    ("actor_day_costs", "day, tenant_id, actor_id, model", "v.column3, j.tenant_id, j.actor_id, v.column2"),
    ("tenant_month_costs", "month, tenant_id, model", "v.column4, j.tenant_id, v.column2"),
];

/// Adds charges to all three tables. Most calls have no charge. Without a charge nothing is written.
pub(crate) fn add(statements: &mut StatementBatch, charges: &[(i64, Charge)]) {
    if charges.is_empty() {
        return;
    }
    let sums = SUMS.join(", ");
    let values: Vec<String> = (5..5 + SUMS.len()).map(|column| format!("SUM(v.column{column})")).collect();
    let values = values.join(", ");
    let added: Vec<String> = SUMS.iter().map(|sum| format!("{sum} = TABLE.{sum} + excluded.{sum}")).collect();
    let added = added.join(", ");
    for (table, key, from) in TABLES {
        statements.push_over_rows(
            &format!("INSERT INTO {table} ({key}, {sums}) SELECT {from}, {values} FROM "),
            4 + SUMS.len(),
            // Write in the order of the key, so that two workers lock rows in the same order.
            &format!(
                " CROSS JOIN jobs j ON j.id = v.column1 WHERE true GROUP BY {from} ORDER BY {from} ON CONFLICT ({key}) \
                 DO UPDATE SET {}",
                added.replace("TABLE.", &format!("{table}."))
            ),
            charges,
            |statements, (job, charge)| {
                statements.int(*job).text(charge.model.as_str());
                statements.text(cost::day(charge.time_us)).text(cost::month(charge.time_us));
                for sum in charge.totals.columns() {
                    statements.int(i64::try_from(sum).unwrap_or(i64::MAX));
                }
            },
        );
    }
}

pub(crate) async fn read_costs(
    readers: &Readers,
    by: CostGrouping,
    job_id: Option<&JobId>,
) -> Result<Vec<cost::CostRow>, StoreError> {
    let (table, key, from, order) = match by {
        CostGrouping::Job => {
            ("job_costs", "j.tenant_id, j.actor_id, j.job_id, NULL", "CROSS JOIN jobs j ON j.id = c.job", "j.id DESC")
        }
        CostGrouping::ActorDay => {
            ("actor_day_costs", "c.tenant_id, c.actor_id, NULL, c.day", "", "c.day DESC, c.tenant_id, c.actor_id")
        }
        CostGrouping::TenantMonth => {
            ("tenant_month_costs", "c.tenant_id, NULL, NULL, c.month", "", "c.month DESC, c.tenant_id")
        }
    };
    let sums: Vec<String> = SUMS.iter().map(|sum| format!("c.{sum}")).collect();
    let one = match (by, job_id) {
        (_, None) => "",
        (CostGrouping::Job, Some(_)) => "WHERE j.job_id = ?",
        // The sums by actor and by tenant add up several jobs, so they cannot be filtered by job.
        (_, Some(_)) => return Ok(Vec::new()),
    };
    let sums = sums.join(", ");
    let mut statements = StatementBatch::new(&format!(
        "SELECT {key}, c.model, {sums} FROM {table} c {from} {one} ORDER BY {order}, c.model"
    ));
    if let Some(job_id) = job_id {
        statements.text(job_id.as_str());
    }
    let rows = readers.run(StatementName::COSTS_READ, statements).await?;
    rows.iter().flatten().map(|row| read(RowReader::new(row, table))).collect()
}

pub(crate) async fn read_spent(readers: &Readers, tenant: &str, month: &str) -> Result<u64, StoreError> {
    let sql = "SELECT CAST(COALESCE(SUM(cost_micro_usd), 0) AS BIGINT) FROM tenant_month_costs WHERE month = ? AND tenant_id = ?";
    let mut statements = StatementBatch::new(sql);
    statements.text(month).text(tenant);
    let rows = readers.run(StatementName::SPENT_READ, statements).await?;
    rows.iter().flatten().next().map_or(Ok(0), |row| RowReader::new(row, "tenant_month_costs").u64())
}

fn read(mut row: RowReader<'_>) -> Result<cost::CostRow, StoreError> {
    let tenant_id = row.text()?;
    let actor_id = row.text_or_null()?;
    let job_id = row.text_or_null()?.map(JobId::from);
    let period = row.text_or_null()?;
    let model = row.text()?;
    let mut columns = [0; SUMS.len()];
    for column in &mut columns {
        *column = row.u64()?;
    }
    Ok(cost::CostRow { tenant_id, actor_id, job_id, period, model, totals: CostTotals::from_columns(columns) })
}
