//! How things look: styles by meaning, palettes for dark and light backgrounds, and a glyph with an ASCII twin for
//! every sign.
//!
//! Colour is never the only sign: every state has a glyph and a word too. This module knows nothing of the model.

use ratatui::style::{Color, Modifier, Style};

/// What is known about the terminal's background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Background {
    /// Light text on dark.
    Dark,
    /// Dark text on light.
    Light,
}

/// How many colours may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// 24 bits.
    True,
    /// The terminal's own sixteen.
    Sixteen,
    /// None (`NO_COLOR`).
    None,
}

/// Every style that a view may use, by meaning.
#[derive(Debug, Clone)]
pub struct Theme {
    /// The signs.
    pub glyphs: Glyphs,
    /// Ordinary text.
    pub text: Style,
    /// Text of less weight.
    pub dim: Style,
    /// What should be read first.
    pub strong: Style,
    /// Rules and axes.
    pub rule: Style,
    /// The title of a panel.
    pub title: Style,
    /// The title of the panel that has the keys.
    pub title_focused: Style,
    /// A free cell's hour mark.
    pub free: Style,
    /// A held claim: its tile.
    pub held: Style,
    /// The texture of a held claim.
    pub held_fill: Style,
    /// A confirmed claim: its tile.
    pub confirmed: Style,
    /// The texture of a confirmed claim.
    pub confirmed_fill: Style,
    /// A block of the site.
    pub block: Style,
    /// The texture of a block.
    pub block_fill: Style,
    /// A command that is under way.
    pub pending: Style,
    /// Time to make a room ready.
    pub turnaround: Style,
    /// What is over.
    pub past: Style,
    /// The present moment.
    pub now: Style,
    /// What the keys act on.
    pub selected: Style,
    /// The row or line that the cursor is in.
    pub current: Style,
    /// A key's name.
    pub key: Style,
    /// Good news.
    pub good: Style,
    /// A refusal.
    pub warning: Style,
    /// A fault.
    pub fault: Style,
    /// A dialog's ground.
    pub dialog: Style,
    /// A field to type in.
    pub field: Style,
    /// A button that has the keys.
    pub button: Style,
    /// Everything, while the database is away.
    pub away: Style,
}

impl Theme {
    /// The theme for a terminal.
    pub fn new(background: Background, colours: Colours, ascii: bool) -> Self {
        let glyphs = if ascii {
            Glyphs::ASCII
        } else {
            Glyphs::UNICODE
        };
        match colours {
            Colours::None => plain(glyphs),
            Colours::Sixteen => sixteen(glyphs, background),
            Colours::True => tiles(glyphs, background),
        }
    }
}

/// No colour at all: weight, reversal and glyphs.
fn plain(glyphs: Glyphs) -> Theme {
    let text = Style::new();
    let dim = text.add_modifier(Modifier::DIM);
    let strong = text.add_modifier(Modifier::BOLD);
    let reversed = text.add_modifier(Modifier::REVERSED);
    Theme {
        glyphs,
        text,
        dim,
        strong,
        rule: dim,
        title: dim,
        title_focused: strong,
        free: dim,
        held: text,
        held_fill: dim,
        confirmed: strong,
        confirmed_fill: dim,
        block: text,
        block_fill: dim,
        pending: text.add_modifier(Modifier::ITALIC),
        turnaround: dim,
        past: dim,
        now: strong,
        selected: reversed,
        current: strong,
        key: strong,
        good: strong,
        warning: strong,
        fault: reversed,
        dialog: text,
        field: text.add_modifier(Modifier::UNDERLINED),
        button: reversed,
        away: dim,
    }
}

