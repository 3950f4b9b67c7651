//! Configuration of a search: the classes of the calls, the faults, and the rule of the protocol that is left out.

/// Recovery class that a tool declares for its calls (§5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModelClass {
    /// Calls change nothing.
    Read,
    /// Calls may be repeated under their external key.
    Keyed,
    /// The tool can be asked whether a call happened.
    Queryable,
    /// Calls can be neither repeated nor queried, so a person decides.
    Opaque,
}

/// A rule of the protocol that the model leaves out. Each variant describes the behaviour without its rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mutant {
    /// The barrier is written without checking that the attempt holds the job, that the lease is live, and
    /// that the row is unchanged.
    UnfencedAcquire,
    /// The external key contains the executing attempt instead of the attempt that first started the call.
    AttemptScopedKey,
    /// An open try is resolved before its owner is quiescent.
    NoQuiescence,
    /// The tool is called first, and the start is recorded together with the answer.
    NoBarrier,
    /// The answer of a superseded attempt is dropped. With the rule that this mutant removes, the worker still stores
    /// the answer in the effect store.
    LeaseFencedEffects,
    /// A person's decision names the invocation but not the try.
    VerdictWithoutTry,
    /// A person's decision is accepted before the settling time.
    VerdictBeforeSettling,
    /// In staged commit, the events and the ledger row of a definite failure are two durable writes. With the rule that
    /// this mutant removes, they are one write.
    FailureInTwoWrites,
    /// With staged commit, a worker that repeats a call in doubt first stores an effect for the try in doubt. This
    /// effect stays even if the store then refuses the barrier of the repeat.
    ClaimBeforeBarrier,
    /// The repeat of a keyed call changed nothing, and the worker stores the answer of the repeat without the answer's
    /// events. This answer does not settle the call, because the repeated try may have changed something. Later workers
    /// process the answer again and again.
    FailedRepeatSettles,
    /// A worker pauses between reading its clock and the system call that sends the request. After the pause the worker
    /// still sends. The protocol cannot prevent this late send and has to assume that it does not happen.
    LateSend,
}

/// Configuration of one search.
#[derive(Clone, Debug)]
pub struct Config {
    /// Number of workers.
    pub workers: usize,
    /// Classes of the job's invocations. The invocations run one after another.
    pub calls: Vec<ModelClass>,
    /// True if effect, events and row are three separate durable writes.
    pub staged: bool,
    /// Maximum number of tries of one invocation. Must not exceed [`TRIES`](crate::TRIES).
    pub tries: u8,
    /// Number of times a worker may crash.
    pub crashes: u8,
    /// Number of times a lease may expire while its holder is alive.
    pub pauses: u8,
    /// Number of commit answers that may be lost.
    pub lost_commits: u8,
    /// True if a person may request cancellation.
    pub cancel: bool,
    /// True if tools may give inconclusive answers. A tool gives such an answer if it no longer recognizes the key of a
    /// call, or if it cannot find out whether a call happened.
    pub inconclusive_answers: bool,
    /// True if workers reload, read the inbox and suspend at their own pace.
    pub own_pace: bool,
    /// People repeat a request only while the inbox has fewer rows than this number. If the number is 0, people
    /// make each request only once.
    pub max_repeated_requests: u8,
    /// Number of times that workers may release the job or let it wait until a time.
    pub suspensions: u8,
    /// Rule that is left out.
    pub mutant: Option<Mutant>,
}

impl Config {
    /// Returns a world with two workers, one invocation and one fault of each kind.
    pub fn for_class(class: ModelClass) -> Self {
        Self {
            workers: 2,
            calls: vec![class],
            staged: false,
            tries: 2,
            crashes: 1,
            pauses: 1,
            lost_commits: 1,
            cancel: false,
            inconclusive_answers: false,
            own_pace: false,
            max_repeated_requests: 0,
            suspensions: 0,
            mutant: None,
        }
    }

    /// Returns the same world with a staged commit.
    pub fn staged(self) -> Self {
        Self { staged: true, ..self }
    }

    /// Returns the same world without one rule.
    pub fn without(self, mutant: Mutant) -> Self {
        Self { mutant: Some(mutant), ..self }
    }

    pub(crate) fn lacks(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }
}
