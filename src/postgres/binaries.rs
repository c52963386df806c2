//! Which PostgreSQL server to run: the one named, else the newest usable one on the machine.

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::account::Account;
use super::{PostgresError, Result};

/// The oldest major version that Keyrack works with.
const OLDEST: u32 = 15;

/// Where installers put servers outside `PATH`; a `*` stands for part of one name.
const USUAL_PLACES: &[&str] = &[
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/local/pgsql/bin",
    "/opt/homebrew/opt/postgresql*/bin",
    "/usr/local/opt/postgresql*/bin",
    "/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
    "/Applications/Postgres.app/Contents/Versions/*/bin",
];

/// A server's version, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version {
    pub(super) major: u32,
    pub(super) minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

impl Version {
    /// Reads what `postgres --version` prints, packagers' additions included. A beta counts as minor version 0.
    fn parse(printed: &str) -> Option<Self> {
        let word = printed
            .split_whitespace()
            .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
        let mut numbers = word
            .split(|c: char| !c.is_ascii_digit())
            .map(str::parse::<u32>);
        let major = numbers.next()?.ok()?;
        let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
        let minor = if rest.starts_with('.') {
            numbers.next()?.ok()?
        } else {
            0
        };
        Some(Self { major, minor })
    }
}

/// A usable server: its directory of programs, and its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Binaries {
    pub(super) directory: PathBuf,
    pub(super) version: Version,
}

impl Binaries {
    /// The path of one of its programs.
    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Looks at a directory that may hold a server. `None`: there is none. `Some(Err)`: there is one, and why it cannot be used.
    fn probe(directory: &Path, account: Account) -> Option<std::result::Result<Self, String>> {
        let postgres = directory.join("postgres");
        if !postgres.is_file() {
            return None;
        }
        Some(Self::examine(directory, &postgres, account))
    }

    fn examine(
        directory: &Path,
        postgres: &Path,
        account: Account,
    ) -> std::result::Result<Self, String> {
        let place = directory.display();
        let output = account
            .command(postgres, Path::new("/"))
            .arg("--version")
            .output()
            .map_err(|error| match error.kind() {
                io::ErrorKind::PermissionDenied => format!(
                    "The user {} is not allowed to run the PostgreSQL in {place}.",
                    account.name()
                ),
                _ => format!("The PostgreSQL in {place} does not run: {error}."),
            })?;
        let version = Version::parse(&String::from_utf8_lossy(&output.stdout))
            .ok_or_else(|| format!("The program postgres in {place} does not tell its version."))?;
        if version.major < OLDEST {
            return Err(format!(
                "The PostgreSQL in {place} has version {version}, and Keyrack needs {OLDEST} or newer."
            ));
        }
        for program in ["initdb", "pg_ctl"] {
            if !directory.join(program).is_file() {
                return Err(format!(
                    "The PostgreSQL {version} in {place} comes without {program}: install the whole server package."
                ));
            }
        }
        if !has_btree_gist(directory, version.major) {
            return Err(format!(
                "The PostgreSQL {version} in {place} comes without the extension btree_gist: install its contrib modules \
                 (on Fedora: dnf install postgresql-contrib; on Alpine: apk add postgresql{}-contrib).",
                version.major
            ));
        }
        Ok(Self {
            directory: directory.to_path_buf(),
            version,
        })
    }
}

/// What a search brought: usable servers, newest first, and why the others were passed over.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) usable: Vec<Binaries>,
    pub(super) rejected: Vec<String>,
}

impl Found {
    /// The server to run: of the data's own major version if there are data, else the newest.
    pub(super) fn choose(&self, data_major: Option<u32>) -> Option<&Binaries> {
        self.usable
            .iter()
            .find(|binaries| data_major.is_none_or(|major| binaries.version.major == major))
    }

    /// The versions at hand, for a sentence.
    pub(super) fn versions(&self) -> String {
        let versions: Vec<String> = self
            .usable
            .iter()
            .map(|binaries| binaries.version.to_string())
            .collect();
        versions.join(", ")
    }

