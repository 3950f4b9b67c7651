//! Stores the build time in the environment variable `BAKED`.

fn main() {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("it is after 1970");
    println!("cargo:rustc-env=BAKED={}", now.as_nanos());
}
