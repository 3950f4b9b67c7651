//! Kills the store at every crash point, on SQLite and on PostgreSQL. Each acknowledged write survives, each
//! unacknowledged write is complete or absent, and nothing else is stored.
//!
//! The test starts this binary again to run [`child`]. The environment variable [`ORDERS`] contains the
//! database and the crash point.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions as FileOptions};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use latchwork_core::model::job::JobState;
use latchwork_core::rules::ledger::RowState;
use latchwork_core::storage::expectation::TimerWrite;
use latchwork_core::storage::map::entry_bytes;
use latchwork_core::storage::{
    BatchKind, EffectStore, InboxRequest, InboxRow, JobFilter, Journal, KeyValue, LeaseRequest, LedgerWrite, MapName,
    QueueLimit, QuotaExceeded, SetError, StoredJob,
};
use latchwork_store::{
    Database, KillAt, OpenOptions, OwnerLock, POSTGRES_STATEMENTS, Probe, STATEMENTS, Side, StoreClock,
};

use crate::support::seed::{Half, half_of, is_sweep, run_seed, seeded_rng};
use crate::support::servers::postgres::server::{database, simulate_full_disk};
use crate::support::store_fixture::{LogWriter, effect, ledger_row, new_job, payload};

const ORDERS: &str = "LATCHWORK_TEST_STORE_CRASH";
/// Quota of the map.
const QUOTA: u64 = 1 << 40;
/// Maximum number of database pages, small enough that one of the child's writes finds the disk full.
const MAX_PAGES: u32 = 200;

/// Returns the name of the map.
fn map() -> MapName {
    MapName::of_tenant("acme", "n").unwrap()
}

/// Kills the process at one crash point. If `lose` is set, also loses the answer to the next commit.
struct CrashProbe {
    kill: KillAt,
    /// Name of the statement that commits on this database.
    commits: &'static str,
    lose: Arc<AtomicBool>,
}

impl Probe for CrashProbe {
    fn at(&self, point: &str, side: Side) {
        self.kill.at(point, side);
    }
    fn loses_answer(&self, point: &str) -> bool {
        point == self.commits && self.lose.swap(false, Ordering::SeqCst)
    }
}

/// Records requested and acknowledged writes line by line. The lines of a killed process survive.
struct WriteNotes(Mutex<File>);

impl WriteNotes {
    async fn note_around<T>(&self, what: &str, work: impl Future<Output = T>) -> T {
        self.write_line("asked", what);
        let outcome = work.await;
        self.write_line("done", what);
        outcome
    }

    fn write_line(&self, word: &str, what: &str) {
        self.0.lock().unwrap().write_all(format!("{word} {what}\n").as_bytes()).unwrap();
    }
}

/// Runs in the process that is killed. In an ordinary run of the tests, the environment variable [`ORDERS`] is not set,
/// and this function does nothing.
#[test]
fn child() {
    let Ok(orders) = std::env::var(ORDERS) else { return };
    let [dir, name, side, nth, url] = orders.split('|').collect::<Vec<_>>()[..] else { panic!("orders") };
    let side = if side == "before" { Side::Before } else { Side::After };
    let kill = KillAt::new(name, side, nth.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(write_everything(Path::new(dir), url, kill));
}

/// Returns the name of [`child`] for the test harness: its path within this binary.
fn child_name() -> &'static str {
    let path = concat!(module_path!(), "::child");
    path.split_once("::").expect("the path begins with the name of the crate").1
}

/// Returns the options for the database at `url`, or for a database in `dir` if `url` is empty.
fn open_options(dir: &Path, url: &str) -> OpenOptions {
    if url.is_empty() { OpenOptions::new(dir.join("latch.db")) } else { OpenOptions::server(url, dir.join("owners")) }
}

