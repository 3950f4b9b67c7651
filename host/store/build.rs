//! A new migration is a new schema: build again.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
}
