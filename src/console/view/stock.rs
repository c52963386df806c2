//! The stock: for each item a bar and the figures; beneath it what is held of it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::domain::{Item, StockHold};

use super::super::model::{Model, Panel};
use super::super::selection::StockCursor;
use super::super::text::{display, pad, truncate, width};
use super::super::theme::Theme;
use super::claim;
use super::{fill, put};

/// The width of the figures.
const FIGURES: u16 = 19;

/// The width of the panel's title on the rule.
const TITLE: u16 = 8;

/// The heads of the figures, on the rule above them, and how many lines of `area` are out of sight.
pub fn head(buffer: &mut Buffer, rule: Rect, area: Rect, model: &Model, theme: &Theme) {
    let rows = model.stock_rows();
    let above = first_row(model, &rows, area);
    let below = rows.len().saturating_sub(above + usize::from(area.height));
    let hidden = [(theme.glyphs.above, above), (theme.glyphs.below, below)];
    let hidden = hidden.iter().filter(|(_, lines)| *lines > 0);
    let counted: String = hidden
        .clone()
        .map(|(glyph, lines)| format!("{glyph} {lines} "))
        .collect();
    let signs: String = hidden.map(|(glyph, _)| *glyph).collect();
    let room = usize::from(rule.width.saturating_sub(FIGURES + TITLE));
    let fitting = [format!(" {counted}"), signs]
        .into_iter()
        .find(|words| !words.trim().is_empty() && width(words) < room);
    if let Some(words) = fitting {
        let cells = u16::try_from(width(&words)).unwrap_or(0);
        let x = rule.right() - FIGURES - cells - 1;
        put(buffer, x, rule.y, &words, cells, theme.title);
    }
    put(
        buffer,
        rule.right() - FIGURES,
        rule.y,
        " free held sold  of",
        FIGURES,
        theme.title,
    );
}

/// The first line that is shown: the cursor can always be seen.
pub fn first_row(model: &Model, rows: &[StockCursor], area: Rect) -> usize {
    let index = model
        .stock_cursor
        .and_then(|cursor| rows.iter().position(|row| *row == cursor))
        .unwrap_or(0);
    (index + 1).saturating_sub(area.height.into())
}

/// Paints the panel.
pub fn draw(buffer: &mut Buffer, area: Rect, model: &Model, theme: &Theme) {
    let Some(board) = &model.board else { return };
    let rows = model.stock_rows();
    if rows.is_empty() {
        put(
            buffer,
            area.x + 1,
            area.y,
            "No stock in this house yet.",
            area.width - 1,
            theme.dim,
        );
    }
    let first = first_row(model, &rows, area);
    for (y, row) in (area.top()..area.bottom()).zip(&rows[first..]) {
        let here = model.panel == Panel::Stock && model.stock_cursor == Some(*row);
        if here {
            put(
                buffer,
                area.x,
                y,
                theme.glyphs.cursor,
                1,
                theme.title_focused,
            );
        }
        match row {
            StockCursor::Item(id) => {
                let index = board.items().iter().position(|item| item.id == *id);
                if let Some(index) = index {
                    let line = Rect {
                        y,
                        height: 1,
                        ..area
                    };
                    item(
                        buffer,
                        line,
                        (board.item_name(index), &board.items()[index]),
                        here,
                        model,
                        theme,
                    );
                }
            }
            StockCursor::Claim(id, _) => {
                if let Some(hold) = board.stock_claim(*id) {
                    held(
                        buffer,
                        Rect {
                            y,
                            height: 1,
                            ..area
                        },
                        hold,
                        here,
                        model,
                        theme,
                    );
                }
            }
        }
    }
}