async fn write_everything(dir: &Path, url: &str, kill: KillAt) {
    let notes = FileOptions::new().create(true).append(true).open(dir.join("notes")).unwrap();
    let notes = WriteNotes(Mutex::new(notes));
    let lose = Arc::new(AtomicBool::new(false));
    let commits = if url.is_empty() { "group_write" } else { "commit" };
    let probe = Arc::new(CrashProbe { kill, commits, lose: lose.clone() });
    let options = OpenOptions { probe, pages_max: Some(MAX_PAGES), ..open_options(dir, url) };
    let store = notes.note_around("open", Database::open(options)).await.unwrap();
    if !url.is_empty() {
        simulate_full_disk(url).await;
    }
    let lock = OwnerLock::acquire(dir, "child", "child", &StoreClock::new().unwrap()).unwrap();
    let claimer = LeaseRequest { owner: lock.owner().clone(), lease_ms: 600_000 };
    store.check_generation().await.unwrap();
    let mut writer = NotedWriter::submit_jobs(store, notes, &claimer).await;
    writer.write_call().await;
    writer.write_group().await;
    writer.write_inbox_and_timer().await;
    writer.write_effects_and_values().await;
    lose.store(true, Ordering::SeqCst);
    writer.lose_answer().await;
    writer.read_everything().await;
    // The open jobs name this process as their owner. The sweep must therefore keep the lock file of this process.
    writer.store.sweep_owners(dir, &lock).await.unwrap();
    writer.end_jobs().await;
}

/// Makes the child's writes and notes each write. Job `b` is claimed together with its submission, and job `a` by a
/// later claim.
struct NotedWriter {
    store: Arc<Database>,
    notes: WriteNotes,
    log_a: LogWriter,
    log_b: LogWriter,
}

impl NotedWriter {
    /// Submits and claims both jobs.
    async fn submit_jobs(store: Arc<Database>, notes: WriteNotes, claimer: &LeaseRequest) -> Self {
        let (mut a, mut b) = (new_job("a"), new_job("b"));
        a.queue = QueueLimit { all: Some(10), tenant: Some(10) };
        b.claim = Some(claimer.clone());
        let (mut log_a, mut log_b) = (LogWriter::of(&a), LogWriter::of(&b));
        (log_a.attempt, log_b.attempt) = (1, 1);
        notes.note_around("submit a", store.submit(a)).await.unwrap();
        notes.note_around("submit b", store.submit(b)).await.unwrap();
        notes.note_around("claim a", store.claim(claimer)).await.unwrap().unwrap();
        store.heartbeat(&[(log_a.job_id.clone(), 1)], 600_000).await.unwrap();
        NotedWriter { store, notes, log_a, log_b }
    }

    /// Writes the barrier and the commit of one call.
    async fn write_call(&mut self) {
        let Self { store, notes, log_a, .. } = self;
        let mut barrier = log_a.append(1);
        barrier.writes.kind = BatchKind::START_CALLS;
        barrier.writes.ledger = vec![LedgerWrite::Insert(ledger_row("s1", RowState::Inflight, 1))];
        barrier.writes.payloads = vec![payload("args/s1", b"{}")];
        notes.note_around("barrier", store.write(barrier)).await.unwrap();
        let open = store.recover(&log_a.job_id).await.unwrap().remove(0);
        store.quiescence(&log_a.job_id, &open, 0).await.unwrap();

        let mut commit = log_a.append(2);
        let row = ledger_row("s1", RowState::Committed, 1);
        commit.writes.effects = vec![effect("s1", 1, "{}")];
        let (expect, expect_try, expect_nonce) = (RowState::Inflight, 1, row.nonce);
        commit.writes.ledger = vec![LedgerWrite::Update { expect, expect_try, expect_nonce, row }];
        notes.note_around("commit", store.write(commit)).await.unwrap();
    }

    /// Writes of several kinds share one group commit.
    async fn write_group(&mut self) {
        let Self { store, notes, log_a, log_b } = self;
        let (in_a, in_b, map) = (log_a.append(1), log_b.append(1), map());
        let (in_a, in_b, value) = tokio::join!(
            notes.note_around("group a", store.write(in_a)),
            notes.note_around("group b", store.write(in_b)),
            notes.note_around("group value", store.set(&map, "group", b"1", QUOTA)),
        );
        assert_eq!((in_a, in_b, value), (Ok(()), Ok(()), Ok(())));
    }

    async fn write_inbox_and_timer(&mut self) {
        let Self { store, notes, log_b, .. } = self;
        let put = store.put_inbox(&log_b.job_id, "ann", None, InboxRequest::Continue);
        let request = notes.note_around("ask b", put).await.unwrap();
        assert_eq!(store.inbox(&log_b.job_id).await.unwrap().len(), 1);
        let mut drain = log_b.append(1);
        drain.writes.inbox_done = vec![request];
        drain.timers = vec![TimerWrite { name: "wait/s".to_owned(), due_us: Some(1) }];
        notes.note_around("drain b", store.write(drain)).await.unwrap();
        notes.note_around("fire b", store.fire_timers()).await.unwrap();
    }

