//! The scenarios that the program brings along. No file is needed to play them.

/// A built-in scenario: its name on the command line, and its text.
#[derive(Debug, Clone, Copy)]
pub struct BuiltIn {
    /// What it is called on the command line: the name of its file.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        [$(BuiltIn {
            name: $name,
            text: include_str!(concat!("../../../assets/scenarios/", $name, ".toml")),
        }),*]
    };
}

/// All of them, in the order in which they explain most.
pub const LIBRARY: [BuiltIn; 13] = built_in![
    "the-same-slot",
    "back-to-back",
    "containment",
    "the-last-units",
    "confirm-against-expiry",
    "cancel-against-sweep",
    "a-late-confirm",
    "a-move-too-late",
    "two-groups",
    "a-repeated-request",
    "a-stale-desk",
    "a-stray-writer",
    "without-the-protocol",
];

/// The one of that name.
pub fn built_in(name: &str) -> Option<&'static BuiltIn> {
    LIBRARY.iter().find(|scenario| scenario.name == name)
}
