//! Lack of memory or descriptors, as the operating system reports it.

use std::fs::File;
use std::io;

use rustix::io::Errno;

/// Returns true if an operation failed because the process or the machine lacks memory or descriptors.
pub(crate) fn is_lack(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::NOMEM | Errno::NOBUFS))
        || is_lack_of_descriptors(error)
        || error.kind() == io::ErrorKind::OutOfMemory
}

/// Returns true if an operation failed because the process or the machine lacks descriptors. Such an operation changed
/// nothing: the operating system takes the descriptor first.
pub(crate) fn is_lack_of_descriptors(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// Tries to open a descriptor. Returns the error if the process or the machine lacks descriptors now.
pub(crate) fn lack_of_descriptors() -> Option<io::Error> {
    File::open("/").err().filter(is_lack)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I245.
    #[test]
    fn lack_is_distinguished_from_other_errors() {
        for (errno, lacks, of_descriptors) in [
            (Errno::MFILE, true, true),
            (Errno::NFILE, true, true),
            (Errno::NOMEM, true, false),
            (Errno::NOBUFS, true, false),
            (Errno::NOENT, false, false),
            (Errno::IO, false, false),
            (Errno::AGAIN, false, false),
            (Errno::NOSPC, false, false),
        ] {
            let error = io::Error::from(errno);
            assert_eq!((is_lack(&error), is_lack_of_descriptors(&error)), (lacks, of_descriptors), "{error}");
        }
        assert!(lack_of_descriptors().is_none());
    }
}
