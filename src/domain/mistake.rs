//! What a TOML reader complains about, in the words of whoever wrote the file.

/// The complaint without the names of a programmer's types; one that has none stays as it is.
pub(crate) fn in_words(complaint: &str) -> String {
    plain(complaint).unwrap_or_else(|| complaint.to_owned())
}

fn plain(complaint: &str) -> Option<String> {
    let (found, wanted) = complaint.rsplit_once(", expected ")?;
    if let Some(found) = found.strip_prefix("invalid type: ") {
        return Some(format!(
            "this must be {}, not {}",
            kind(wanted)?,
            value(found)
        ));
    }
    if let Some(found) = found.strip_prefix("invalid value: ")
        && kind(wanted)? == WHOLE_NUMBER
    {
        return Some(format!("{} can't be counted here", value(found)));
    }
    None
}

const WHOLE_NUMBER: &str = "a whole number";

/// What is wanted.
fn kind(wanted: &str) -> Option<&str> {
    Some(match wanted {
        "i8" | "i16" | "i32" | "i64" | "isize" | "u8" | "u16" | "u32" | "u64" | "usize" => {
            WHOLE_NUMBER
        }
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" => "a text in quotation marks",
        "a sequence" => "a list",
        "a map" => "a table",
        _ if wanted.starts_with("struct ") => "a table",
        // A sentence of our own, or something that nobody has met yet.
        _ if wanted.starts_with("a ") || wanted.starts_with("an ") => wanted,
        _ => return None,
    })
}

/// What is there.
fn value(found: &str) -> String {
    let number = |rest: &str| format!("the number {}", rest.trim_matches('`'));
    if let Some(text) = found.strip_prefix("string ") {
        return format!("the text {text}");
    }
    if let Some(figure) = found.strip_prefix("integer ") {
        return number(figure);
    }
    if let Some(figure) = found.strip_prefix("floating point ") {
        return number(figure);
    }
    if let Some(word) = found.strip_prefix("boolean ") {
        return word.trim_matches('`').to_owned();
    }
    match found {
        "sequence" => "a list".to_owned(),
        "map" => "a table".to_owned(),
        other => format!("a {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_has_to_know_what_a_type_is_called_in_rust() {
        for (complaint, told) in [
            (
                "invalid type: string \"two\", expected i64",
                "this must be a whole number, not the text \"two\"",
            ),
            (
                "invalid type: floating point `1.5`, expected i32",
                "this must be a whole number, not the number 1.5",
            ),
            (
                "invalid type: integer `3`, expected a string",
                "this must be a text in quotation marks, not the number 3",
            ),
            (
                "invalid type: boolean `true`, expected struct RawStep",
                "this must be a table, not true",
            ),
            (
                "invalid type: map, expected a sequence",
                "this must be a list, not a table",
            ),
            (
                "invalid value: integer `99999999999`, expected i32",
                "the number 99999999999 can't be counted here",
            ),
            (
                "unknown field `hold`, expected one of `held`, `room`",
                "unknown field `hold`, expected one of `held`, `room`",
            ),
            ("missing field `name`", "missing field `name`"),
        ] {
            assert_eq!(in_words(complaint), told);
        }
    }
}
