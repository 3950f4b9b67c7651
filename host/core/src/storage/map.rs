//! Names of key-value maps, and the quota of their bytes.

use crate::model::bounds;
use crate::storage::error::StoreError;

/// Name of a key-value map of tools: a namespace of one tenant, or of all tenants.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MapName {
    /// Tenant that the map belongs to. Empty for a map of all tenants.
    tenant: String,
    namespace: String,
}

impl MapName {
    /// Returns the name of a tenant's map. Returns `None` for an empty tenant, because the empty name stands for maps
    /// of all tenants.
    pub fn of_tenant(tenant: &str, namespace: &str) -> Option<Self> {
        (!tenant.is_empty()).then(|| Self { tenant: tenant.to_owned(), namespace: namespace.to_owned() })
    }

    /// Returns the name of a map of all tenants.
    pub fn shared(namespace: &str) -> Self {
        Self { tenant: String::new(), namespace: namespace.to_owned() }
    }

    /// Tenant that the map belongs to. Empty for a map of all tenants.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// Namespace that the grant names.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Returns true if the map belongs to all tenants.
    pub fn is_shared(&self) -> bool {
        self.tenant.is_empty()
    }
}

/// Refusal of a write that would make a map larger than its quota. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaExceeded {
    /// Bytes that the map has.
    pub used: u64,
    /// Bytes that the map would have after the write.
    pub needed: u64,
}

/// Reason why a value was not set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetError {
    /// The map would be larger than its quota.
    Quota(QuotaExceeded),
    /// The store failed.
    Store(StoreError),
}

impl From<StoreError> for SetError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Returns the number of bytes that an entry adds to its map: the bytes of key and value, and a fixed number for the
/// storage of the entry. Without the fixed number, many empty values would count as nothing.
pub fn entry_bytes(key_bytes: usize, value_bytes: usize) -> u64 {
    (key_bytes + value_bytes + bounds::KV_ENTRY_BYTES) as u64
}

/// Returns the bytes of a map after a write replaces an entry. `before` and `after` are the bytes of the entry before
/// and after the write, or 0 for a missing entry. An entry that does not grow is always accepted, because a quota may
/// be lowered below the bytes of a map.
pub fn bytes_after_set(used: u64, before: u64, after: u64, quota: u64) -> Result<u64, QuotaExceeded> {
    let needed = used.saturating_sub(before).saturating_add(after);
    if after > before && needed > quota { Err(QuotaExceeded { used, needed }) } else { Ok(needed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I232.
    #[test]
    fn empty_tenant_has_no_map_of_its_own() {
        assert_eq!(MapName::of_tenant("", "mail"), None);
        let own = MapName::of_tenant("acme", "mail").expect("a tenant");
        assert!(!own.is_shared() && MapName::shared("mail").is_shared() && own != MapName::shared("mail"));
    }

    /// I233.
    #[test]
    fn quota_refuses_growth_beyond_it_alone() {
        assert_eq!(bytes_after_set(100, 0, 70, 170), Ok(170));
        assert_eq!(bytes_after_set(100, 0, 71, 170), Err(QuotaExceeded { used: 100, needed: 171 }));
        assert_eq!(bytes_after_set(100, 70, 71, 101), Ok(101));
        assert_eq!(bytes_after_set(100, 70, 71, 100), Err(QuotaExceeded { used: 100, needed: 101 }));
        assert_eq!(bytes_after_set(500, 80, 80, 100), Ok(500), "the quota was lowered");
        assert_eq!(bytes_after_set(500, 80, 64, 100), Ok(484));
    }
}
