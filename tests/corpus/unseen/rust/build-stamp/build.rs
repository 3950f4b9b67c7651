use std::time::{SystemTime, UNIX_EPOCH};

fn main() {
    let built = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    println!("cargo:rustc-env=BUILT_AT={built}");
}