/// The terminal's own colours, so that it follows the user's scheme.
fn sixteen(glyphs: Glyphs, background: Background) -> Theme {
    let (held, confirmed, accent, key) = match background {
        Background::Dark => (
            Color::Yellow,
            Color::Cyan,
            Color::LightCyan,
            Color::LightBlue,
        ),
        Background::Light => (Color::Magenta, Color::Blue, Color::Blue, Color::Blue),
    };
    let plain = plain(glyphs);
    let text = Style::new();
    let faint = match background {
        Background::Dark => text.fg(Color::DarkGray),
        Background::Light => text.fg(Color::Gray).add_modifier(Modifier::DIM),
    };
    let quiet = match background {
        Background::Dark => text.fg(Color::Gray),
        Background::Light => text.fg(Color::DarkGray),
    };
    Theme {
        dim: quiet,
        rule: faint,
        title: quiet,
        title_focused: text.fg(accent).add_modifier(Modifier::BOLD),
        free: faint,
        held: text.fg(held),
        held_fill: text.fg(held),
        confirmed: text.fg(confirmed).add_modifier(Modifier::BOLD),
        confirmed_fill: text.fg(confirmed),
        block: quiet,
        block_fill: quiet,
        pending: text.fg(accent).add_modifier(Modifier::ITALIC),
        turnaround: faint,
        past: quiet.add_modifier(Modifier::DIM),
        now: text.fg(Color::Red).add_modifier(Modifier::BOLD),
        key: text.fg(key).add_modifier(Modifier::BOLD),
        good: text.fg(Color::Green),
        warning: text.fg(held).add_modifier(Modifier::BOLD),
        fault: text.fg(Color::Red).add_modifier(Modifier::BOLD),
        away: faint,
        ..plain
    }
}

/// Quiet tiles of colour on the terminal's own background.
fn tiles(glyphs: Glyphs, background: Background) -> Theme {
    let hex = |value: u32| Color::from_u32(value);
    let bold = Modifier::BOLD;
    let on = |fg: u32, bg: u32| Style::new().fg(hex(fg)).bg(hex(bg));
    let ink = |fg: u32| Style::new().fg(hex(fg));
    let plain = plain(glyphs);
    match background {
        Background::Dark => Theme {
            text: ink(0x00d5_d8de),
            dim: ink(0x008a_909c),
            strong: ink(0x00f2_f4f8).add_modifier(bold),
            rule: ink(0x0050_5663),
            title: ink(0x00a2_a8b4),
            title_focused: ink(0x007f_c8f0).add_modifier(bold),
            free: ink(0x0046_4b57),
            held: on(0x00f3_d9a0, 0x0048_3a1a),
            held_fill: on(0x0079_6230, 0x0048_3a1a),
            confirmed: on(0x00d8_ecf8, 0x001f_4460).add_modifier(bold),
            confirmed_fill: on(0x0031_6285, 0x001f_4460),
            block: on(0x00a9_adb8, 0x002c_3039),
            block_fill: on(0x0050_5663, 0x002c_3039),
            pending: on(0x00e3_d4fa, 0x003d_3157).add_modifier(Modifier::ITALIC),
            turnaround: ink(0x0050_5663),
            past: ink(0x0068_6d79),
            now: ink(0x00ef_8a74).add_modifier(bold),
            selected: on(0x0010_1318, 0x007f_c8f0).add_modifier(bold),
            current: ink(0x00f2_f4f8).add_modifier(bold),
            key: ink(0x007f_c8f0).add_modifier(bold),
            good: ink(0x008f_d19e),
            warning: ink(0x00f0_c674),
            fault: ink(0x00f2_877a).add_modifier(bold),
            dialog: on(0x00d5_d8de, 0x0022_262f),
            field: on(0x00f2_f4f8, 0x0033_3946),
            button: on(0x0010_1318, 0x007f_c8f0).add_modifier(bold),
            away: ink(0x0060_6571),
            ..plain
        },
        Background::Light => Theme {
            text: ink(0x002b_2f38),
            dim: ink(0x006a_7080),
            strong: ink(0x0010_1318).add_modifier(bold),
            rule: ink(0x00b0_b5c0),
            title: ink(0x0060_6672),
            title_focused: ink(0x0005_5f9e).add_modifier(bold),
            free: ink(0x00c0_c4cd),
            held: on(0x005e_4300, 0x00fb_ebc4),
            held_fill: on(0x00d9_bd7c, 0x00fb_ebc4),
            confirmed: on(0x000b_3d63, 0x00cf_e5f5).add_modifier(bold),
            confirmed_fill: on(0x009c_c4e2, 0x00cf_e5f5),
            block: on(0x004a_4f5b, 0x00e6_e8ec),
            block_fill: on(0x00b0_b5c0, 0x00e6_e8ec),
            pending: on(0x0047_2a80, 0x00e8_dff7).add_modifier(Modifier::ITALIC),
            turnaround: ink(0x00b0_b5c0),
            past: ink(0x0098_9daa),
            now: ink(0x00c0_3a22).add_modifier(bold),
            selected: on(0x00ff_ffff, 0x0005_5f9e).add_modifier(bold),
            current: ink(0x0010_1318).add_modifier(bold),
            key: ink(0x0005_5f9e).add_modifier(bold),
            good: ink(0x001d_7a3a),
            warning: ink(0x008a_5a00).add_modifier(bold),
            fault: ink(0x00b3_2318).add_modifier(bold),
            dialog: on(0x002b_2f38, 0x00ee_f0f4),
            field: on(0x0010_1318, 0x00da_dee6),
            button: on(0x00ff_ffff, 0x0005_5f9e).add_modifier(bold),
            away: ink(0x00a0_a5b0),
            ..plain
        },
    }
}

