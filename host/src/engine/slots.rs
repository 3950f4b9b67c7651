//! Room for running instances: memories, tables and stacks are mapped once and used again.
//!
//! Mapping and unmapping them for each try costs more than everything else a small step does.
//! A pool is finite, so instances wait for their turn. Steps and tools have a pool each: a step
//! that waits for a tool never keeps that tool from running.

use std::sync::Arc;

use latchwork_core::manifest::Limits;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wasmtime::component::Component;
use wasmtime::{Enabled, PoolingAllocationConfig};

/// Memories of all running instances of a pool. Address space is reserved for each, 4 GiB; what
/// is not touched takes no memory.
const MEMORIES: u32 = 1024;
/// Tables for each memory: a component needs one for its own functions and one for its imports.
const TABLES_PER_MEMORY: u32 = 8;
/// Memories that instances outside of the count may use: plugins that are being loaded.
const SPARE: u32 = 64;
/// Bytes of a used memory that are cleared in place instead of being given back.
const KEPT_BYTES: usize = 1 << 20;

/// How a pool is laid out.
pub(super) fn pool() -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    let memories = MEMORIES + SPARE;
    pool.total_memories(memories)
        .total_component_instances(memories)
        .total_stacks(memories)
        .total_core_instances(memories * 64)
        .total_tables(memories * TABLES_PER_MEMORY)
        .table_elements(Limits::default().table_elements as usize)
        .max_memories_per_module(16)
        .max_tables_per_module(16)
        .max_core_instance_size(16 << 20)
        .max_component_instance_size(16 << 20)
        .linear_memory_keep_resident(KEPT_BYTES)
        .table_keep_resident(KEPT_BYTES)
        .pagemap_scan(if cfg!(target_os = "linux") { Enabled::Auto } else { Enabled::No });
    pool
}

/// The turns of one pool.
#[derive(Clone)]
pub(crate) struct Slots(Arc<Semaphore>);

impl Slots {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(MEMORIES as usize)))
    }

    /// The turns of a component's instances.
    pub(super) fn of(&self, component: &Component) -> Turns {
        let weight = component.resources_required().map_or(64, |needed| {
            needed.num_memories.max(needed.num_tables.div_ceil(TABLES_PER_MEMORY)).clamp(1, MEMORIES)
        });
        Turns { slots: self.0.clone(), weight }
    }
}

/// The turns of one component.
#[derive(Clone)]
pub(crate) struct Turns {
    slots: Arc<Semaphore>,
    weight: u32,
}

impl Turns {
    /// Waits until an instance fits. It has to be gone before what is returned is dropped.
    pub(crate) async fn take(&self) -> OwnedSemaphorePermit {
        self.slots.clone().acquire_many_owned(self.weight).await.expect("nobody closes the turns")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_does_not_fit_waits() {
        let slots = Slots::new();
        let turns = Turns { slots: slots.0.clone(), weight: MEMORIES };
        let held = turns.take().await;
        let waiting = Turns { slots: slots.0.clone(), weight: 1 };
        let soon = tokio::time::timeout(std::time::Duration::from_millis(20), waiting.take()).await;
        assert!(soon.is_err(), "the pool is full");
        drop(held);
        drop(waiting.take().await);
    }
}