    async fn write_effects_and_values(&mut self) {
        let Self { store, notes, log_a, log_b } = self;
        notes.note_around("foreign effect", store.put(&"job_foreign".into(), &[effect("s1", 1, "{}")])).await.unwrap();
        store.effects(&log_a.job_id).await.unwrap();
        // The second of these two writes changes nothing, because its effect is already stored. The commit is then a
        // separate statement, at which the child can be killed.
        let (again, foreign) = ([effect("s1", 1, "{}")], "job_foreign".into());
        let (in_b, same) =
            tokio::join!(notes.note_around("before commit", store.write(log_b.append(1))), store.put(&foreign, &again));
        assert_eq!((in_b, same), (Ok(()), Ok(())));
        notes.note_around("set", store.set(&map(), "k", b"v", QUOTA)).await.unwrap();
        store.get(&map(), "k").await.unwrap();
        notes.note_around("delete", store.delete(&map(), "k")).await.unwrap();
        store.set(&map(), "big", &vec![7; 4096 * MAX_PAGES as usize], QUOTA).await.unwrap_err();
    }

    /// Makes a write whose answer the probe loses.
    async fn lose_answer(&mut self) {
        self.notes.note_around("lost answer", self.store.write(self.log_a.append(1))).await.unwrap();
    }

    /// Executes the statements that read.
    async fn read_everything(&self) {
        let Self { store, log_a, .. } = self;
        store.load(&log_a.job_id).await.unwrap();
        store.job_tail(&log_a.job_id).await.unwrap();
        store.job(&log_a.job_id).await.unwrap();
        store.jobs(&JobFilter { limit: 10, ..JobFilter::default() }).await.unwrap();
        store.action_reservation("tenant", &"Mail.Send".into(), log_a.head).await.unwrap();
        store.reusable("tenant", &"Mail.Send".into(), log_a.head).await.unwrap();
        store.payload(&log_a.job_id, "plan").await.unwrap();
        store.costs(latchwork_core::rules::cost::CostGrouping::Job, None).await.unwrap();
        store.spent("tenant", "2026-11").await.unwrap();
        store.check_file().await.unwrap();
        store.shared_maps().await.unwrap();
        store.schema().await.unwrap();
    }

    /// Completes job `a` and releases job `b`.
    async fn end_jobs(&mut self) {
        let Self { store, notes, log_a, log_b } = self;
        let end = log_a.ending(JobState::Completed, None);
        notes.note_around("end a", store.write(end)).await.unwrap();
        let back = log_b.ending(JobState::Pending, None);
        notes.note_around("give back b", store.write(back)).await.unwrap();
    }
}

/// Writes that the child notes, except `set` and `delete`.
const NOTED_WRITES: [&str; 16] = [
    "submit a",
    "submit b",
    "claim a",
    "barrier",
    "commit",
    "group a",
    "group b",
    "group value",
    "ask b",
    "drain b",
    "fire b",
    "foreign effect",
    "before commit",
    "lost answer",
    "end a",
    "give back b",
];

/// Reads the stored data after a crash, and panics if a write is stored only in part.
struct StoredAfterCrash {
    store: Arc<Database>,
    a: Option<StoredJob>,
    b: Option<StoredJob>,
}

