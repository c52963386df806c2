//! What is under the cursor, in full: the claim, or what Enter would hold.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::console::actions;
use crate::console::actions::names;
use crate::console::model::Model;
use crate::console::model::cursor::{Panel, Target};
use crate::console::model::grab::Grab;
use crate::console::view::claim::{self, ClaimStyle};
use crate::domain::duration::{spoken, written};
use crate::domain::{BookedBy, ClaimState, GroupId, Item, Period, Room, SlotHold, StockHold};
use crate::terminal::canvas::put;
use crate::terminal::text::{display, truncate, width, wrap};
use crate::terminal::theme::Theme;

/// The panel's title.
pub(crate) fn title(model: &Model) -> &'static str {
    match model.target() {
        _ if model.grab.is_some() => "Move",
        Target::Claim(_) | Target::StockClaim(_) => "Claim",
        Target::Item(_) => "Item",
        Target::Free(..) | Target::Nothing => "Period",
    }
}

/// Paints the panel.
pub(crate) fn draw(buffer: &mut Buffer, area: Rect, model: &Model, theme: &Theme) {
    let mut page = Page {
        buffer,
        area,
        y: area.y,
        theme,
    };
    if let Some(grab) = &model.grab {
        return self::grab(&mut page, grab, model);
    }
    match model.target() {
        Target::Claim(claim) => slot(&mut page, claim, model),
        Target::StockClaim(claim) => stock(&mut page, claim, model),
        Target::Free(room, period) => free(&mut page, room, &period, model),
        Target::Item(item) => self::item(&mut page, item, model),
        Target::Nothing => page.line("Nothing here.", theme.dim),
    }
}

/// What is painted without a line's end in it.
type Piece<'a> = &'a [(&'a str, Style)];

/// Lines from top to bottom.
struct Page<'a> {
    buffer: &'a mut Buffer,
    area: Rect,
    y: u16,
    theme: &'a Theme,
}

impl Page<'_> {
    fn line(&mut self, words: &str, style: Style) {
        self.spans(&[(words, style)]);
    }

    fn spans(&mut self, spans: &[(&str, Style)]) {
        if self.y >= self.area.bottom() {
            return;
        }
        let mut x = self.area.x + 1;
        for (words, style) in spans {
            let room = self.area.right().saturating_sub(x);
            let shown = truncate(words, room.into(), self.theme.glyphs.cut);
            x = put(self.buffer, x, self.y, &shown, room, *style);
        }
        self.y += 1;
    }

    /// Pieces one after the other, in as many lines as they need; blanks before a piece vanish at the start of a line.
    fn flow(&mut self, pieces: &[Piece]) {
        let cells = usize::from(self.area.width.saturating_sub(1));
        let length = |spans: &[(&str, Style)]| -> usize {
            spans.iter().map(|(words, _)| width(words)).sum()
        };
        let mut line: Vec<(&str, Style)> = Vec::new();
        for piece in pieces {
            if !line.is_empty() && length(&line) + length(piece) > cells {
                self.spans(&line);
                line.clear();
            }
            let first = line.is_empty();
            line.extend(piece.iter().enumerate().map(|(index, (words, style))| {
                let words = if first && index == 0 {
                    words.trim_start()
                } else {
                    words
                };
                (words, *style)
            }));
        }
        self.spans(&line);
    }

    /// A sentence in one line or, rather than cut, in two.
    fn sentence(&mut self, words: &str, style: Style) {
        if self.fits(words) {
            self.line(words, style);
        } else {
            self.wrapped(words, 2, style);
        }
    }

    /// The first that fits into a line; else the last.
    fn first_that_fits(&mut self, sentences: &[String; 2]) {
        let fitting = sentences.iter().find(|words| self.fits(words));
        self.sentence(fitting.unwrap_or(&sentences[1]), self.theme.dim);
    }

    fn fits(&self, words: &str) -> bool {
        width(words) < usize::from(self.area.width)
    }

    fn wrapped(&mut self, words: &str, most: usize, style: Style) {
        let cells = usize::from(self.area.width.saturating_sub(2));
        let most = most.min(self.area.bottom().saturating_sub(self.y).into());
        let lines = wrap(words, cells);
        for (number, line) in lines.iter().take(most).enumerate() {
            if number + 1 == most && lines.len() > most {
                // With what would follow it is too long, and the sign says that it goes on.
                let whole = format!("{line} {}", lines[most]);
                self.line(&truncate(&whole, cells, self.theme.glyphs.cut), style);
            } else {
                self.line(line, style);
            }
        }
    }

    /// The period in words: times and date, and how long it is; in more lines rather than cut, for `1 hour…` misleads.
    fn period(&mut self, model: &Model, period: &Period, nights: Option<i32>) {
        let length = match nights {
            Some(1) => "1 night".into(),
            Some(nights) => format!("{nights} nights"),
            None => written(period.length()),
        };
        let span = model.calendar().span(period);
        let both = format!("{span}, {length}");
        if self.fits(&both) {
            return self.line(&both, self.theme.text);
        }
        let mut lines = wrap(&span, usize::from(self.area.width.saturating_sub(2)));
        let last = lines.last().map(|last| format!("{last}, {length}"));
        match (last.filter(|last| self.fits(last)), lines.last_mut()) {
            (Some(joined), Some(last)) => *last = joined,
            _ => lines.push(length),
        }
        for line in lines {
            self.line(&line, self.theme.text);
        }
    }

    /// The state, and what else there is to say about it.
    fn state(&mut self, look: &ClaimStyle, rest: &[&str]) {
        let text = self.theme.text;
        let state = [
            (look.glyph, look.fill),
            (" ", look.tile),
            (look.word, look.tile),
            (" ", look.tile),
        ];
        let rest: Vec<[(&str, Style); 1]> = rest.iter().map(|words| [(*words, text)]).collect();
        let pieces: Vec<Piece> = std::iter::once(&state[..])
            .chain(rest.iter().map(|piece| &piece[..]))
            .collect();
        self.flow(&pieces);
    }

    fn roomy(&self) -> bool {
        self.area.height > 9
    }
}

