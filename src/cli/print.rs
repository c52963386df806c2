//! What comes out of this program, line by line.

use std::io::{self, Write};

/// Prints a line for the person; if the terminal is gone there is nobody to read it.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Prints a line; whoever closed the other end of a pipe has read enough.
pub(crate) fn print(text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
