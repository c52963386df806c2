//! The structure of `src`, read from its text: who imports whom, and how long files are.
//!
//! A file imports another if it names one of the other's items by a path, in a `use` or in place. `mod x;` is no import.
//! Neither is `pub use`, which only passes on: whoever imports through it imports the file that defines the item. What is
//! compiled for tests alone doesn't count.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::Visit;

/// From top to bottom: each may use those below it, nothing above.
const ROOMS: [&str; 9] = [
    "main", "cli", "demo", "console", "terminal", "config", "store", "postgres", "domain",
];

/// Rooms side by side, which must not know each other though one stands above.
const STRANGERS: [(&str, &str); 3] = [
    ("store", "postgres"),
    ("terminal", "store"),
    ("terminal", "postgres"),
];

/// The same within the console.
const CONSOLE_ROOMS: [&str; 7] = [
    "run", "update", "view", "actions", "model", "message", "effect",
];

/// The rooms without circles and with short files. The demo and the lab are still to be rebuilt.
const TIDY: [&str; 6] = ["cli", "console", "terminal", "config", "store", "domain"];
const UNTIDY: [&str; 2] = ["store/lab", "cli/output/lab"];

const LONGEST: usize = 500;

/// A module's path, without `crate`.
type Module = Vec<String>;

struct File {
    path: PathBuf,
    module: Module,
    syntax: syn::File,
    lines: usize,
}

/// Paths that a file names, and what it passes on by `pub use`: the name and where it comes from.
#[derive(Default)]
struct Names {
    module: Module,
    imports: Vec<Module>,
    passed_on: Vec<(String, Module)>,
}

impl Names {
    fn of(file: &File) -> Self {
        let mut names = Self {
            module: file.module.clone(),
            ..Self::default()
        };
        names.visit_file(&file.syntax);
        names
    }

    /// The path from the crate's root; none if it does not say that it begins in this crate.
    fn absolute(&self, segments: &[String]) -> Option<Module> {
        let mut path = match segments.first()?.as_str() {
            "crate" => Vec::new(),
            "self" | "super" => self.module.clone(),
            _ => return None,
        };
        for segment in segments {
            match segment.as_str() {
                "crate" | "self" => {}
                "super" => _ = path.pop(),
                name => path.push(name.to_owned()),
            }
        }
        Some(path)
    }

    fn leaves(&self, tree: &syn::UseTree, before: &[String], leaves: &mut Vec<(String, Module)>) {
        let mut path = before.to_vec();
        match tree {
            syn::UseTree::Path(step) => {
                path.push(step.ident.to_string());
                self.leaves(&step.tree, &path, leaves);
            }
            syn::UseTree::Name(name) => {
                if name.ident != "self" {
                    path.push(name.ident.to_string());
                }
                leaves.push((name.ident.to_string(), path));
            }
            syn::UseTree::Rename(rename) => {
                path.push(rename.ident.to_string());
                leaves.push((rename.rename.to_string(), path));
            }
            syn::UseTree::Glob(_) => leaves.push(("*".into(), path)),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.leaves(tree, &path, leaves);
                }
            }
        }
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|path| path.is_ident("test"))
    })
}

impl<'a> Visit<'a> for Names {
    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        if is_for_tests(&item.attrs) {
            return;
        }
        let mut leaves = Vec::new();
        self.leaves(&item.tree, &[], &mut leaves);
        for (name, path) in leaves {
            // `pub use child::Name` in the file that declares the child.
            let path = self.absolute(&path).unwrap_or_else(|| {
                let mut inner = self.module.clone();
                inner.extend(path);
                inner
            });
            if matches!(item.vis, syn::Visibility::Inherited) {
                self.imports.push(path);
            } else {
                self.passed_on.push((name, path));
            }
        }
    }

    /// `pub(super)` says who may use an item, and uses nothing.
    fn visit_visibility(&mut self, _: &'a syn::Visibility) {}

    fn visit_path(&mut self, path: &'a syn::Path) {
        let segments: Vec<String> = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        // A path may begin with a module that this file declares, or with a name that it passes on.
        let path_here = || [self.module.clone(), segments.clone()].concat();
        let absolute = self.absolute(&segments).unwrap_or_else(path_here);
        self.imports.push(absolute);
        syn::visit::visit_path(self, path);
    }
}

fn files() -> Vec<File> {
    let mut files = Vec::new();
    collect(Path::new("src"), &mut files);
    files
}

fn collect(folder: &Path, files: &mut Vec<File>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            files.push(File {
                module: module(&path),
                syntax: syn::parse_file(&text).unwrap(),
                lines: text.lines().count(),
                path,
            });
        }
    }
}

fn module(path: &Path) -> Module {
    let path = path.strip_prefix("src").unwrap().with_extension("");
    let mut module: Module = path
        .iter()
        .map(|part| part.to_str().unwrap().to_owned())
        .collect();
    if module.last().is_some_and(|last| last == "mod") || module == ["lib"] {
        module.pop();
    }
    module
}

/// Whether a file belongs to tests: `tests.rs`, or in a folder of that name.
fn is_test(module: &[String]) -> bool {
    module
        .iter()
        .any(|part| part == "tests" || part == "fixtures")
}