impl StoredAfterCrash {
    async fn is_stored(&self, what: &str) -> bool {
        let seq = |record: &Option<StoredJob>| record.as_ref().map_or(0, |record| record.row.next_seq);
        let (seq_a, seq_b) = (seq(&self.a), seq(&self.b));
        let row = self.a.as_ref().and_then(|a| a.ledger.first());
        match what {
            "open" => true,
            "submit a" => all_or_nothing([self.a.is_some(), has_payload(&self.a, "plan")]),
            "submit b" => all_or_nothing([
                self.b.is_some(),
                has_payload(&self.b, "plan"),
                self.b.as_ref().is_some_and(|b| b.row.attempt == 1),
            ]),
            "claim a" => self.a.as_ref().is_some_and(|a| a.row.attempt == 1),
            "barrier" => all_or_nothing([seq_a >= 3, row.is_some(), has_payload(&self.a, "args/s1")]),
            "commit" => {
                let effects = self.store.effects(&"job_a".into()).await.unwrap();
                all_or_nothing([
                    seq_a >= 5,
                    row.is_some_and(|row| row.state == RowState::Committed),
                    !effects.is_empty(),
                ])
            }
            "group a" => seq_a >= 6,
            "group b" => seq_b >= 3,
            "group value" => self.store.get(&map(), "group").await.unwrap().is_some(),
            "ask b" => {
                let open = self.b.as_ref().is_some_and(|b| !b.inbox.is_empty());
                assert_eq!(open, self.b.as_ref().is_some_and(|b| b.row.inbox_pending));
                open || seq_b >= 4
            }
            "drain b" => seq_b >= 4,
            "fire b" => {
                let fired = |row: &InboxRow| matches!(row.request, InboxRequest::Timer { .. });
                self.b.as_ref().is_some_and(|b| b.inbox.iter().any(fired))
            }
            "before commit" => seq_b >= 5,
            "foreign effect" => !self.store.effects(&"job_foreign".into()).await.unwrap().is_empty(),
            // `set` stores a value, and `delete` removes the value. The presence of the value therefore shows which of
            // the two was executed last.
            "set" | "delete" => return self.is_value_as_expected(what).await,
            "lost answer" => seq_a >= 7,
            "end a" => {
                all_or_nothing([seq_a >= 8, self.a.as_ref().is_some_and(|a| a.row.state == JobState::Completed)])
            }
            "give back b" => {
                all_or_nothing([seq_b >= 6, self.b.as_ref().is_some_and(|b| b.row.state == JobState::Pending)])
            }
            other => panic!("{other}"),
        }
    }

    async fn is_value_as_expected(&self, what: &str) -> bool {
        let there = self.store.get(&map(), "k").await.unwrap().is_some();
        (what == "set") == there
    }

    /// Checks that every acknowledged write is stored, and that nothing else is stored. `notes` contains the lines that
    /// the child wrote.
    async fn check_noted_writes(&self, when: &str, notes: &str) {
        let mut asked: BTreeMap<&str, bool> = BTreeMap::new();
        for line in notes.lines() {
            let (word, what) = line.split_once(' ').unwrap();
            asked.insert(what, word == "done");
        }
        for what in NOTED_WRITES {
            let there = self.is_stored(what).await;
            match asked.get(what) {
                Some(true) => assert!(there, "{when}: {what} was acknowledged and is lost\n{notes}"),
                Some(false) => {}
                None => assert!(!there, "{when}: {what} is stored but was never requested\n{notes}"),
            }
        }
        if asked.get("delete").is_none_or(|done| *done) && asked.get("set").is_none_or(|done| *done) {
            let expected = asked.contains_key("set") && !asked.contains_key("delete");
            assert_eq!(self.store.get(&map(), "k").await.unwrap().is_some(), expected, "{when}");
        }
        assert_eq!(self.store.get(&map(), "big").await.unwrap(), None);
        self.check_bytes_of_map(when).await;
    }

    /// I233: the counted bytes of the map are the sum of the bytes of its entries. The test reads the count from the
    /// refusal of a write beyond the quota.
    async fn check_bytes_of_map(&self, when: &str) {
        let mut bytes = 0;
        for key in ["group", "k"] {
            let value = self.store.get(&map(), key).await.unwrap();
            bytes += value.map_or(0, |value| entry_bytes(key.len(), value.len()));
        }
        let refused = self.store.set(&map(), "probe", b"", 0).await;
        let needed = bytes + entry_bytes("probe".len(), 0);
        assert_eq!(refused, Err(SetError::Quota(QuotaExceeded { used: bytes, needed })), "{when}");
    }

