//! Pools of memories, tables and stacks for running instances. A pool is mapped once and reused.
//!
//! Without a pool, mapping and unmapping memory for each try would cost more than everything else that a small step
//! does. A pool is finite, so a new instance waits until there is room.
//!
//! Steps and tools have separate pools. A step keeps its memory while it waits for a tool. In a common pool, waiting
//! steps could take all memories, and the tools could not run.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wasmtime::component::Component;
use wasmtime::{Enabled, PoolingAllocationConfig};

use latchwork_core::model::manifest::Limits;

/// Number of memories for all running instances of a pool. Each memory reserves 4 GiB of address space. Untouched pages
/// use no memory.
const MEMORIES: u32 = 1024;
/// Number of tables per memory. A component needs one table for its own functions and one table for its imports.
const TABLES_PER_MEMORY: u32 = 8;
/// Additional memories and stacks for instances without a permit. These are the instances of plugins that are being
/// loaded.
const SPARE_MEMORIES: u32 = 64;
/// Bytes of a used memory that are cleared in place instead of being returned to the system.
const RESIDENT_BYTES: usize = 1 << 20;

/// Number of steps that can run at the same time. The same number of tools can run at the same time. Further steps and
/// tools wait.
///
/// Each instance needs a stack. The engine protects the end of each stack with a system call when it makes the pool, so
/// a large pool is slow to make: 7 µs for each stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PoolSize {
    /// 1,024 instances. For a process that runs many jobs.
    #[default]
    Large,
    /// 128 instances. For a process that runs one job and ends.
    Small,
}

impl PoolSize {
    const fn instances(self) -> u32 {
        match self {
            Self::Large => MEMORIES,
            Self::Small => 128,
        }
    }
}

/// Configuration of a pool.
pub(super) fn pool_config(size: PoolSize) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    let memories = MEMORIES + SPARE_MEMORIES;
    pool.total_memories(memories)
        .total_component_instances(memories)
        .total_stacks(size.instances() + SPARE_MEMORIES)
        .total_core_instances(memories * 64)
        .total_tables(memories * TABLES_PER_MEMORY)
        .table_elements(Limits::default().table_elements as usize)
        .max_memories_per_module(16)
        .max_tables_per_module(16)
        .max_core_instance_size(16 << 20)
        .max_component_instance_size(16 << 20)
        .linear_memory_keep_resident(RESIDENT_BYTES)
        .table_keep_resident(RESIDENT_BYTES)
        .pagemap_scan(if cfg!(target_os = "linux") { Enabled::Auto } else { Enabled::No });
    pool
}

/// Permits of one pool, one for each memory.
#[derive(Clone)]
pub(crate) struct InstancePool {
    slots: Arc<Semaphore>,
    size: PoolSize,
}

impl InstancePool {
    pub(super) fn new(size: PoolSize) -> Self {
        Self { slots: Arc::new(Semaphore::new(MEMORIES as usize)), size }
    }

    /// Returns the source of permits for instances of a component. An instance takes several permits if it
    /// needs several memories or many tables, or if the pool has fewer stacks than memories.
    pub(super) fn permits_for(&self, component: &Component) -> InstancePermits {
        let needed = component
            .resources_required()
            .map_or(64, |needed| needed.num_memories.max(needed.num_tables.div_ceil(TABLES_PER_MEMORY)));
        self.permits(needed)
    }

    fn permits(&self, needed_memories: u32) -> InstancePermits {
        let memories_per_stack = MEMORIES / self.size.instances();
        InstancePermits { slots: self.slots.clone(), weight: needed_memories.clamp(memories_per_stack, MEMORIES) }
    }
}

/// Source of permits for the instances of one component.
#[derive(Clone)]
pub(crate) struct InstancePermits {
    slots: Arc<Semaphore>,
    weight: u32,
}

impl InstancePermits {
    /// Waits until an instance fits into the pool. The caller must drop the instance before the returned
    /// permit.
    pub(crate) async fn acquire(&self) -> OwnedSemaphorePermit {
        self.slots.clone().acquire_many_owned(self.weight).await.expect("the semaphore is never closed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn instance_waits_for_room_in_the_pool() {
        let pool = InstancePool::new(PoolSize::Large);
        let held = pool.permits(MEMORIES).acquire().await;
        assert!(!has_room(&pool).await, "the pool is full");
        drop(held);
        assert!(has_room(&pool).await);
    }

    #[tokio::test]
    async fn small_pool_runs_as_many_instances_as_it_has_stacks() {
        let pool = InstancePool::new(PoolSize::Small);
        let mut held = Vec::new();
        for _ in 0..PoolSize::Small.instances() {
            assert!(has_room(&pool).await);
            held.push(pool.permits(1).acquire().await);
        }
        assert!(!has_room(&pool).await, "every stack is used");
        held.pop();
        assert!(has_room(&pool).await);
    }

    async fn has_room(pool: &InstancePool) -> bool {
        tokio::time::timeout(std::time::Duration::from_millis(20), pool.permits(1).acquire()).await.is_ok()
    }
}
