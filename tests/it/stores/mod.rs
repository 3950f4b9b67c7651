//! Databases in files: damage, full disks, read-only disks, and the cost of writes.

mod failures;
mod flushes;
mod full_disk;
mod maps;
mod private_files;
mod read_only;