fn item(
    buffer: &mut Buffer,
    line: Rect,
    (shown, item): (&str, &Item),
    here: bool,
    model: &Model,
    theme: &Theme,
) {
    let style = if here { theme.current } else { theme.text };
    let left = line.width - FIGURES - 1;
    // Where there is hardly room, the name matters more.
    let bar_cells = if left < 16 { 0 } else { (left / 3).min(20) };
    let name_cells = left - bar_cells - 1;
    let shown = pad(shown, name_cells.into(), theme.glyphs.cut);
    put(buffer, line.x + 1, line.y, &shown, name_cells, style);
    bar(
        buffer,
        line.x + 2 + name_cells,
        line.y,
        bar_cells,
        item,
        theme,
    );

    let count = model.count.filter(|_| here);
    let free = match (model.pending_of_item(item.id), count) {
        (Some(_), _) => format!("{:>5}", theme.glyphs.pending),
        (None, Some(count)) => format!("{:>5}", format!("-{count}")),
        (None, None) => format!("{:>5}", item.available),
    };
    let free_style = if count.is_some() {
        theme.selected
    } else if item.available == 0 {
        theme.warning
    } else {
        style
    };
    let x = line.right() - FIGURES;
    put(buffer, x, line.y, &free, 5, free_style);
    put(
        buffer,
        x + 5,
        line.y,
        &format!("{:>5}{:>5}{:>4}", item.held, item.sold, item.total),
        15,
        theme.dim,
    );
}

/// Sold, held and free, each in proportion; what there is shows in at least one cell.
fn bar(buffer: &mut Buffer, x: u16, y: u16, cells: u16, item: &Item, theme: &Theme) {
    let (sold, held) = parts(cells, item);
    let after = fill(buffer, x, y, sold, theme.glyphs.sold, theme.confirmed_fill);
    let after = fill(buffer, after, y, held, theme.glyphs.held, theme.held_fill);
    let free = cells - sold - held;
    fill(buffer, after, y, free, theme.glyphs.available, theme.free);
}

fn parts(cells: u16, item: &Item) -> (u16, u16) {
    let total = i64::from(item.total.max(1));
    let share = |units: i32| {
        let exact = (i64::from(units) * i64::from(cells) + total / 2) / total;
        u16::try_from(exact.max(i64::from(units > 0))).unwrap_or(0)
    };
    let most = if item.available > 0 {
        cells.saturating_sub(1)
    } else {
        cells
    };
    let sold = share(item.sold).min(most);
    let held = share(item.held).min(most - sold);
    (sold, held)
}

fn held(
    buffer: &mut Buffer,
    line: Rect,
    hold: &StockHold,
    here: bool,
    model: &Model,
    theme: &Theme,
) {
    let look = claim::stock(
        hold,
        model.pending_on_stock(hold.id).is_some(),
        model.now(),
        theme,
    );
    let style = if here { theme.current } else { look.tile };
    put(buffer, line.x + 2, line.y, look.glyph, 1, look.fill);
    let state = match hold.seconds_left(model.now()) {
        Some(left) => format!("held {}", claim::countdown(left, 9, theme.glyphs.cut)),
        None => look.word.to_owned(),
    };
    let guest = display(&hold.guest);
    let whom = if guest.is_empty() {
        format!("desk {}", display(&hold.desk.0))
    } else {
        guest
    };
    let mark = if hold.group.is_some() {
        theme.glyphs.group
    } else {
        ""
    };
    let words = format!(" {}{mark} {state} {whom} ", hold.quantity);
    let cells = line.width - 4;
    put(
        buffer,
        line.x + 3,
        line.y,
        &truncate(&words, cells.into(), theme.glyphs.cut),
        cells,
        style,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ItemId;

    #[test]
    fn a_bar_shows_whatever_there_is_and_never_sticks_out() {
        for total in [1, 3, 10, 4000] {
            for sold in 0..=total.min(40) {
                for held in 0..=(total - sold).min(40) {
                    let available = total - sold - held;
                    let item = Item {
                        id: ItemId(1),
                        name: "x".into(),
                        total,
                        available,
                        held,
                        sold,
                        retired_at: None,
                    };
                    let (sold_cells, held_cells) = parts(8, &item);
                    assert!(sold_cells + held_cells <= 8);
                    assert_eq!(sold_cells > 0, sold > 0);
                    assert!(available == 0 || sold_cells + held_cells < 8);
                }
            }
        }
    }
}
