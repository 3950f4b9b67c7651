//! Rules that run tools against stubs of the servers and directories they may reach: D100 to D149.
//!
//! Each case is a call and the simulated world in which it runs: canned responses of servers, files, a key-value map
//! and secrets. The component runs under its grants as in a job. Only the servers, directories, maps and secrets behind
//! the grants are stubs.
//!
//! `world` builds the stubs for each run and reports their state afterwards. `single_call` checks one call while all
//! servers work. `repeated` and `lost_record` check a call whose record is lost, and `keyless_reconcile` looks for the
//! key in the requests of `reconcile`. `removed_entries` asks `reconcile` about an entry that was removed later.
//! `interrupted` kills the host before each operation of a call. `own_changes` lets `verify` look at what a call
//! changed. `partly_made` asks `reconcile` about a call with a part of its effect. `server_faults` checks the answers
//! of a tool when servers fail, and `refused_writes` checks them when the map refuses writes, and `refused_reads` when
//! it does not answer a read. `undone` lets `compensate` undo a call, and `undone_among_calls` does so with calls
//! before and after it. `emptied` looks for empty entries after an undo, and `not_restored` for entries that are
//! otherwise than before the call. `unreadable` undoes a call that replaced an
//! entry that it could not read, and `long_contents` one that replaced long contents. `undo_of_repetition` undoes a
//! call that was repeated. `new_revision` looks at an undo that adds an entry, and `named_undo` undoes a call with an
//! operator that a plan can name. `two_calls` makes two calls of one job, and `at_once` makes two calls at the same
//! time. `other_operator` calls another operator during a call. `other_keys` makes calls with other keys,
//! `other_inputs` with other inputs, and `other_config` with another configuration. `after_others` makes calls after
//! those of other operators, and `derived_cases` derives whole cases from such calls. `drawn_cases` draws calls at
//! random, and derives cases from the worlds that they leave. `question_by_post` distinguishes questions from changes.
//!
//! Plain TCP has no stub. Connections over plain TCP get no answer.
//!
//! `pure` checks that the answer of a pure tool depends on its input alone. `impure_reads` looks in its code for reads
//! of clocks, random numbers and secrets, without a run.
//!
//! Floors, top first: `run_cases` · `drawn_cases` · `after_others`, `derived_cases` · `interrupted`,
//! `keyless_reconcile`, `long_contents`, `missing_secrets`, `named_undo`, `other_config`, `other_inputs`, `other_keys`,
//! `partly_made`, `removed_entries`, `undo_of_repetition`, `unreadable` · `at_once`, `lost_record`, `never_undone`,
//! `other_operator`, `own_changes`, `repeated`, `two_calls`, `undone` · `refused_reads`, `refused_writes`,
//! `server_faults`, `undo_requests`, `undone_among_calls` · `emptied`, `not_restored`, `pure`, `single_call` · `readers` ·
//! `applied`, `compensation` · `running_case` · `world` · `case_map`, `stub_servers` · `case`, `fault_profile`, `impure_reads`,
//! `new_revision`, `refusal` · `question_by_post`.

mod after_others;
mod applied;
mod at_once;
mod case;
mod case_map;
mod compensation;
mod derived_cases;
mod drawn_cases;
mod emptied;
mod fault_profile;
mod impure_reads;
mod interrupted;
mod keyless_reconcile;
mod long_contents;
mod lost_record;
mod missing_secrets;
mod named_undo;
mod never_undone;
mod new_revision;
mod not_restored;
mod other_config;
mod other_inputs;
mod other_keys;
mod other_operator;
mod own_changes;
mod partly_made;
mod pure;
mod question_by_post;
mod readers;
mod refusal;
mod refused_reads;
mod refused_writes;
mod removed_entries;
mod repeated;
mod run_cases;
mod running_case;
mod server_faults;
mod single_call;
mod stub_servers;
mod two_calls;
mod undo_of_repetition;
mod undo_requests;
mod undone;
mod undone_among_calls;
mod unreadable;
mod world;

pub(crate) use case::parse;
pub(super) use impure_reads::run as check_code;
pub(super) use run_cases::run;
pub(super) use running_case::ToolCheck;