    fn add(&mut self, candidates: Vec<PathBuf>, account: Account) {
        let mut seen: Vec<PathBuf> = Vec::new();
        let mut usable = Vec::new();
        for candidate in candidates {
            // One server is often reached by several names.
            let Ok(real) = candidate.canonicalize() else {
                continue;
            };
            if seen.contains(&real) {
                continue;
            }
            match Binaries::probe(&real, account) {
                Some(Ok(binaries)) => usable.push(binaries),
                Some(Err(reason)) => self.rejected.push(reason),
                None => {}
            }
            seen.push(real);
        }
        // A stable sort: of equal versions the one that PATH names first stays first.
        usable.sort_by_key(|binaries| std::cmp::Reverse(binaries.version));
        self.usable.extend(usable);
    }
}

/// The server that the user named: its directory of programs, the program `postgres`, or the directory above.
pub(super) fn named(path: &Path, account: Account) -> Result<Binaries> {
    let unusable = |reason| PostgresError::NamedServerUnusable { reason };
    let real = path.canonicalize().map_err(|error| {
        unusable(format!(
            "{} cannot be opened ({error}). Name the directory that holds the programs postgres, initdb and pg_ctl.",
            path.display()
        ))
    })?;
    let mut places = vec![real.clone(), real.join("bin")];
    places.extend(
        real.parent()
            .filter(|_| real.is_file())
            .map(Path::to_path_buf),
    );
    places
        .iter()
        .find_map(|place| Binaries::probe(place, account))
        .unwrap_or_else(|| {
            Err(format!(
                "{} does not hold the program postgres. Name the directory that holds postgres, initdb and pg_ctl.",
                path.display()
            ))
        })
        .map_err(unusable)
}

/// Every server on the machine; those that Keyrack downloaded before come last.
pub(super) fn search(downloaded: &Path, account: Account) -> Found {
    let mut found = Found::default();
    found.add(
        candidates(env::var_os("PATH").as_deref(), USUAL_PLACES),
        account,
    );
    found.add(expand(&downloaded.join("*/bin").to_string_lossy()), account);
    found
}

/// The directories to look into, in order of preference among equals.
fn candidates(path: Option<&OsStr>, usual: &[&str]) -> Vec<PathBuf> {
    let on_path: Vec<PathBuf> = path.map(env::split_paths).into_iter().flatten().collect();
    // A distribution's pg_config knows a server that is not on PATH.
    let configured = on_path
        .iter()
        .map(|directory| directory.join("pg_config"))
        .find(|program| program.is_file())
        .and_then(|program| ask_pg_config(&program, "--bindir"));
    let mut all = on_path;
    all.extend(configured);
    all.extend(usual.iter().flat_map(|pattern| expand(pattern)));
    // A relative entry of PATH would make the server depend on where Keyrack was started.
    all.retain(|directory| directory.is_absolute());
    all
}

/// The existing paths that a pattern with `*` names, in the order of their names.
fn expand(pattern: &str) -> Vec<PathBuf> {
    pattern
        .split('/')
        .filter(|part| !part.is_empty())
        .fold(vec![PathBuf::from("/")], |paths, part| {
            let step = |path: &PathBuf| match part.split_once('*') {
                None => vec![path.join(part)],
                Some((before, after)) => matching_entries(path, before, after),
            };
            paths.iter().flat_map(step).collect()
        })
        .into_iter()
        .filter(|path| path.is_dir())
        .collect()
}

fn matching_entries(directory: &Path, before: &str, after: &str) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(std::result::Result::ok)
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            // A name that begins with a dot is something unfinished.
            !name.starts_with('.') && name.starts_with(before) && name.ends_with(after)
        })
        .map(|entry| entry.path())
        .collect();
    entries.sort();
    entries
}

/// Whether the extension's control file is where this server looks for it.
fn has_btree_gist(directory: &Path, major: u32) -> bool {
    let control = |share: &Path| share.join("extension/btree_gist.control").is_file();
    let own_config = directory.join("pg_config");
    if own_config.is_file()
        && let Some(share) = ask_pg_config(&own_config, "--sharedir")
        && control(&share)
    {
        return true;
    }
    // A relocated server, or one that comes without pg_config, finds its share directory from its own place.
    let near = ["share/postgresql", "share"].map(|share| directory.join("..").join(share));
    near.iter().any(|share| control(share))
        || control(Path::new(&format!("/usr/share/postgresql/{major}")))
            && directory.starts_with(format!("/usr/lib/postgresql/{major}"))
}

