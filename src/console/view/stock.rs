//! The stock: for each item a bar and the figures; beneath it what is held of it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::console::model::Model;
use crate::console::model::cursor::{Panel, StockCursor};
use crate::console::view::claim;
use crate::domain::{Item, StockHold};
use crate::terminal::canvas::{fill, put};
use crate::terminal::text::{display, pad, truncate, width};
use crate::terminal::theme::Theme;

/// The heads of the figures.
const HEADS: [&str; 4] = ["free", "held", "sold", "of"];

/// The widths of their columns as long as the figures are small.
const COLUMNS: [u16; 4] = [5, 5, 5, 4];

/// The width of the widest column; what has more digits is said in thousands or millions.
const WIDEST: u16 = 6;

/// The width of the panel's title on the rule.
const TITLE: u16 = 8;

/// The heads of the figures, on the rule above them, and how many lines of `area` are out of sight.
pub(crate) fn head(buffer: &mut Buffer, rule: Rect, area: Rect, model: &Model, theme: &Theme) {
    let rows = model.stock_rows();
    let above = model.first_stock_row(&rows, area.height);
    let below = rows.len().saturating_sub(above + usize::from(area.height));
    let hidden = [(theme.glyphs.above, above), (theme.glyphs.below, below)];
    let hidden = hidden.iter().filter(|(_, lines)| *lines > 0);
    let counted: String = hidden
        .clone()
        .map(|(glyph, lines)| format!("{glyph} {lines} "))
        .collect();
    let signs: String = hidden.map(|(glyph, _)| *glyph).collect();
    let columns = columns(model);
    let figures: u16 = columns.iter().sum();
    let room = usize::from(rule.width.saturating_sub(figures + TITLE));
    let fitting = [format!(" {counted}"), signs]
        .into_iter()
        .find(|words| !words.trim().is_empty() && width(words) < room);
    if let Some(words) = fitting {
        let cells = u16::try_from(width(&words)).unwrap_or(0);
        let x = rule.right() - figures - cells - 1;
        put(buffer, x, rule.y, &words, cells, theme.title);
    }
    let heads: String = HEADS
        .iter()
        .zip(columns)
        .map(|(head, cells)| format!("{head:>0$}", usize::from(cells)))
        .collect();
    put(
        buffer,
        rule.right() - figures,
        rule.y,
        &heads,
        figures,
        theme.title,
    );
}

fn figures_of(item: &Item) -> [i32; 4] {
    [item.available, item.held, item.sold, item.total]
}

/// How wide the columns are: the same for every item, with a blank before the longest figure.
fn columns(model: &Model) -> [u16; 4] {
    let mut columns = COLUMNS;
    for item in model.indexed.iter().flat_map(|indexed| indexed.items()) {
        for (cells, figure) in columns.iter_mut().zip(figures_of(item)) {
            let digits = u16::try_from(figure.to_string().len()).unwrap_or(WIDEST);
            *cells = (digits + 1).clamp(*cells, WIDEST);
        }
    }
    columns
}

/// A figure in so many cells, the first of them blank.
fn figure(figure: i32, cells: u16) -> String {
    let cells = usize::from(cells);
    let words = [
        figure.to_string(),
        format!("{}k", figure / 1000),
        format!("{}M", figure / 1_000_000),
    ];
    let fitting = words.iter().find(|words| words.len() < cells);
    format!("{:>cells$}", fitting.unwrap_or(&words[2]))
}

/// Paints the panel.
pub(crate) fn draw(buffer: &mut Buffer, area: Rect, model: &Model, theme: &Theme) {
    let Some(indexed) = &model.indexed else {
        return;
    };
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
    let first = model.first_stock_row(&rows, area.height);
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
                let index = indexed.items().iter().position(|item| item.id == *id);
                if let Some(index) = index {
                    let line = Rect {
                        y,
                        height: 1,
                        ..area
                    };
                    item(
                        buffer,
                        line,
                        (indexed.item_name(index), &indexed.items()[index]),
                        here,
                        model,
                        theme,
                    );
                }
            }
            StockCursor::Claim(id, _) => {
                if let Some(hold) = indexed.stock_claim(*id) {
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
    let columns = columns(model);
    let left = line.width - columns.iter().sum::<u16>() - 1;
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
        (Some(_), _) => format!("{:>1$}", theme.glyphs.pending, usize::from(columns[0])),
        (None, Some(count)) => format!("{:>1$}", format!("-{count}"), usize::from(columns[0])),
        (None, None) => figure(item.available, columns[0]),
    };
    let free_style = if count.is_some() {
        theme.selected
    } else if item.available == 0 {
        theme.warning
    } else {
        style
    };
    let x = line.right() - columns.iter().sum::<u16>();
    put(buffer, x, line.y, &free, columns[0], free_style);
    let others: String = figures_of(item)
        .into_iter()
        .zip(columns)
        .skip(1)
        .map(|(number, cells)| figure(number, cells))
        .collect();
    put(
        buffer,
        x + columns[0],
        line.y,
        &others,
        columns[1..].iter().sum(),
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