/// The signs, each one cell wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Glyphs {
    pub confirmed: &'static str,
    pub held: &'static str,
    pub block: &'static str,
    pub pending: &'static str,
    pub turnaround: &'static str,
    pub hour: &'static str,
    pub now: &'static str,
    pub now_column: &'static str,
    pub rule: &'static str,
    pub bar: &'static str,
    pub tee_down: &'static str,
    pub tee_up: &'static str,
    pub cross: &'static str,
    pub earlier: &'static str,
    pub later: &'static str,
    pub above: &'static str,
    pub below: &'static str,
    pub cursor: &'static str,
    pub live: &'static str,
    pub away: &'static str,
    pub night: &'static str,
    pub group: &'static str,
    pub sold: &'static str,
    pub available: &'static str,
    pub cut: &'static str,
    pub done: &'static str,
    pub refused: &'static str,
    pub ended: &'static str,
    pub corners: [&'static str; 4],
}

impl Glyphs {
    /// For terminals with Unicode.
    pub const UNICODE: Self = Self {
        confirmed: "▓",
        held: "░",
        block: "╱",
        pending: "…",
        turnaround: "╌",
        hour: "·",
        now: "▾",
        now_column: "┊",
        rule: "─",
        bar: "│",
        tee_down: "┬",
        tee_up: "┴",
        cross: "┼",
        earlier: "◂",
        later: "▸",
        above: "▴",
        below: "▾",
        cursor: "›",
        live: "●",
        away: "○",
        night: "☾",
        group: "&",
        sold: "█",
        available: "·",
        cut: "…",
        done: "✓",
        refused: "✗",
        ended: "▫",
        corners: ["╭", "╮", "╰", "╯"],
    };

    /// Their twins for terminals without.
    pub const ASCII: Self = Self {
        confirmed: "#",
        held: ":",
        block: "/",
        pending: "~",
        turnaround: "=",
        hour: ".",
        now: "v",
        now_column: "'",
        rule: "-",
        bar: "|",
        tee_down: "+",
        tee_up: "+",
        cross: "+",
        earlier: "<",
        later: ">",
        above: "^",
        below: "v",
        cursor: ">",
        live: "*",
        away: "o",
        night: "n",
        group: "&",
        sold: "#",
        available: ".",
        cut: "~",
        done: "+",
        refused: "!",
        ended: "x",
        corners: ["+", "+", "+", "+"],
    };

    /// All of them, for a test.
    pub fn all(&self) -> Vec<&'static str> {
        let mut all = vec![
            self.confirmed,
            self.held,
            self.block,
            self.pending,
            self.turnaround,
            self.hour,
            self.now,
            self.now_column,
            self.rule,
            self.bar,
            self.tee_down,
            self.tee_up,
            self.cross,
            self.earlier,
            self.later,
            self.above,
            self.below,
            self.cursor,
            self.live,
            self.away,
            self.night,
            self.group,
            self.sold,
            self.available,
            self.cut,
            self.done,
            self.refused,
            self.ended,
        ];
        all.extend(self.corners);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_glyph_is_one_cell_and_its_twin_is_ascii() {
        for glyph in Glyphs::UNICODE.all() {
            assert_eq!(crate::terminal::text::width(glyph), 1, "{glyph}");
        }
        for glyph in Glyphs::ASCII.all() {
            assert!(glyph.is_ascii() && glyph.len() == 1, "{glyph}");
        }
    }

    #[test]
    fn the_states_differ_without_colour() {
        for glyphs in [Glyphs::UNICODE, Glyphs::ASCII] {
            let signs = [
                glyphs.confirmed,
                glyphs.held,
                glyphs.block,
                glyphs.pending,
                glyphs.turnaround,
            ];
            for (index, sign) in signs.iter().enumerate() {
                assert!(
                    !signs[index + 1..].contains(sign),
                    "{sign} stands for two states"
                );
            }
        }
    }
}