fn ask_pg_config(program: &Path, question: &str) -> Option<PathBuf> {
    let output = Command::new(program)
        .arg(question)
        .stdin(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let answer = String::from_utf8(output.stdout).ok()?;
    Some(PathBuf::from(answer.trim_end()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn versions_are_read_as_packagers_print_them() {
        let version = |major, minor| Some(Version { major, minor });
        assert_eq!(
            Version::parse("postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)\n"),
            version(15, 13)
        );
        assert_eq!(
            Version::parse("postgres (PostgreSQL) 18.4\n"),
            version(18, 4)
        );
        assert_eq!(
            Version::parse("postgres (PostgreSQL) 19beta2\n"),
            version(19, 0)
        );
        assert_eq!(
            Version::parse("postgres (PostgreSQL) 17rc1"),
            version(17, 0)
        );
        assert_eq!(Version::parse("pg_config: not found"), None);
        assert_eq!(Version::parse(""), None);
    }

    /// Puts a server in place that tells a version and does nothing else.
    fn install(root: &Path, name: &str, version: &str, with_btree_gist: bool) -> PathBuf {
        let bin = root.join(name).join("bin");
        let extensions = root.join(name).join("share/extension");
        fs::create_dir_all(&bin).unwrap();
        fs::create_dir_all(&extensions).unwrap();
        for program in ["postgres", "initdb", "pg_ctl"] {
            let path = bin.join(program);
            fs::write(
                &path,
                format!("#!/bin/sh\necho 'postgres (PostgreSQL) {version}'\n"),
            )
            .unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        if with_btree_gist {
            fs::write(extensions.join("btree_gist.control"), "").unwrap();
        }
        bin
    }

    fn search_in(root: &Path, path: Option<&Path>) -> Found {
        let pattern = format!("{}/*/bin", root.display());
        let mut found = Found::default();
        let places = candidates(path.map(Path::as_os_str), &[&pattern]);
        found.add(places, Account::Own);
        found
    }

    #[test]
    fn the_newest_usable_server_is_chosen_and_the_others_are_explained() {
        let root = tempfile::tempdir().unwrap();
        install(root.path(), "14", "14.9", true);
        install(root.path(), "15", "15.13", true);
        install(root.path(), "17", "17.2", true);
        install(root.path(), "18", "18.1", false);
        install(root.path(), "9", "9.6.1", true);

        let found = search_in(root.path(), None);

        assert_eq!(found.versions(), "17.2, 15.13");
        assert_eq!(found.choose(None).unwrap().version.major, 17);
        assert_eq!(found.choose(Some(15)).unwrap().version.minor, 13);
        assert_eq!(found.choose(Some(16)), None);
        let reasons = found.rejected.join(" ");
        assert!(reasons.contains("14.9"), "{reasons}");
        assert!(reasons.contains("btree_gist"), "{reasons}");
    }

    #[test]
    fn of_equal_versions_the_one_on_path_is_first() {
        let root = tempfile::tempdir().unwrap();
        install(root.path(), "a", "16.3", true);
        let on_path = install(root.path(), "b", "16.3", true);
        let found = search_in(root.path(), Some(&on_path));
        assert_eq!(found.usable.len(), 2);
        assert_eq!(
            found.choose(None).unwrap().directory,
            on_path.canonicalize().unwrap()
        );
    }

    #[test]
    fn a_named_server_is_taken_by_any_of_its_names_or_refused_with_a_reason() {
        let root = tempfile::tempdir().unwrap();
        let bin = install(root.path(), "16", "16.3", true);
        for name in [bin.clone(), bin.join("postgres"), root.path().join("16")] {
            assert_eq!(named(&name, Account::Own).unwrap().version.major, 16);
        }
        let old = install(root.path(), "13", "13.1", true);
        assert!(
            named(&old, Account::Own)
                .unwrap_err()
                .to_string()
                .contains("13.1")
        );
        assert!(
            named(root.path(), Account::Own)
                .unwrap_err()
                .to_string()
                .contains("does not hold")
        );
        assert!(named(&root.path().join("none"), Account::Own).is_err());
    }
}