/// The grabbed claim: where it would come to, and what keeps it.
fn grab(page: &mut Page, grab: &Grab, model: &Model) {
    let (theme, claim) = (page.theme, &grab.claim);
    if let Some((room, period)) = model.destination() {
        page.line(&display(&room.name), theme.strong);
        let nights = claim.nights.and(nights(model, &period));
        page.period(model, &period, nights);
    }
    match actions::move_claim::why_not_here(model) {
        Some(reason) => page.wrapped(&reason, 5, theme.warning),
        None => {
            let [put, back] = [names::HOLD, names::BACK].map(|action| model.keymap.first(action));
            page.flow(&[
                &[(&put, theme.key), (" puts it down,", theme.text)],
                &[
                    (" ", theme.text),
                    (&back, theme.key),
                    (" lets go", theme.text),
                ],
            ]);
        }
    }
    if page.roomy() {
        page.y += 1;
    }
    let guest = display(&claim.guest);
    page.line(&claim::whom(claim, &guest), theme.strong);
    let span = model.calendar().span(&claim.period);
    let from = format!("now {}, {span}", display(&claim.room_name));
    page.wrapped(&from, 3, theme.dim);
}

fn slot(page: &mut Page, claim: &SlotHold, model: &Model) {
    let (theme, now) = (page.theme, model.now());
    let pending = model.pending_on(claim.id);
    let mut look = claim::slot(claim, pending.is_some(), now, theme);
    if pending.is_some_and(|pending| pending.checking) {
        look.word = "checking";
    }
    page.line(&display(&claim.room_name), theme.strong);
    page.period(model, &claim.period, claim.nights);
    match claim.seconds_left(now) {
        None if claim.period.end() <= now => page.state(&look, &["  over"]),
        seconds => left(page, &look, seconds.zip(claim.expires_at), model),
    }
    if page.roomy() {
        page.y += 1;
    }
    let guest = display(&claim.guest);
    let whom = claim::whom(claim, &guest);
    let party = claim
        .party
        .map_or(String::new(), |party| format!("  party of {party}"));
    if whom.is_empty() {
        let key = model.keymap.first(names::EDIT);
        let none = ["no guest written down; ", "no guest yet; "];
        let none = none
            .into_iter()
            .find(|none| page.fits(&format!("{none}{key} writes")))
            .unwrap_or(none[1]);
        page.flow(&[
            &[(none, theme.dim), (&key, theme.key), (" writes", theme.dim)],
            &[(&party, theme.text)],
        ]);
    } else {
        page.flow(&[&[(&whom, theme.strong)], &[(&party, theme.text)]]);
    }
    let cleaning = claim.occupied_until - claim.period.end();
    if cleaning.num_seconds() > 0 {
        page.first_that_fits(
            &[spoken(cleaning), written(cleaning)]
                .map(|length| format!("then {length} to make it ready")),
        );
    }
    let note_rows = usize::from(page.area.bottom().saturating_sub(page.y + 1));
    let note = display(&claim.note);
    if !note.is_empty() && claim.purpose == crate::domain::Purpose::Guest {
        page.wrapped(&note, note_rows.min(8), theme.text);
    }
    origin(
        page,
        model,
        (claim.id.0, claim.group, claim.version.0),
        (&claim.desk.0, claim.created_at, claim.changed_at),
    );
}

/// The state of a claim, and how long it is held.
fn left(
    page: &mut Page,
    look: &ClaimStyle,
    deadline: Option<(i64, chrono::DateTime<chrono::Utc>)>,
    model: &Model,
) {
    let cut = page.theme.glyphs.cut;
    match deadline {
        Some((0, _)) => page.state(look, &[&format!("  expiring{cut}")]),
        Some((seconds, at)) => {
            let left = format!("  {} left,", claim::countdown(seconds, 5, cut));
            let until = format!(" until {}", model.calendar().clock_time(at));
            page.state(look, &[&left, &until]);
        }
        None => page.state(look, &[]),
    }
}

