//! The open dialog, above everything else.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::console::actions;
use crate::console::actions::action::Form;
use crate::console::model::dialog::{Dialog, Field};
use crate::console::model::{Model, layout};
use crate::console::view::help;
use crate::terminal::canvas::put;
use crate::terminal::text::{display, tail, truncate, width, wrap};
use crate::terminal::theme::Theme;

/// Paints the dialog, if one is open; returns where the terminal's cursor belongs.
pub(crate) fn draw(
    buffer: &mut Buffer,
    area: Rect,
    model: &Model,
    theme: &Theme,
) -> Option<Position> {
    let dialog = model.dialog.as_ref()?;
    let form = actions::form(dialog.action)?;
    if form.is_page {
        let inner = layout::page((area.width, area.height));
        let (title, keys) = edges(dialog, form, theme);
        frame(buffer, outer(inner), &title, &keys, theme);
        help::draw(buffer, inner, dialog.scroll, model, theme);
        return None;
    }
    fields(buffer, area, dialog, form, theme)
}

fn outer(inner: Rect) -> Rect {
    Rect::new(
        inner.x.saturating_sub(2),
        inner.y.saturating_sub(1),
        inner.width + 4,
        inner.height + 2,
    )
}

fn fields(
    buffer: &mut Buffer,
    area: Rect,
    dialog: &Dialog,
    form: &Form,
    theme: &Theme,
) -> Option<Position> {
    let cells = area.width.saturating_sub(8).min(64);
    let heading = wrap(&dialog.heading, cells.into());
    let complaint = dialog
        .complaint
        .as_ref()
        .map_or(Vec::new(), |words| wrap(words, cells.into()));
    let rows = [
        heading.len(),
        1,
        dialog.fields.len(),
        usize::from(!dialog.buttons.is_empty()) * 2,
    ];
    let rows = rows.iter().sum::<usize>()
        + if complaint.is_empty() {
            0
        } else {
            complaint.len() + 1
        };
    let rows = u16::try_from(rows)
        .unwrap_or(u16::MAX)
        .min(area.height.saturating_sub(2));
    let inner = Rect::new(
        (area.width - cells) / 2,
        (area.height - rows) / 2,
        cells,
        rows,
    );

    let (title, keys) = edges(dialog, form, theme);
    frame(buffer, outer(inner), &title, &keys, theme);
    let mut y = inner.y;
    let mut line = |buffer: &mut Buffer, words: &str, style: Style| {
        if y < inner.bottom() {
            put(buffer, inner.x, y, words, inner.width, style);
        }
        y += 1;
        y - 1
    };
    for words in &heading {
        line(
            buffer,
            words,
            theme
                .dialog
                .patch(theme.strong.remove_modifier(ratatui::style::Modifier::DIM)),
        );
    }
    line(buffer, "", theme.dialog);
    let mut cursor = None;
    for (index, field) in dialog.fields.iter().enumerate() {
        let row = line(buffer, "", theme.dialog);
        let focused = dialog.focus == index && dialog.sent.is_none();
        let at = self::field(
            buffer,
            Rect {
                y: row,
                height: 1,
                ..inner
            },
            field,
            focused,
            theme,
        );
        if focused && row < inner.bottom() {
            cursor = Some(at);
        }
    }
    if !dialog.buttons.is_empty() {
        line(buffer, "", theme.dialog);
        let row = line(buffer, "", theme.dialog);
        buttons(buffer, inner, row, dialog, theme);
    }
    if !complaint.is_empty() {
        line(buffer, "", theme.dialog);
        for words in &complaint {
            line(buffer, words, theme.dialog.patch(theme.warning));
        }
    }
    cursor
}

/// The title, and the keys on the lower edge.
fn edges(dialog: &Dialog, form: &Form, theme: &Theme) -> (String, String) {
    let keys = if dialog.sent.is_some() {
        format!("{} waiting for the house", theme.glyphs.pending)
    } else {
        (form.keys)(dialog).to_owned()
    };
    (format!(" {} ", form.title), format!(" {keys} "))
}

/// The cells of a field's label.
const LABEL: u16 = 8;

fn field(buffer: &mut Buffer, line: Rect, field: &Field, focused: bool, theme: &Theme) -> Position {
    let style = if focused { theme.key } else { theme.dim };
    if line.y < buffer.area.bottom() {
        put(
            buffer,
            line.x,
            line.y,
            field.label,
            LABEL,
            theme.dialog.patch(style),
        );
    }
    let cells = line.width.saturating_sub(LABEL);
    let value = field.input.value();
    let split = value
        .char_indices()
        .nth(field.input.cursor())
        .map_or(value.len(), |(index, _)| index);
    let before = display(&value[..split]);
    let room = usize::from(cells).saturating_sub(1);
    let (shown, column) = if focused {
        let before = tail(&before, room);
        let column = width(&before);
        let after = display(&value[split..]);
        let after = truncate(&after, room.saturating_sub(column), "");
        (format!("{before}{after}"), column)
    } else {
        (
            truncate(&display(value), room, theme.glyphs.cut).into_owned(),
            0,
        )
    };
    let x = line.x + LABEL;
    put(
        buffer,
        x,
        line.y,
        &" ".repeat(cells.into()),
        cells,
        theme.field,
    );
    put(buffer, x, line.y, &shown, cells, theme.field);
    Position::new(x + u16::try_from(column).unwrap_or(0), line.y)
}

fn buttons(buffer: &mut Buffer, inner: Rect, y: u16, dialog: &Dialog, theme: &Theme) {
    let mut x = inner.x + LABEL;
    for (index, words) in dialog.buttons.iter().enumerate() {
        let focused = dialog.focused_button() == Some(index);
        let (style, shown) = if focused {
            (theme.button, format!("[ {words} ]"))
        } else {
            (theme.dialog, format!("  {words}  "))
        };
        x = put(buffer, x, y, &shown, inner.right().saturating_sub(x), style) + 2;
    }
}

/// A frame on cleared ground, with words on its edges.
fn frame(buffer: &mut Buffer, area: Rect, title: &str, keys: &str, theme: &Theme) {
    let area = area.intersection(buffer.area);
    if area.width < 2 || area.height < 2 {
        return;
    }
    let [top_left, top_right, bottom_left, bottom_right] = theme.glyphs.corners;
    let style = theme.dialog;
    let edge = theme.glyphs.rule.repeat(usize::from(area.width) - 2);
    let blank = " ".repeat(usize::from(area.width) - 2);
    for y in area.top()..area.bottom() {
        let (left, middle, right) = if y == area.top() {
            (top_left, &edge, top_right)
        } else if y == area.bottom() - 1 {
            (bottom_left, &edge, bottom_right)
        } else {
            (theme.glyphs.bar, &blank, theme.glyphs.bar)
        };
        for x in area.left()..area.right() {
            buffer[(x, y)].reset();
        }
        put(
            buffer,
            area.x,
            y,
            &format!("{left}{middle}{right}"),
            area.width,
            style,
        );
    }
    let room = area.width.saturating_sub(4);
    put(
        buffer,
        area.x + 2,
        area.y,
        title,
        room,
        style.patch(theme.strong),
    );
    put(
        buffer,
        area.x + 2,
        area.bottom() - 1,
        &truncate(keys, room.into(), theme.glyphs.cut),
        room,
        style,
    );
}
