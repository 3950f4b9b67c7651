//! Work on the items of a list on several cores at once.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder, available_parallelism};

use tokio::runtime::Handle;
use tokio::task::block_in_place;

/// Maximum number of threads. Each thread runs an instance with a memory of its own.
const THREADS_MAX: usize = 8;
/// Stack of a thread in bytes, as large as the usual stack of the main thread. Deep inputs are parsed on it.
const STACK_BYTES: usize = 8 << 20;

/// Does the work for each item and returns the results in the order of the items. Blocks the thread.
pub(super) fn for_each<'t, T: Sync, R: Send>(items: &'t [T], work: impl AsyncFn(&'t T) -> R + Sync) -> Vec<R> {
    let handle = Handle::current();
    let next = AtomicUsize::new(0);
    let work_on_items = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else { return done };
            done.push((number, handle.block_on(work(item))));
        }
    };
    let cores = available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX);
    let all = || {
        thread::scope(|scope| {
            // If a thread cannot be created, the others do its work.
            let spawn = |_| Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work_on_items).ok();
            let threads: Vec<_> = (1..cores.min(items.len())).filter_map(spawn).collect();
            let mut done = work_on_items();
            for thread in threads {
                done.extend(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            done
        })
    };
    let mut done = block_in_place(all);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_panic_of_one_item_is_passed_on() {
        let all = || {
            for_each(&[1, 2, 3, 4], async |item| assert_ne!(*item, 3));
        };
        assert!(std::panic::catch_unwind(all).is_err());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn results_have_the_order_of_the_items() {
        let items: Vec<u64> = (0..40).collect();
        let doubled = for_each(&items, async |item| {
            tokio::time::sleep(Duration::from_millis((40 - item) / 10)).await;
            item * 2
        });
        assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert!(for_each(&[] as &[u64], async |item| *item).is_empty());
    }
}
