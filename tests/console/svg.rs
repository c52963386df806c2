//! A terminal's screen as a picture. Blocks and shades are drawn as areas, so that no font can pull them apart.

use std::fmt::Write;

use vt100::{Cell, Color};

use crate::terminal::Frame;

/// One cell, in units of the picture.
const CELL: (f32, f32) = (8.4, 18.0);

/// What the terminal's own colours look like in the picture: ink and paper.
const DEFAULTS: (&str, &str) = ("#d0d0d0", "#14161b");

/// The whole screen.
pub fn svg(frame: &Frame) -> String {
    let mut svg = beginning(frame.size());
    for row in 0..frame.size().1 {
        svg.push_str(&line(frame, row));
    }
    svg.push_str("</svg>\n");
    svg
}

/// What stands before the lines of a screen of so many columns and rows.
pub fn beginning((columns, rows): (u16, u16)) -> String {
    let (width, height) = (f32::from(columns) * CELL.0, f32::from(rows) * CELL.1);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-12 -12 {} {}\" \
         font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\" \
         xml:space=\"preserve\">\n<title>keyrack</title>\n\
         <rect x=\"-12\" y=\"-12\" width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{}\"/>\n",
        width + 24.0,
        height + 24.0,
        DEFAULTS.1
    )
}

/// One line of it.
pub fn line(frame: &Frame, row: u16) -> String {
    let mut svg = String::new();
    let mut run = Run::default();
    for column in 0..frame.size().0 {
        let cell = frame.cell(column, row);
        paint(&mut svg, cell, column, row);
        run.take(&mut svg, cell, column, row);
    }
    run.end(&mut svg, row);
    svg
}

/// Draws what fills a cell: its paper, a block or a shade.
fn paint(svg: &mut String, cell: &Cell, column: u16, row: u16) {
    if cell.is_wide_continuation() {
        return;
    }
    let columns = if cell.is_wide() { 2.0 } else { 1.0 };
    let (ink, paper) = colours(cell);
    let mut area = |fill: &str, opacity: f32| {
        writeln!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{fill}\" fill-opacity=\"{opacity}\"/>",
            f32::from(column) * CELL.0,
            f32::from(row) * CELL.1,
            columns * CELL.0 + 0.3,
            CELL.1 + 0.3
        )
        .unwrap();
    };
    if paper != DEFAULTS.1 {
        area(&paper, 1.0);
    }
    if let Some(opacity) = shade(cell.contents()) {
        area(&ink, opacity);
    }
}

/// How much ink a block or a shade has; none for letters.
fn shade(sign: &str) -> Option<f32> {
    match sign {
        "█" => Some(1.0),
        "▓" => Some(0.7),
        "▒" => Some(0.45),
        "░" => Some(0.25),
        _ => None,
    }
}

/// Neighbouring letters that look alike.
#[derive(Default)]
struct Run {
    text: String,
    style: String,
    column: u16,
    columns: u16,
}

impl Run {
    fn take(&mut self, svg: &mut String, cell: &Cell, column: u16, row: u16) {
        if cell.is_wide_continuation() {
            self.columns += 1;
            return;
        }
        let mut style = format!("fill=\"{}\"", colours(cell).0);
        if cell.bold() {
            style.push_str(" font-weight=\"bold\"");
        }
        if cell.dim() {
            style.push_str(" fill-opacity=\"0.6\"");
        }
        let sign = match cell.contents() {
            sign if shade(sign).is_some() => " ",
            "" => " ",
            sign => sign,
        };
        let blank = sign == " ";
        if (!blank && style != self.style) || cell.is_wide() {
            self.end(svg, row);
            (self.style, self.column) = (style, column);
        }
        self.text
            .push_str(&sign.replace('&', "&amp;").replace('<', "&lt;"));
        self.columns += 1;
    }

    fn end(&mut self, svg: &mut String, row: u16) {
        if !self.text.trim().is_empty() {
            writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" textLength=\"{:.1}\" {}>{}</text>",
                f32::from(self.column) * CELL.0,
                (f32::from(row) + 0.75) * CELL.1,
                f32::from(self.columns) * CELL.0,
                self.style,
                self.text
            )
            .unwrap();
        }
        *self = Self::default();
    }
}

/// Ink and paper.
fn colours(cell: &Cell) -> (String, String) {
    let ink = colour(cell.fgcolor(), DEFAULTS.0);
    let paper = colour(cell.bgcolor(), DEFAULTS.1);
    if cell.inverse() {
        (paper, ink)
    } else {
        (ink, paper)
    }
}

fn colour(colour: Color, otherwise: &str) -> String {
    match colour {
        Color::Default => otherwise.to_owned(),
        Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
        Color::Idx(index) => {
            // The first sixteen are the terminal's own choice; the console asks for 24 bits here.
            let level = if index < 8 { 170 } else { 230 };
            let part = |bit: u8| if index & bit != 0 { level } else { 60 };
            format!("#{:02x}{:02x}{:02x}", part(1), part(2), part(4))
        }
    }
}