/// Who imports whom.
struct Imports {
    of: BTreeMap<Module, BTreeSet<Module>>,
}

impl Imports {
    fn read(files: &[File]) -> Self {
        let names: BTreeMap<Module, Names> = files
            .iter()
            .map(|file| (file.module.clone(), Names::of(file)))
            .collect();
        let of = names.iter().map(|(module, own)| {
            let targets = own
                .imports
                .iter()
                .filter_map(|path| defining(path, &names, 0))
                .filter(|target| target != module)
                .collect();
            (module.clone(), targets)
        });
        Self { of: of.collect() }
    }

    /// Groups of files of a room that import each other, directly or through others.
    fn circles(&self, is_in: impl Fn(&Module) -> bool) -> Vec<BTreeSet<Module>> {
        let reached = |from: &Module| {
            let mut reached = BTreeSet::new();
            let mut todo = vec![from.clone()];
            while let Some(module) = todo.pop() {
                for target in self.of.get(&module).into_iter().flatten() {
                    if is_in(target) && reached.insert(target.clone()) {
                        todo.push(target.clone());
                    }
                }
            }
            reached
        };
        let reached: BTreeMap<Module, BTreeSet<Module>> = self
            .of
            .keys()
            .filter(|module| is_in(module))
            .map(|module| (module.clone(), reached(module)))
            .collect();
        let circles: BTreeSet<BTreeSet<Module>> = reached
            .iter()
            .filter(|(module, targets)| targets.contains(*module))
            .map(|(module, targets)| {
                let circle = targets
                    .iter()
                    .filter(|target| reached[*target].contains(module));
                circle.cloned().collect()
            })
            .collect();
        circles.into_iter().collect()
    }
}

/// The file that defines what a path names: that of the longest module on it, or where that passes the name on from.
fn defining(path: &[String], names: &BTreeMap<Module, Names>, depth: usize) -> Option<Module> {
    let length = (1..=path.len())
        .rev()
        .find(|length| names.contains_key(&path[..*length]))?;
    let (module, rest) = path.split_at(length);
    let passed_on = rest.first().and_then(|name| {
        let own = &names[module].passed_on;
        own.iter().find(|(passed, _)| passed == name)
    });
    match passed_on {
        Some((_, from)) if depth < 8 => defining(from, names, depth + 1),
        _ => Some(module.to_vec()),
    }
}

fn written(module: &[String]) -> String {
    module.join("::")
}

#[test]
fn every_room_uses_only_what_stands_below_it() {
    let files = files();
    let imports = Imports::read(&files);
    let place = |room: &str| ROOMS.iter().position(|known| *known == room);
    let mut wrong = Vec::new();
    for (module, targets) in &imports.of {
        let Some(from) = module.first().filter(|_| !is_test(module)) else {
            continue;
        };
        for target in targets {
            let to = &target[0];
            let upwards = place(from).unwrap_or_else(|| panic!("{from} has no place in ROOMS"))
                > place(to).unwrap_or_else(|| panic!("{to} has no place in ROOMS"));
            let strangers = STRANGERS.contains(&(from.as_str(), to.as_str()));
            if upwards || strangers {
                wrong.push(format!("{} → {}", written(module), written(target)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_console_s_rooms_use_only_what_stands_below_them() {
    let imports = Imports::read(&files());
    let place = |module: &Module| {
        let room = module.get(1).filter(|_| module[0] == "console")?;
        CONSOLE_ROOMS.iter().position(|known| known == room)
    };
    let mut wrong = Vec::new();
    for (module, targets) in &imports.of {
        for target in targets {
            if let (Some(from), Some(to)) = (place(module), place(target)) {
                let side_by_side = (module[1] == "update") & (target[1] == "view");
                if from > to || side_by_side {
                    wrong.push(format!("{} → {}", written(module), written(target)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let imports = Imports::read(&files());
    let is_tidy = |module: &Module| {
        let path = module.join("/");
        TIDY.contains(&module[0].as_str())
            && !is_test(module)
            && !UNTIDY.iter().any(|untidy| path.starts_with(untidy))
    };
    let circles = imports.circles(|module| !module.is_empty() && is_tidy(module));
    let written: Vec<String> = circles
        .iter()
        .map(|circle| {
            let modules = circle.iter().map(|module| {
                let targets = imports.of[module]
                    .iter()
                    .filter(|target| circle.contains(*target));
                let targets: Vec<String> = targets.map(|target| written(target)).collect();
                format!("  {} → {}", written(module), targets.join(", "))
            });
            modules.collect::<Vec<_>>().join("\n")
        })
        .collect();
    assert!(circles.is_empty(), "{}", written.join("\n\n"));
}

#[test]
fn no_file_is_too_long_to_be_read_in_one_go() {
    let long: Vec<String> = files()
        .iter()
        .filter(|file| TIDY.contains(&file.module.first().map_or("", String::as_str)))
        .filter(|file| file.lines > LONGEST)
        .map(|file| format!("{}: {} lines", file.path.display(), file.lines))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}
