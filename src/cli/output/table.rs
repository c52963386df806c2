//! Aligned text.

use unicode_width::UnicodeWidthStr;

use crate::domain::text::harmless;

/// Rows under a header, in columns as wide as their widest cell; every cell is made harmless (R26).
pub(crate) fn table<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    aligned_table(header.map(|name| (name, Align::Left)), rows).join("\n")
}

/// Where a cell stands in its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    /// For figures.
    Right,
}

/// The lines of a table: its header, then its rows.
pub(crate) fn aligned_table<const N: usize>(
    header: [(&str, Align); N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> Vec<String> {
    let alignments = header.map(|(_, align)| align);
    let rows: Vec<[String; N]> = std::iter::once(header.map(|(name, _)| name.to_owned()))
        .chain(rows.into_iter().map(|row| row.map(|cell| harmless(&cell))))
        .collect();
    let mut columns = alignments.map(|align| (0, align));
    for row in &rows {
        for ((width, _), cell) in columns.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    rows.iter().map(|row| line(row, &columns)).collect()
}

fn line(cells: &[String], columns: &[(usize, Align)]) -> String {
    let mut line = String::new();
    for (cell, (width, align)) in cells
        .iter()
        .zip(columns)
        .filter(|(_, (width, _))| *width > 0)
    {
        let space = " ".repeat(width - cell.width());
        match align {
            Align::Left => line.extend([cell, space.as_str()]),
            Align::Right => line.extend([space.as_str(), cell]),
        }
        line.push_str("  ");
    }
    line.truncate(line.trim_end().len());
    line
}
