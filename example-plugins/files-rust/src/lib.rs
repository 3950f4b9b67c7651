//! `File.Read`: reads a text file of a granted directory.

use latchwork_guest::{Effect, Error, config, fs, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Default maximum file size in bytes. `max_bytes` in the plugin's config overrides it.
const LIMIT: usize = 512 * 1024;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Guest path of the file: `/data/cv.md`.
    path: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct File {
    path: String,
    text: String,
    bytes: usize,
    /// SHA-256 of the content, in hexadecimal.
    sha256: String,
}

fn read(args: Args, _: &tool::Context) -> Result<tool::Output<File>, Error> {
    if args.path.split('/').any(|part| part == "..") {
        return Err(Error::invalid_input(format!("{}: `..` is not allowed in a path", args.path)));
    }
    let limit = config::get("max_bytes")?.unwrap_or(LIMIT);
    let content = fs::read_up_to(&args.path, limit)?;
    let sha256 = Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
    let bytes = content.len();
    let text =
        String::from_utf8(content).map_err(|_| Error::invalid_input(format!("{} is not UTF-8 text", args.path)))?;
    Ok(tool::Output::new(File { path: args.path, text, bytes, sha256 }))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("File.Read", read)
            .describe("Reads a text file of a granted directory, with its SHA-256.")
            .effects([Effect::ReadOnly]),
    ],
}

#[cfg(test)]
mod tests {
    use latchwork_guest::Code;
    use latchwork_guest::testing::Host;

    use super::*;

    fn read_from(path: &str) -> Result<File, Error> {
        let data = tempfile::tempdir().unwrap();
        std::fs::write(data.path().join("a.txt"), "abc").unwrap();
        std::fs::write(data.path().join("b.bin"), [0xff, 0xfe]).unwrap();
        let host = Host::new().dir("/data", data.path()).config("max_bytes", 3);
        std::fs::write(data.path().join("c.txt"), "abcd").unwrap();
        host.run(|| read(Args { path: path.into() }, &tool::Context::default())).map(|output| {
            let file = output.result();
            File { path: file.path.clone(), text: file.text.clone(), bytes: file.bytes, sha256: file.sha256.clone() }
        })
    }

    #[test]
    fn file_is_returned_with_its_hash() {
        let file = read_from("/data/a.txt").unwrap();
        assert_eq!((file.text.as_str(), file.bytes), ("abc", 3));
        assert_eq!(file.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn unreadable_or_ungranted_files_are_rejected() {
        for (path, code) in [
            ("/data/none.txt", Code::InvalidInput),
            ("/data/b.bin", Code::InvalidInput),
            ("/data/c.txt", Code::InvalidInput),
            ("/data/../etc/passwd", Code::InvalidInput),
            ("/etc/passwd", Code::PolicyDenied),
        ] {
            assert_eq!(read_from(path).unwrap_err().code(), code, "{path}");
        }
    }
}