    /// Checks that the dead owner's jobs can be claimed immediately, as the next attempt, and can be continued.
    async fn check_jobs_continue(&self, dir: &Path) {
        let store = &self.store;
        let lock = OwnerLock::acquire(dir, "next", "next", &StoreClock::new().unwrap()).unwrap();
        let claimer = LeaseRequest { owner: lock.owner().clone(), lease_ms: 600_000 };
        for before in [&self.a, &self.b].into_iter().flatten() {
            let claim = store.claim_job(&before.row.job_id, &claimer).await.unwrap();
            if before.row.state.is_terminal() {
                assert!(claim.is_none());
                continue;
            }
            let row = claim.expect("its owner is dead").row;
            assert_eq!(row.attempt, before.row.attempt + 1);
            let mut log = LogWriter { job_id: row.job_id, attempt: row.attempt, seq: row.next_seq, head: row.head };
            store.write(log.append(1)).await.unwrap();
            assert_eq!(store.load(&log.job_id).await.unwrap().unwrap().events.len() as u64, log.seq);
        }
    }
}

fn has_payload(record: &Option<StoredJob>, label: &str) -> bool {
    record.as_ref().is_some_and(|record| record.payloads.iter().any(|payload| payload.label == label))
}

fn all_or_nothing<const N: usize>(parts: [bool; N]) -> bool {
    assert!(parts.iter().all(|part| *part == parts[0]), "written in part: {parts:?}");
    parts[0]
}

/// Kills a child at this point and checks the data that it stored. Returns true if the child reached the point.
async fn crash_and_check(name: &str, side: &str, nth: u32, url: &str) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let when = format!("{name} {side} {nth}");
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", child_name(), "--nocapture"])
        .env(ORDERS, format!("{}|{name}|{side}|{nth}|{url}", dir.path().display()))
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success() || status.signal() == Some(9), "{when}: {status}");

    let notes = std::fs::read_to_string(dir.path().join("notes")).unwrap_or_default();
    let store = Database::open(open_options(dir.path(), url)).await.unwrap();
    store.check_file().await.unwrap();
    store.check_generation().await.unwrap();
    // Loading a job checks its hash chain.
    let found = StoredAfterCrash {
        a: store.load(&"job_a".into()).await.unwrap(),
        b: store.load(&"job_b".into()).await.unwrap(),
        store,
    };
    found.check_noted_writes(&when, &notes).await;
    found.check_jobs_continue(dir.path()).await;
    status.signal() == Some(9)
}

/// Statements that the child executes for several purposes, with the number of executions at which the child is killed.
const PASSES: [(&str, u32); 4] = [("group_read", 6), ("group_write", 6), ("effects_find", 2), ("effects_insert", 2)];

/// I5, I233.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_crash_at_any_statement_loses_no_acknowledged_write() {
    for name in STATEMENTS {
        let times = PASSES.iter().find(|(often, _)| often == name).map_or(1, |(_, times)| *times);
        for side in ["before", "after"] {
            for nth in 1..=times {
                assert!(crash_and_check(name, side, nth, "").await, "no child reached {name}, {side}, pass {nth}");
            }
        }
    }
}

/// Statements that the child executes only on SQLite: `quick_check` checks the database file, and `reread` reads the
/// ends of the logs after a lost answer.
const SQLITE_ONLY: [&str; 2] = ["quick_check", "reread"];

/// Statements that every transaction on a server executes, with the number of executions at which the child is killed.
const SERVER_PASSES: [(&str, u32); 2] = [("begin", 8), ("commit", 8)];

/// I5, I233. A seed selects half of the statements and one execution of each. A sweep uses all of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "crashes many stores; run by .ci/long"]
async fn postgres_crash_at_any_statement_loses_no_acknowledged_write() {
    let names = STATEMENTS.iter().chain(POSTGRES_STATEMENTS).filter(|name| !SQLITE_ONLY.contains(name));
    let mut dice = seeded_rng(run_seed());
    for name in half_of(names, Half::First) {
        let often = PASSES.iter().chain(&SERVER_PASSES).find(|(often, _)| often == name);
        let times = often.map_or(1, |(_, times)| *times);
        let chosen = 1 + dice.below(times);
        for side in ["before", "after"] {
            for nth in (1..=times).filter(|nth| is_sweep() || *nth == chosen) {
                let Some(url) = database().await else { return };
                assert!(crash_and_check(name, side, nth, &url).await, "no child reached {name}, {side}, pass {nth}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_writes_are_stored_without_a_crash() {
    assert!(!crash_and_check("none", "before", 1, "").await);
    if let Some(url) = database().await {
        assert!(!crash_and_check("none", "before", 1, &url).await);
    }
}
