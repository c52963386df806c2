//! Writes a transcript into a file.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why there is no file, in a sentence.
#[derive(Debug, thiserror::Error)]
#[error("The transcript could not be written to {}: {reason}.", path.display())]
pub struct NotWritten {
    path: PathBuf,
    reason: String,
}

/// Looks beforehand whether a transcript could be written to this file, which must be a new one.
///
/// # Errors
/// If not.
pub fn try_out(path: &Path) -> Result<(), NotWritten> {
    let told = |error: io::Error| NotWritten {
        path: path.to_owned(),
        reason: reason(&error),
    };
    if path
        .metadata()
        .is_ok_and(|file| file.is_file() && file.len() > 0)
    {
        return Err(told(io::ErrorKind::AlreadyExists.into()));
    }
    // Not nothing: a disk that is full takes that.
    write("Nothing has happened yet.\n", path, true).map_err(told)
}

/// Writes the text to the file that was named, over what was there; else to a new one in this directory, with the time
/// in its name. Returns where.
///
/// # Errors
/// If it can't be written.
pub fn save(text: &str, named: Option<&Path>) -> Result<PathBuf, NotWritten> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => PathBuf::from(format!(
            "keyrack-demo-{}.txt",
            chrono::Local::now().format("%Y%m%d-%H%M%S")
        )),
    };
    match write(text, &path, named.is_some()) {
        Ok(()) => Ok(path),
        Err(error) => Err(NotWritten {
            reason: reason(&error),
            path,
        }),
    }
}

fn write(text: &str, path: &Path, over: bool) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true);
    if over {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    // Guests' names are in it: it is for the person who made it.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    // A disk that is full may say so only now.
    match file.sync_all() {
        // What is no file (a pipe, a device) has nothing to sync.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such directory".into(),
        io::ErrorKind::PermissionDenied => "this user may not write there".into(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "there is no room left on the disk".into()
        }
        io::ErrorKind::ReadOnlyFilesystem => "nothing can be written on that disk".into(),
        io::ErrorKind::IsADirectory => "it is a directory".into(),
        io::ErrorKind::AlreadyExists => "there is a file of that name already".into(),
        kind => kind.to_string(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_there_already_is_not_written_over() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("transcript.txt");
        try_out(&path).unwrap();
        assert_eq!(save("one", Some(&path)).unwrap(), path);
        let told = try_out(&path).unwrap_err().to_string();
        assert!(
            told.ends_with(": there is a file of that name already."),
            "{told}"
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one");
        assert!(try_out(&place.path().join("missing").join("transcript.txt")).is_err());
        if Path::new("/dev/full").exists() {
            assert!(try_out(Path::new("/dev/full")).is_err());
        }
    }

    #[test]
    fn what_can_not_be_written_is_a_sentence() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("transcript.txt");
        assert_eq!(save("one", Some(&path)).unwrap(), path);
        assert_eq!(save("another", Some(&path)).unwrap(), path);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "another");
        let nowhere = place.path().join("missing").join("transcript.txt");
        let told = save("one", Some(&nowhere)).unwrap_err().to_string();
        assert!(
            told.ends_with("transcript.txt: there is no such directory."),
            "{told}"
        );
        let told = save("one", Some(place.path())).unwrap_err().to_string();
        assert!(told.ends_with(": it is a directory."), "{told}");
        if Path::new("/dev/full").exists() {
            let told = save("one", Some(Path::new("/dev/full")))
                .unwrap_err()
                .to_string();
            assert!(
                told.ends_with("/dev/full: there is no room left on the disk."),
                "{told}"
            );
        }
    }
}
