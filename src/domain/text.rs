//! Text from strangers, made harmless for a screen, for output and for logs (R26). What is stored is never changed.

/// How many characters a text may have where this program checks it too; the database holds every figure, in named CHECKs.
pub(crate) mod limits {
    /// A site's, room's or item's name.
    pub(crate) const NAME: usize = 80;
    /// A desk's name.
    pub(crate) const DESK: usize = 60;
}

/// The text with control characters, escape sequences and bidi overrides shown as harmless signs.
///
/// Control characters become their pictures (`␛` for escape, U+2400 block), line ends included; bidi embeddings,
/// overrides and isolates, and other invisible format characters that move text about, become `�`. Joiners inside
/// emoji and in scripts that need them stay.
pub(crate) fn harmless(text: &str) -> String {
    text.chars().map(harmless_char).collect()
}

fn harmless_char(character: char) -> char {
    match character {
        '\u{00}'..='\u{1f}' => char::from_u32(0x2400 + character as u32).unwrap_or('�'),
        '\u{7f}' => '␡',
        '\u{80}'..='\u{9f}' => '�',
        '\u{061c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => '�',
        '\u{2028}'
        | '\u{2029}'
        | '\u{206a}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' => '�',
        _ => character,
    }
}

/// Why a text can't be the name of a room, an item or a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NameError {
    /// Nothing to see in it.
    #[error("A name can't be empty.")]
    Blank,
    /// It reads as the number by which rooms and items are meant.
    #[error("A name like #12 would be taken for a number; choose another one.")]
    LikeANumber,
}

/// Whether a text can be a name, however long it is.
///
/// # Errors
/// Why not.
pub(crate) fn check_name(name: &str) -> Result<(), NameError> {
    let number = name.strip_prefix('#').unwrap_or_default();
    if name.trim().is_empty() {
        Err(NameError::Blank)
    } else if number.parse::<i64>().is_ok() {
        Err(NameError::LikeANumber)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_neither_blank_nor_a_number() {
        assert_eq!(check_name(" \t"), Err(NameError::Blank));
        assert_eq!(check_name("#5"), Err(NameError::LikeANumber));
        for name in ["5", "#", "Room #5", "#5b", "김"] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn r26_escape_sequences_and_overrides_are_made_harmless() {
        assert_eq!(harmless("\u{1b}[31mred\u{7}"), "␛[31mred␇");
        assert_eq!(harmless("a\u{202e}b\u{2066}c\u{9b}"), "a�b�c�");
        assert_eq!(harmless("two\nlines\tand a tab"), "two␊lines␉and a tab");
    }

    #[test]
    fn r26_names_of_every_script_are_left_alone() {
        for name in ["👩‍❤️‍👨 محمد", "Müller", "김철수", "नमस्ते", "Żółć"]
        {
            assert_eq!(harmless(name), name);
        }
    }
}
