//! Event logs: one row holds the events of one append.

use latchwork_core::event::Event;
use latchwork_core::model::ids::{Hash, JobId};
use latchwork_core::storage::{
    InboxRequest, InboxRow, JobRow, JobTail, LogEnd, StateReason, StoreError, reason_event_markers, state_reason,
};

use crate::sql::readers::Readers;
use crate::sql::row::RowReader;
use crate::sql::statement::StatementName;
use crate::sql::statement_batch::StatementBatch;
use crate::tables::inbox;
use crate::tables::rows::INBOX_COLUMNS;

/// Events of a job that are appended together.
pub(crate) struct Append {
    key: i64,
    count: i64,
    head: Hash,
    bytes: String,
}

/// Number of bytes that a row stores of the hash of its last event.
const HEAD_LEN: usize = 8;

/// Maximum number of events per job. The key of a row is the key of its job times this number, plus the sequence number
/// of the row's first event. The rows of a longer log would get keys that belong to the next job.
const SPAN: i64 = 1 << 32;

impl Append {
    /// Creates the row of these events. Returns `None` for an empty list.
    pub(crate) fn of(job: i64, events: &[Event]) -> Option<Self> {
        let (first, last) = (events.first()?, events.last()?);
        let mut bytes = String::with_capacity(events.iter().map(|event| event.bytes.len() + 1).sum());
        for (index, event) in events.iter().enumerate() {
            if index > 0 {
                bytes.push('\n');
            }
            bytes.push_str(std::str::from_utf8(&event.bytes).expect("canonical JSON is UTF-8"));
        }
        let first = i64::try_from(first.seq).expect("a log is far shorter than 2^32");
        Some(Self { key: job * SPAN + first, count: events.len() as i64, head: last.hash, bytes })
    }
}

/// Appends the statements that insert the rows.
pub(crate) fn insert(statements: &mut StatementBatch, rows: &[Append]) {
    statements.push_over_rows(
        "INSERT INTO events SELECT column1, column2, column3, column4 FROM ",
        4,
        " WHERE column1 IS NOT NULL",
        rows,
        |statements, row| {
            statements.int(row.key).int(row.count).blob(&row.head.0[..HEAD_LEN]).text(row.bytes.as_str());
        },
    );
}

/// Builds the log of a job from its rows, whose columns are id, count, head and bytes. Checks that each event
/// contains the hash of the event before it. Also checks that the log ends at the position stored in the job's
/// row.
pub(crate) fn chain<'a>(job: &JobRow, rows: impl Iterator<Item = RowReader<'a>>) -> Result<Vec<Event>, StoreError> {
    let mut events = Vec::with_capacity(usize::try_from(job.next_seq).unwrap_or_default());
    let mut head = Hash::default();
    for mut row in rows {
        let first = row.int()? % SPAN;
        let damaged = |what: String| damaged(&job.job_id, first, &what);
        if first != events.len() as i64 {
            return Err(damaged(format!("column id: events from {} on are missing", events.len())));
        }
        let (count, row_head, bytes) = (row.int()?, row.blob()?, row.text()?);
        let before = events.len() as i64;
        for line in bytes.split('\n') {
            let event = Event::parse(line.as_bytes(), events.len() as u64, head)
                .map_err(|error| damaged(format!("column bytes: {error}")))?;
            head = event.hash;
            events.push(event);
        }
        if events.len() as i64 - before != count {
            return Err(damaged(format!(
                "column count: it is {count}, but the row has {} events",
                events.len() as i64 - before
            )));
        }
        if head.0[..HEAD_LEN] != row_head[..] {
            return Err(damaged(format!(
                "column head: it is not a prefix of {head}, the hash of the last event of the row"
            )));
        }
    }
    if (events.len() as u64, head) != (job.next_seq, job.head) {
        return Err(StoreError::Damaged(format!(
            "table jobs, columns next_seq and head, row (job_id {}): they state {} events ending in {}, but the log has {} \
             ending in {head}",
            job.job_id,
            job.next_seq,
            job.head,
            events.len()
        )));
    }
    Ok(events)
}