fn origin(
    page: &mut Page,
    model: &Model,
    (number, group, version): (i64, Option<GroupId>, i64),
    (desk, created, changed): (
        &str,
        chrono::DateTime<chrono::Utc>,
        chrono::DateTime<chrono::Utc>,
    ),
) {
    let calendar = model.calendar();
    let at = |instant| {
        let today = calendar.date(instant) == calendar.date(model.now());
        if today {
            calendar.clock_time(instant)
        } else {
            calendar.date_and_time(instant)
        }
    };
    if page.roomy() {
        page.y += 1;
    }
    page.sentence(
        &format!("made {} by desk {}", at(created), display(desk)),
        page.theme.dim,
    );
    let group = group.map_or(String::new(), |group| format!(" of group {group}"));
    let mut words = format!("hold {number}{group}, version {version}");
    if changed != created {
        words.push_str(&format!(", changed {}", at(changed)));
    }
    page.sentence(&words, page.theme.dim);
}

fn free(page: &mut Page, room: &Room, period: &Period, model: &Model) {
    let theme = page.theme;
    let name = display(&room.name);
    page.line(&name, theme.strong);
    let by_night = room.booked_by == BookedBy::Night;
    page.period(model, period, nights(model, period).filter(|_| by_night));
    let ended_claim = model.ended_claim.as_ref();
    if let Some(gone) =
        ended_claim.filter(|gone| gone.claim.room == room.id && gone.claim.period.overlaps(period))
    {
        let guest = display(&gone.claim.guest);
        let words = format!("{} {} {}  {guest}", theme.glyphs.ended, gone.state, gone.at);
        page.line(&words, theme.past);
    }
    match actions::why_not(names::HOLD, model) {
        _ if model.panel == Panel::Feed => {}
        Some(reason) => page.wrapped(&reason, 5, theme.dim),
        None => {
            let key = model.keymap.first(names::HOLD);
            let length = format!(" for {}", spoken(model.site.default_hold));
            page.flow(&[
                &[
                    ("free  ", theme.good),
                    (&key, theme.key),
                    (" holds it", theme.text),
                ],
                &[(&length, theme.text)],
            ]);
        }
    }
    if page.roomy() {
        page.y += 1;
    }
    let mut facts = format!("up to {} people", room.capacity);
    if !room.features.is_empty() {
        facts.push_str(", ");
        facts.push_str(&display(&room.features.join(", ")));
    }
    page.wrapped(&facts, 2, theme.dim);
    if room.booked_by == BookedBy::Night {
        let times = room.night_times;
        let words = format!(
            "in from {}, out by {}",
            times.check_in.format("%H:%M"),
            times.check_out.format("%H:%M")
        );
        page.sentence(&words, theme.dim);
    }
    if room.turnaround.num_seconds() > 0 {
        let length = spoken(room.turnaround);
        page.first_that_fits(&[
            format!("{length} to make it ready after each"),
            format!("then {} to make it ready", written(room.turnaround)),
        ]);
    }
}

/// Counted in dates (R7).
fn nights(model: &Model, period: &Period) -> Option<i32> {
    let [from, to] = [period.start(), period.end()].map(|at| model.calendar().date(at));
    i32::try_from((to - from).num_days()).ok()
}

fn item(page: &mut Page, item: &Item, model: &Model) {
    let theme = page.theme;
    page.line(&display(&item.name), theme.strong);
    let words = format!(
        "{} available, {} held, {} sold of {}",
        item.available, item.held, item.sold, item.total
    );
    page.sentence(&words, theme.text);
    match actions::why_not(names::HOLD, model) {
        Some(reason) => page.wrapped(&reason, 5, theme.dim),
        None => {
            let key = model.keymap.first(names::HOLD);
            let many = model.count.map_or("one".into(), |count| count.to_string());
            let holds = format!(" holds {many}");
            let length = format!(" for {}", spoken(model.site.default_hold));
            page.flow(&[
                &[(&key, theme.key), (&holds, theme.text)],
                &[(&length, theme.text)],
            ]);
            page.sentence("digits before it: that many", theme.dim);
        }
    }
}

fn stock(page: &mut Page, hold: &StockHold, model: &Model) {
    let (theme, now) = (page.theme, model.now());
    let look = claim::stock(hold, model.pending_on_stock(hold.id).is_some(), now, theme);
    page.line(
        &format!("{} of {}", hold.quantity, display(&hold.item_name)),
        theme.strong,
    );
    let deadline = hold.seconds_left(now).zip(hold.expires_at);
    left(page, &look, deadline, model);
    if page.roomy() {
        page.y += 1;
    }
    if hold.state == ClaimState::Held || !hold.guest.is_empty() {
        let guest = display(&hold.guest);
        let (words, style) = if guest.is_empty() {
            ("no guest written down", theme.dim)
        } else {
            (guest.as_str(), theme.strong)
        };
        page.line(words, style);
    }
    if !hold.note.is_empty() {
        page.wrapped(&display(&hold.note), 3, theme.text);
    }
    origin(
        page,
        model,
        (hold.id.0, hold.group, hold.version.0),
        (&hold.desk.0, hold.created_at, hold.changed_at),
    );
}
