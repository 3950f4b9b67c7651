//! Lookups of names by the operating system, limited for each call and for the process.
//!
//! The operating system looks up a name on a thread that cannot be stopped. A process has a fixed number of threads for
//! such work, and every job needs them. A lookup therefore needs two places: one of its call and one of the process. It
//! keeps both until its thread ends, even if the guest no longer waits for the result.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use latchwork_core::model::bounds;

use crate::os::Machine;
use crate::os::lack::lack_of_descriptors;

/// Places of the lookups of one call. Clones share the places.
#[derive(Clone, Debug)]
pub(crate) struct Lookups {
    call: Arc<Semaphore>,
    process: Arc<Semaphore>,
}

/// Reason why a lookup returned no address.
#[derive(Debug)]
pub(crate) enum LookupError {
    /// The lookup had no place, or no result, in time.
    TimedOut,
    /// The operating system found no address.
    Failed(io::Error),
}

impl Lookups {
    /// Returns the places of a new call. The places of the process belong to the machine.
    pub(crate) fn of_call(machine: &Machine) -> Self {
        Self { call: Arc::new(Semaphore::new(bounds::RUNNING_LOOKUPS)), process: machine.lookup_places().clone() }
    }

    /// Looks up a name. Waits for a place and for the result, for at most `within` and the limit of a lookup.
    pub(crate) async fn look_up(
        &self,
        host: String,
        port: u16,
        within: Duration,
    ) -> Result<Vec<SocketAddr>, LookupError> {
        let look_up = move || Ok(first_addresses((host.as_str(), port).to_socket_addrs()?));
        self.run(look_up, within.min(Duration::from_millis(bounds::LOOKUP_TIMEOUT_MS.into()))).await
    }

    /// Runs a function that blocks its thread, as soon as there are places for it.
    async fn run<R: Send + 'static>(
        &self,
        look_up: impl FnOnce() -> io::Result<R> + Send + 'static,
        within: Duration,
    ) -> Result<R, LookupError> {
        let looked_up = async {
            // The place of the call comes first, so that the lookups of one call take few places in the queue of the
            // process.
            let places = (take(&self.call).await, take(&self.process).await);
            let thread = tokio::task::spawn_blocking(move || {
                // The system reports a lack of descriptors like an unknown name.
                let result = look_up().map_err(|error| lack_of_descriptors().unwrap_or(error));
                drop(places);
                result
            });
            thread.await.unwrap_or_else(|error| Err(io::Error::other(error))).map_err(LookupError::Failed)
        };
        timeout(within, looked_up).await.unwrap_or(Err(LookupError::TimedOut))
    }
}

async fn take(places: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    places.clone().acquire_owned().await.expect("the semaphore is never closed")
}

/// Leaves out the addresses beyond the limit. The server of a name decides how many addresses the name has.
fn first_addresses(found: impl Iterator<Item = SocketAddr>) -> Vec<SocketAddr> {
    found.take(bounds::LOOKUP_ADDRESSES).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Time after which a lookup that cannot run is given up.
    const SHORT: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_secs(20);

    /// Starts lookups that wait until the returned sender is dropped.
    async fn hanging(lookups: &Lookups, count: usize) -> Vec<mpsc::Sender<()>> {
        let mut senders = Vec::new();
        for _ in 0..count {
            let (sender, receiver) = mpsc::channel::<()>();
            let hang = move || Ok(receiver.recv().is_ok());
            let ended = lookups.run(hang, SHORT).await;
            assert!(matches!(ended, Err(LookupError::TimedOut)), "{ended:?}");
            senders.push(sender);
        }
        senders
    }

    async fn has_place(lookups: &Lookups, within: Duration) -> bool {
        lookups.run(|| Ok(()), within).await.is_ok()
    }

    /// I239: bound `running_lookups`. A lookup that its guest has given up keeps its place until its thread ends.
    #[tokio::test]
    async fn lookups_of_a_call_that_hang_take_no_place_of_another_call() {
        let machine = Machine::system();
        let (greedy, honest) = (Lookups::of_call(&machine), Lookups::of_call(&machine));
        let mut held = hanging(&greedy, bounds::RUNNING_LOOKUPS - 1).await;
        assert!(has_place(&greedy, LONG).await);
        held.extend(hanging(&greedy, 1).await);
        assert!(!has_place(&greedy, SHORT).await);
        assert!(has_place(&honest, LONG).await);
        held.pop();
        assert!(has_place(&greedy, LONG).await);
    }

    /// I239: bound `process_lookups`. The limit is much smaller than the number of threads of the process.
    #[tokio::test]
    async fn lookups_of_all_calls_take_few_threads() {
        let machine = Machine::system();
        let mut held = Vec::new();
        for _ in 0..bounds::PROCESS_LOOKUPS / bounds::RUNNING_LOOKUPS {
            assert!(has_place(&Lookups::of_call(&machine), LONG).await);
            held.extend(hanging(&Lookups::of_call(&machine), bounds::RUNNING_LOOKUPS).await);
        }
        assert_eq!(held.len(), bounds::PROCESS_LOOKUPS);
        assert!(!has_place(&Lookups::of_call(&machine), SHORT).await);
        assert!(tokio::task::spawn_blocking(|| true).await.unwrap(), "other work still has threads");
        held.pop();
        assert!(has_place(&Lookups::of_call(&machine), LONG).await);
    }

    /// I239: bound `lookup_timeout_ms`. The caller may allow more time.
    #[tokio::test(start_paused = true)]
    async fn lookup_ends_at_its_limit_of_time() {
        let machine = Machine::system();
        let places = machine.lookup_places().clone();
        let all = places.acquire_many_owned(bounds::PROCESS_LOOKUPS as u32).await.unwrap();
        let lookups = Lookups::of_call(&machine);
        let limit = Duration::from_millis(bounds::LOOKUP_TIMEOUT_MS.into());
        for (within, limit) in [(2 * limit, limit), (limit / 2, limit / 2)] {
            let margin = Duration::from_millis(5);
            let mut lookup = std::pin::pin!(lookups.look_up("localhost".to_owned(), 80, within));
            assert!(tokio::time::timeout(limit - margin, &mut lookup).await.is_err(), "it ended before its limit");
            let ended = tokio::time::timeout(2 * margin, lookup).await.expect("it ends at its limit");
            assert!(matches!(ended, Err(LookupError::TimedOut)), "{ended:?}");
        }
        drop(all);
    }

    /// I239: bound `lookup_addresses`.
    #[test]
    fn addresses_of_a_lookup_are_left_out_beyond_their_limit() {
        let found = |count: usize| first_addresses((0..count).map(|n| SocketAddr::from(([10, 0, 0, 1], n as u16))));
        assert_eq!(found(bounds::LOOKUP_ADDRESSES).len(), bounds::LOOKUP_ADDRESSES);
        assert_eq!(found(bounds::LOOKUP_ADDRESSES + 1), found(bounds::LOOKUP_ADDRESSES));
    }
}
