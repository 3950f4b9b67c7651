#!/usr/bin/env bash
# Usage: wasm-rust-debian.sh BASE LEAST
#
# For Debian machines without rustup. Makes BASE/current, a Rust toolchain for wasm32-unknown-unknown. The toolchain
# comes from Debian's packages of a newer Rust (rustc-web and related packages), version LEAST or newer. The packages
# are unpacked, not installed. Root is needed only if libraries or package lists are missing. Debian ships the standard
# library of the target only as source. This script therefore builds the library once. Only the compiler of the same
# version can build the library.
#
# Messages go to stderr. If the script fails, the last message states the reason.
set -euo pipefail

base=$1
least=$2
target=wasm32-unknown-unknown
host=x86_64-unknown-linux-gnu
libs=usr/lib/x86_64-linux-gnu

say() { printf '%s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

[[ $(uname -sm) == 'Linux x86_64' ]] || fail "the packages require x86_64 Linux"
[[ -e /etc/debian_version ]] || fail "this system is not Debian"
for tool in apt-get apt-cache dpkg dpkg-deb cargo cc flock ldd; do
  command -v "$tool" >/dev/null || fail "$tool is not installed"
done

mkdir -p "$base"
# Of two concurrent builds, one makes the toolchain and the other waits.
exec 9>"$base/lock"
flock 9
if [[ -x $base/current/bin/rustc ]] && "$base/current/bin/rustc" -V >/dev/null 2>&1; then
  exit 0
fi
work=$(mktemp -d "$base/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
root=$work/root

# --- the packages --------------------------------------------------------------------------------
candidate() { apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: //p' | grep -v '(none)'; }
dependency() { # PACKAGE PATTERN: prints the first dependency that matches
  apt-cache show "$1" 2>/dev/null | sed -n 's/^Depends: //p' | head -n 1 | grep -o "$2" | head -n 1
}
download() {
  version=$(candidate rustc-web) || { say "apt does not know the package rustc-web"; return 1; }
  # An outdated package list may contain only the rustc-web of the first release.
  dpkg --compare-versions "$version" ge "$least" || { say "rustc-web $version is older than $least"; return 1; }
  std=$(dependency "libstd-rust-web-dev=$version" 'libstd-rust-web-[0-9.]*') &&
    llvm=$(dependency "$std=$version" 'libllvm[0-9]*') ||
    { say "the dependencies of rustc-web $version have an unexpected form"; return 1; }
  # The compiler, its library and LLVM, the sources of std, the linker, and the component linker.
  local packages=("rustc-web=$version" "libstd-rust-web-dev=$version" "$std=$version" "$llvm"
    "rust-web-src=$version" "lld-${llvm#libllvm}" "rust-web-llvm=$version")
  say "downloading ${packages[*]}"
  (cd "$work" && apt-get download -qq -o APT::Sandbox::User=root "${packages[@]}" >&2)
}
if ! download; then
  [[ $EUID == 0 ]] || fail "the packages cannot be downloaded; run \`apt-get update\` as root and try again"
  say "running apt-get update"
  apt-get update -qq >&2 || true
  download || fail "the packages cannot be downloaded"
fi
for package in "$work"/*.deb; do
  dpkg-deb -x "$package" "$root"
  rm "$package"
done

missing=$(LD_LIBRARY_PATH=$root/$libs ldd "$root/usr/bin/rustc" "$root/$libs"/libLLVM.so.* |
  sed -n 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p' | sort -u)
if [[ -n $missing ]]; then
  [[ $EUID == 0 ]] || fail "$llvm needs ${missing//$'\n'/, }; run \`apt-get install --no-install-recommends $llvm\` as root"
  say "installing what $llvm needs: ${missing//$'\n'/, }"
  apt-get install -y -qq --no-install-recommends "$llvm" >&2
fi

# --- the layout of rustup, so that cargo and rustc need no flags ------------------------------------
bin=$root/usr/lib/rustlib/$host/bin
mkdir -p "$root/bin" "$bin"
cp -L "$root/usr/lib/llvm-${llvm#libllvm}/bin/lld" "$bin/lld"
launcher() { # FILE, WAY-TO-ROOT, PROGRAM: starts a program of the toolchain with its libraries
  printf '#!/bin/sh\nroot=$(dirname "$(readlink -f "$0")")/%s\nLD_LIBRARY_PATH=$root/%s${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$root/%s" "$@"\n' \
    "$2" "$libs" "$3" >"$1"
  chmod +x "$1"
}
launcher "$root/bin/rustc" .. usr/bin/rustc
launcher "$bin/rust-lld" ../../../../.. "usr/lib/rustlib/$host/bin/lld"
"$root/bin/rustc" -V >&2 || fail "Debian's rustc does not run here"

# --- the standard library --------------------------------------------------------------------------
# Rustup selects a toolchain by folder. In the folder of the build it may find none, so cargo is named by its path.
cargo=$(rustup which cargo 2>/dev/null) || cargo=cargo
say "building the standard library for $target, once (about a minute)"
crate=$work/crate
mkdir -p "$crate/src"
: >"$crate/src/lib.rs"
cat >"$crate/Cargo.toml" <<'TOML'
[package]
name = "wasm_std_probe"
version = "0.0.0"
edition = "2021"
[workspace]
[profile.release]
debug = 0
TOML
# Bitcode lets plugins use lto. The remapped paths make panic messages equal on every machine.
flags=(
  -Cembed-bitcode=yes
  "--remap-path-prefix=$root/usr/lib/rustlib/src=/rustlib/src"
  "--remap-path-prefix=$root/usr/src=/rustlib/src"
  "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
)
(
  cd "$crate"
  unset RUSTUP_TOOLCHAIN
  export RUSTC=$root/bin/rustc RUSTC_BOOTSTRAP=1
  CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f'; printf '%s' "${flags[*]}")
  export CARGO_ENCODED_RUSTFLAGS
  "$cargo" build --quiet --release -Zbuild-std=std,panic_abort --target "$target" --target-dir "$work/target" >&2
) || fail "the standard library could not be built; it needs the registry of Rust crates"
lib=$root/usr/lib/rustlib/$target/lib
mkdir -p "$lib"
find "$work/target/$target/release/deps" -name '*.rlib' ! -name 'libwasm_std_probe*' -exec cp {} "$lib" \;
rm -rf "$root/usr/src" "$root/usr/share" "$root/usr/lib/rustlib/src"

# --- a test of the new toolchain -------------------------------------------------------------------
cat >"$work/probe.rs" <<'RUST'
use std::collections::BTreeMap;
#[unsafe(no_mangle)]
pub extern "C" fn probe(n: u32) -> usize {
    let map: BTreeMap<u32, String> = (0..n).map(|i| (i, format!("{i}"))).collect();
    map.values().map(String::len).sum()
}
RUST
for flags in "-Copt-level=1" "-Copt-level=s -Clto=fat -Cpanic=abort"; do
  # shellcheck disable=SC2086
  "$root/bin/rustc" --edition 2024 --crate-type cdylib --target "$target" $flags -o "$work/probe.wasm" "$work/probe.rs" >&2 ||
    fail "the new toolchain does not work ($flags)"
done
kept=$base/$version
rm -rf "$kept"
mv "$root" "$kept"
ln -sfn "$version" "$base/current"
say "made $("$base/current/bin/rustc" -V) for $target"