/// Returns the end of a log, and the request to reopen the job if the inbox contains such a request. Checks only the
/// position of the last event. Only a full load checks the whole log.
pub(crate) async fn read_outline(readers: &Readers, job_id: &JobId) -> Result<Option<JobTail>, StoreError> {
    let mut statements = StatementBatch::new(
        "SELECT e.id, e.bytes, j.next_seq FROM jobs j CROSS JOIN events e ON e.id >= j.id * 4294967296 AND e.id < \
         (j.id + 1) * 4294967296 WHERE j.job_id = ? ORDER BY e.id DESC LIMIT 1",
    );
    statements.text(job_id.as_str());
    statements.push(&format!(
        "SELECT {INBOX_COLUMNS} FROM jobs j CROSS JOIN inbox i ON i.job = j.id AND i.done = 0 WHERE j.job_id = ? AND \
         i.request IN (?, ?) ORDER BY i.id LIMIT 1"
    ));
    let [retry, undo] = [InboxRequest::Retry, InboxRequest::Undo].map(|request| inbox::json(&request));
    statements.text(job_id.as_str()).text(retry).text(undo);
    let rows = readers.run_snapshot(StatementName::OUTLINE, statements).await?;
    let Some(row) = rows[0].first() else { return Ok(None) };
    let mut row = RowReader::new(row, "events");
    let (first, bytes, next_seq) = (row.int()? % SPAN, row.text()?, row.u64()?);
    let damaged = |what: String| damaged(job_id, first, &format!("column bytes: {what}"));
    let last = bytes.rsplit('\n').next().unwrap_or_default();
    let end: LogEnd = serde_json::from_str(last).map_err(|error| damaged(error.to_string()))?;
    if end.seq + 1 != next_seq {
        return Err(damaged(format!("its last event has number {}, but the job has {next_seq} events", end.seq)));
    }
    let reopen = rows[1].first().map(|row| InboxRow::try_from(RowReader::new(row, "inbox"))).transpose()?;
    Ok(Some(JobTail { end, reopen }))
}

/// Maximum number of jobs whose events one statement batch reads.
const REASONS_PER_BATCH: usize = 64;

/// Returns the reason for the current state of each job. The database selects only the event rows that
/// contain the reasons, not the whole logs.
pub(crate) async fn read_reasons(readers: &Readers, jobs: &[JobRow]) -> Result<Vec<StateReason>, StoreError> {
    let mut whys = Vec::with_capacity(jobs.len());
    for jobs in jobs.chunks(REASONS_PER_BATCH) {
        let mut statements = StatementBatch::default();
        let asked: Vec<&JobRow> =
            jobs.iter().filter(|row| !reason_event_markers(row.state, row.cancel_requested).is_empty()).collect();
        for row in &asked {
            let parts = reason_event_markers(row.state, row.cancel_requested);
            let like = vec!["e.bytes LIKE ?"; parts.len()].join(" OR ");
            statements.push(&format!(
                "SELECT e.bytes FROM jobs j CROSS JOIN events e ON e.id >= j.id * 4294967296 AND e.id < (j.id + 1) * \
                 4294967296 WHERE j.job_id = ? AND ({like}) ORDER BY e.id DESC LIMIT {}",
                parts.len()
            ));
            statements.text(row.job_id.as_str());
            for part in parts {
                statements.text(format!("%{part}%"));
            }
        }
        let found =
            if asked.is_empty() { Vec::new() } else { readers.run(StatementName::JOBS_READ, statements).await? };
        let mut found = found.iter();
        for row in jobs {
            let rows =
                if reason_event_markers(row.state, row.cancel_requested).is_empty() { None } else { found.next() };
            let texts = rows.into_iter().flatten().map(|row| RowReader::new(row, "events").text());
            let texts: Vec<String> = texts.collect::<Result<_, _>>()?;
            whys.push(state_reason(row.state, row.cancel_requested, texts.iter().flat_map(|text| text.rsplit('\n'))));
        }
    }
    Ok(whys)
}

fn damaged(job_id: &JobId, first: i64, what: &str) -> StoreError {
    StoreError::Damaged(format!("table events, row (job_id {job_id}, first event {first}), {what}"))
}
