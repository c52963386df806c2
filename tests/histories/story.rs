//! From what the desks saw, and what the house wrote down, to the history of each room and each item.
//!
//! Every change left an event with its request and its moment (R25); in the order of these moments the requests are
//! played again, which says what each must have answered, down to the deadline. Refusals have bounds in time only.

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::{DateTime, Utc};
use keyrack::domain::{
    Answer, Claim, Command, LineKind, Period, Refusal, RequestId, SlotHold, Success,
};
use sqlx::FromRow;
use sqlx::postgres::PgConnection;

use crate::checker::Seen;
use crate::desks::{Heard, Record};
use crate::room::Standing;
use crate::{item, room};

/// The history of every room and item.
#[derive(Default)]
pub struct Story {
    pub rooms: BTreeMap<i64, Vec<Seen<Vec<room::Part>>>>,
    pub items: BTreeMap<i64, Vec<Seen<Vec<item::Part>>>>,
}

/// What the house wrote down.
#[derive(Debug, Clone, FromRow)]
struct Event {
    request_id: uuid::Uuid,
    slot_hold_id: Option<i64>,
    stock_hold_id: Option<i64>,
    /// The room or the item of that claim, or the item itself, as it is now.
    item_id: Option<i64>,
    group_id: Option<i64>,
    quantity: Option<i32>,
    at: DateTime<Utc>,
}

#[derive(Debug, Clone)]
struct Slot {
    room: i64,
    from: i64,
    to: i64,
    standing: Standing,
    group: Option<i64>,
}

#[derive(Debug, Clone)]
struct Stock {
    item: i64,
    standing: Standing,
    group: Option<i64>,
}

fn micros(at: DateTime<Utc>) -> i64 {
    at.timestamp_micros()
}

fn bounds(period: &Period) -> (i64, i64) {
    (micros(period.start()), micros(period.end()))
}

/// The retelling of a round.
struct Teller {
    story: Story,
    slots: BTreeMap<i64, Slot>,
    stock: BTreeMap<i64, Stock>,
}

/// Tells the story of these records; the rows at the end are part of it.
pub async fn tell(
    records: &[Record],
    site: i64,
    end: u64,
    connection: &mut PgConnection,
) -> Result<Story, String> {
    let events: Vec<Event> = sqlx::query_as(
        "SELECT e.request_id, e.slot_hold_id, e.stock_hold_id, coalesce(e.item_id, stock.item_id) AS item_id,
            coalesce(slot.group_id, stock.group_id) AS group_id, coalesce(e.quantity, stock.quantity) AS quantity, e.at
        FROM hold_event AS e
        LEFT JOIN slot_hold AS slot ON (slot.site_id, slot.hold_id) = (e.site_id, e.slot_hold_id)
        LEFT JOIN stock_hold AS stock ON (stock.site_id, stock.hold_id) = (e.site_id, e.stock_hold_id)
        WHERE e.site_id = $1 AND e.request_id IS NOT NULL
        ORDER BY e.event_id",
    )
    .bind(site)
    .fetch_all(&mut *connection)
    .await
    .unwrap();
    let mut by_request: HashMap<RequestId, Vec<Event>> = HashMap::new();
    for event in events {
        by_request
            .entry(RequestId(event.request_id))
            .or_default()
            .push(event);
    }

    let mut done = Vec::new();
    let mut teller = Teller {
        story: Story::default(),
        slots: BTreeMap::new(),
        stock: BTreeMap::new(),
    };
    for record in records {
        let events = by_request.get(&record.request.id);
        let acknowledged = match &record.heard {
            Heard::Answer(answer) => Some(answer.outcome.is_ok()),
            Heard::Done(done) => Some(*done),
            Heard::Nothing => None,
        };
        match (acknowledged, events) {
            (Some(true), None) => return Err(format!("acknowledged, and no event: {record:?}")),
            (Some(false), Some(events)) => {
                return Err(format!("refused, and yet {events:?}: {record:?}"));
            }
            (_, Some(events)) if more_than_once(&record.request.command, events) => {
                return Err(format!("done twice, as {events:?}: {record:?}"));
            }
            (_, Some(events)) => done.push((record, events)),
            (Some(false), None) => teller.refused(record),
            // Not done, and nobody said so: it never happened.
            (None, None) => {}
        }
    }
    done.sort_by_key(|(_, events)| events[0].at);
    for (record, events) in done {
        // Nobody heard an end: it may have taken until everything was over.
        let returned = match record.heard {
            Heard::Nothing => end,
            _ => record.returned,
        };
        teller
            .done(record, events, returned)
            .ok_or_else(|| format!("it was done to something that is not there: {record:?}"))?;
        if let Heard::Answer(answer) = &record.heard
            && !answer.repeated
        {
            teller
                .compare(answer)
                .ok_or_else(|| format!("not what was to be: {record:?}"))?;
        }
    }
    teller.rows(site, end, connection).await;
    Ok(teller.story)
}

impl Teller {
    fn room(
        &mut self,
        room: i64,
        record: &Record,
        returned: u64,
        window: (i64, i64),
        call: Vec<room::Part>,
    ) {
        self.story.rooms.entry(room).or_default().push(Seen {
            invoked: record.invoked,
            returned,
            earliest: window.0,
            latest: window.1,
            call,
        });
    }

    fn item(
        &mut self,
        item: i64,
        record: &Record,
        returned: u64,
        window: (i64, i64),
        call: Vec<item::Part>,
    ) {
        self.story.items.entry(item).or_default().push(Seen {
            invoked: record.invoked,
            returned,
            earliest: window.0,
            latest: window.1,
            call,
        });
    }

    /// A command that was done, at the moment that its events name. None if it can't have been.
    fn done(&mut self, record: &Record, events: &[Event], returned: u64) -> Option<()> {
        let at = micros(events[0].at);
        let until = |ttl: &Option<chrono::TimeDelta>| at + ttl.unwrap().num_microseconds().unwrap();
        let mut rooms: BTreeMap<i64, Vec<room::Part>> = BTreeMap::new();
        let mut items: BTreeMap<i64, Vec<item::Part>> = BTreeMap::new();
        match &record.request.command {
            Command::HoldSlot {
                room, period, ttl, ..
            } => {
                let number = events[0].slot_hold_id?;
                let standing = Standing::Held(until(ttl));
                rooms.insert(
                    room.0,
                    vec![self.place(number, room.0, bounds(period), standing, None)],
                );
            }
            Command::BlockSlot { room, period, .. } => {
                let number = events[0].slot_hold_id?;
                let part = self.place(number, room.0, bounds(period), Standing::Confirmed, None);
                rooms.insert(room.0, vec![part]);
            }
            Command::ConfirmSlot { hold, .. } => {
                self.slot_part(hold.0, Change::Confirm, &mut rooms)?
            }
            Command::CancelSlot { hold, .. } => {
                self.slot_part(hold.0, Change::Cancel, &mut rooms)?
            }
            Command::RenewSlot { hold, ttl, .. } => {
                self.slot_part(hold.0, Change::Renew(until(ttl)), &mut rooms)?;
            }
            Command::MoveSlot {
                hold,
                to_room,
                from,
                to,
                ..
            } => {
                let before = self.slots.get(&hold.0)?.clone();
                let claim = hold.0;
                rooms
                    .entry(before.room)
                    .or_default()
                    .push(room::Part::Leave { claim });
                let to_room = to_room.map_or(before.room, |room| room.0);
                let period = ((*from).map(micros)?, (*to).map(micros)?);
                let part = self.place(claim, to_room, period, before.standing, before.group);
                rooms.entry(to_room).or_default().push(part);
            }
            Command::SwapSlots { first, second, .. } => {
                let (one, other) = (
                    self.slots.get(&first.0)?.clone(),
                    self.slots.get(&second.0)?.clone(),
                );
                for (claim, slot) in BTreeMap::from([(first.0, &one), (second.0, &other)]) {
                    rooms
                        .entry(slot.room)
                        .or_default()
                        .push(room::Part::Leave { claim });
                }
                for (claim, slot, to) in [(first.0, &one, &other), (second.0, &other, &one)] {
                    let part =
                        self.place(claim, to.room, (to.from, to.to), slot.standing, slot.group);
                    rooms.entry(to.room).or_default().push(part);
                }
            }
            Command::HoldStock {
                item,
                quantity,
                ttl,
                ..
            } => {
                let number = events[0].stock_hold_id?;
                let part = self.take(number, item.0, i64::from(*quantity), until(ttl), None);
                items.insert(item.0, vec![part]);
            }
            Command::ConfirmStock { hold, .. } => {
                self.stock_part(hold.0, Change::Confirm, &mut items)?
            }
            Command::CancelStock { hold, .. } => {
                self.stock_part(hold.0, Change::Cancel, &mut items)?
            }
            Command::RenewStock { hold, ttl, .. } => {
                self.stock_part(hold.0, Change::Renew(until(ttl)), &mut items)?;
            }
            Command::ReceiveStock { item, quantity, .. } => {
                let part = count(i64::from(*quantity), &record.heard);
                items.insert(item.0, vec![part]);
            }
            Command::AdjustStock { item, change, .. } => {
                items.insert(item.0, vec![count(i64::from(*change), &record.heard)]);
            }
            Command::HoldGroup {
                rooms: lines, ttl, ..
            } => {
                let mut lines = lines.iter();
                for event in events {
                    if let Some(number) = event.slot_hold_id {
                        let line = lines.next()?;
                        let standing = Standing::Held(until(ttl));
                        let part = self.place(
                            number,
                            line.room.0,
                            bounds(&line.period),
                            standing,
                            event.group_id,
                        );
                        rooms.entry(line.room.0).or_default().push(part);
                    } else {
                        let (number, item) = (event.stock_hold_id?, event.item_id?);
                        let quantity = i64::from(event.quantity?);
                        let part = self.take(number, item, quantity, until(ttl), event.group_id);
                        items.entry(item).or_default().push(part);
                    }
                }
            }
            Command::ConfirmGroup { group } => {
                self.group(group.0, Change::Confirm, false, &mut rooms, &mut items)?;
            }
            Command::RenewGroup { group, ttl } => {
                self.group(
                    group.0,
                    Change::Renew(until(ttl)),
                    false,
                    &mut rooms,
                    &mut items,
                )?;
            }
            Command::CancelGroup {
                group, rooms_only, ..
            } => {
                self.group(group.0, Change::Cancel, *rooms_only, &mut rooms, &mut items)?;
            }
            _ => return None,
        }
        for (room, call) in rooms {
            self.room(room, record, returned, (at, at), call);
        }
        for (item, call) in items {
            self.item(item, record, returned, (at, at), call);
        }
        Some(())
    }

    fn place(
        &mut self,
        claim: i64,
        room: i64,
        (from, to): (i64, i64),
        standing: Standing,
        group: Option<i64>,
    ) -> room::Part {
        self.slots.insert(
            claim,
            Slot {
                room,
                from,
                to,
                standing,
                group,
            },
        );
        room::Part::Place {
            claim,
            from,
            to,
            standing,
        }
    }

    fn take(
        &mut self,
        claim: i64,
        item: i64,
        quantity: i64,
        deadline: i64,
        group: Option<i64>,
    ) -> item::Part {
        let standing = Standing::Held(deadline);
        self.stock.insert(
            claim,
            Stock {
                item,
                standing,
                group,
            },
        );
        item::Part::Take {
            claim,
            quantity,
            deadline,
        }
    }

    fn slot_part(
        &mut self,
        claim: i64,
        change: Change,
        rooms: &mut BTreeMap<i64, Vec<room::Part>>,
    ) -> Option<()> {
        let slot = self.slots.get_mut(&claim)?;
        slot.standing = change.of(slot.standing);
        rooms
            .entry(slot.room)
            .or_default()
            .push(match (change, slot.standing) {
                (Change::Confirm, _) => room::Part::Confirm { claim },
                (Change::Renew(_), Standing::Held(deadline)) => {
                    room::Part::Renew { claim, deadline }
                }
                (Change::Cancel, _) => room::Part::Cancel { claim },
                _ => return None,
            });
        Some(())
    }

    fn stock_part(
        &mut self,
        claim: i64,
        change: Change,
        items: &mut BTreeMap<i64, Vec<item::Part>>,
    ) -> Option<()> {
        let stock = self.stock.get_mut(&claim)?;
        stock.standing = change.of(stock.standing);
        items
            .entry(stock.item)
            .or_default()
            .push(match (change, stock.standing) {
                (Change::Confirm, _) => item::Part::Confirm { claim },
                (Change::Renew(_), Standing::Held(deadline)) => {
                    item::Part::Renew { claim, deadline }
                }
                (Change::Cancel, _) => item::Part::Cancel { claim },
                _ => return None,
            });
        Some(())
    }

    /// Every member that is still there takes part.
    fn group(
        &mut self,
        group: i64,
        change: Change,
        rooms_only: bool,
        rooms: &mut BTreeMap<i64, Vec<room::Part>>,
        items: &mut BTreeMap<i64, Vec<item::Part>>,
    ) -> Option<()> {
        let takes_part = |standing: Standing, is_room: bool| match standing {
            Standing::Held(_) => true,
            Standing::Confirmed => is_room && matches!(change, Change::Cancel),
            Standing::Cancelled => false,
        };
        let of_rooms: Vec<i64> = self
            .slots
            .iter()
            .filter(|(_, slot)| slot.group == Some(group) && takes_part(slot.standing, true))
            .map(|(number, _)| *number)
            .collect();
        let of_items: Vec<i64> = self
            .stock
            .iter()
            .filter(|(_, stock)| {
                !rooms_only && stock.group == Some(group) && takes_part(stock.standing, false)
            })
            .map(|(number, _)| *number)
            .collect();
        for claim in of_rooms {
            self.slot_part(claim, change, rooms)?;
        }
        for claim in of_items {
            self.stock_part(claim, change, items)?;
        }
        Some(())
    }

    /// A refusal proves that at some moment in its time things stood so.
    fn refused(&mut self, record: &Record) {
        let Heard::Answer(answer) = &record.heard else {
            return;
        };
        let Err(refused) = &answer.outcome else {
            return;
        };
        let refusal = &refused.refusal;
        // What a repeated answer shows is how things stand now, and not how they stood.
        if answer.repeated {
            return;
        }
        let window = (record.earliest, micros(answer.now));
        match &refused.claim {
            Some(Claim::Slot(hold)) => {
                let claim = hold.id.0;
                let part = match refusal {
                    Refusal::HoldExpired { .. } => room::Part::WasExpired { claim },
                    Refusal::AlreadyCancelled {} => room::Part::WasCancelled { claim },
                    Refusal::AlreadyConfirmed {} => room::Part::WasConfirmed { claim },
                    Refusal::PartOfGroup { .. } | Refusal::SlotTaken(_) => {
                        room::Part::WasActive { claim }
                    }
                    _ => return,
                };
                // The answer to an exchange may be about the other one.
                if !matches!(record.request.command, Command::SwapSlots { .. }) {
                    self.room(hold.room.0, record, record.returned, window, vec![part]);
                }
            }
            Some(Claim::Stock(hold)) => {
                let claim = hold.id.0;
                let part = match refusal {
                    Refusal::HoldExpired { .. } => item::Part::WasExpired { claim },
                    Refusal::AlreadyCancelled {} => item::Part::WasCancelled { claim },
                    Refusal::AlreadyConfirmed {} | Refusal::SaleIsFinal {} => {
                        item::Part::WasConfirmed { claim }
                    }
                    Refusal::PartOfGroup { .. } => item::Part::WasActive { claim },
                    _ => return,
                };
                self.item(hold.item.0, record, record.returned, window, vec![part]);
            }
            None => {}
        }
        match (refusal, &record.request.command) {
            (Refusal::SlotTaken(taken), command) => {
                let (room, (from, to), except) = match command {
                    Command::HoldSlot { room, period, .. }
                    | Command::BlockSlot { room, period, .. } => (room.0, bounds(period), None),
                    Command::MoveSlot {
                        hold,
                        to_room,
                        from,
                        to,
                        ..
                    } => (
                        to_room.unwrap().0,
                        (micros(from.unwrap()), micros(to.unwrap())),
                        Some(hold.0),
                    ),
                    Command::HoldGroup { rooms, .. } => {
                        let line = refused.line.unwrap();
                        assert_eq!(line.kind, LineKind::Room);
                        let line = &rooms[line.number as usize - 1];
                        (line.room.0, bounds(&line.period), None)
                    }
                    _ => return,
                };
                let by = taken.hold_id.unwrap().0;
                let part = room::Part::Taken {
                    from,
                    to,
                    except,
                    by,
                };
                self.room(room, record, record.returned, window, vec![part]);
            }
            (
                Refusal::SoldOut {
                    asked, available, ..
                },
                command,
            ) => {
                let item = match command {
                    Command::HoldStock { item, .. } => item.0,
                    Command::HoldGroup { stock, .. } => stock[0].item.0,
                    _ => return,
                };
                let part = item::Part::SoldOut {
                    asked: *asked,
                    available: *available,
                };
                self.item(item, record, record.returned, window, vec![part]);
            }
            (Refusal::BelowCommitted { total, held, sold }, Command::AdjustStock { item, .. }) => {
                let part = item::Part::BelowCommitted {
                    total: *total,
                    held: *held,
                    sold: *sold,
                };
                self.item(item.0, record, record.returned, window, vec![part]);
            }
            _ => {}
        }
    }

    /// The answer shows what was to be.
    fn compare(&self, answer: &Answer) -> Option<()> {
        let same = |hold: &SlotHold| {
            let slot = self.slots.get(&hold.id.0)?;
            let deadline = match slot.standing {
                Standing::Held(deadline) => hold.expires_at.map(micros) == Some(deadline),
                _ => true,
            };
            let told = (hold.room.0, bounds(&hold.period), hold.state.word());
            (deadline && told == (slot.room, (slot.from, slot.to), word(slot.standing)))
                .then_some(())
        };
        match answer.outcome.as_ref().ok()? {
            Success::Slot(hold) => same(hold),
            Success::Stock(hold) => {
                let standing = self.stock.get(&hold.id.0)?.standing;
                let deadline = match standing {
                    Standing::Held(deadline) => hold.expires_at.map(micros) == Some(deadline),
                    _ => true,
                };
                (deadline && hold.state.word() == word(standing)).then_some(())
            }
            // Members that ended before are shown as they are.
            Success::Group(group) => group
                .slots
                .iter()
                .filter(|hold| hold.state.is_active())
                .try_for_each(same),
            Success::Room(_) | Success::Item(_) => Some(()),
        }
    }

    /// The rows at the end are an answer too.
    async fn rows(&mut self, site: i64, end: u64, connection: &mut PgConnection) {
        let now: DateTime<Utc> = sqlx::query_scalar("SELECT clock_timestamp()")
            .fetch_one(&mut *connection)
            .await
            .unwrap();
        let window = (micros(now), i64::MAX);
        let slots: Vec<(i64, i64, DateTime<Utc>, String)> = sqlx::query_as(
            "SELECT room_id, hold_id, lower(period), state FROM slot_hold WHERE site_id = $1 ORDER BY hold_id",
        )
        .bind(site)
        .fetch_all(&mut *connection)
        .await
        .unwrap();
        for (room, history) in &mut self.story.rooms {
            let rows = slots
                .iter()
                .filter(|(here, ..)| here == room)
                .map(|(_, number, from, state)| (*number, micros(*from), state.clone()))
                .collect();
            history.push(last(end, window, vec![room::Part::Rows(rows)]));
        }
        for (item, history) in &mut self.story.items {
            let (total, available): (i32, i32) = sqlx::query_as(
                "SELECT total, available FROM inventory WHERE site_id = $1 AND item_id = $2",
            )
            .bind(site)
            .bind(item)
            .fetch_one(&mut *connection)
            .await
            .unwrap();
            let claims = sqlx::query_as(
                "SELECT hold_id, state FROM stock_hold WHERE site_id = $1 AND item_id = $2 ORDER BY hold_id",
            )
            .bind(site)
            .bind(item)
            .fetch_all(&mut *connection)
            .await
            .unwrap();
            let rows = item::Part::Rows {
                total: total.into(),
                available: available.into(),
                claims,
            };
            history.push(last(end, window, vec![rows]));
        }
    }
}

/// Whether a command left more events than it may: one a claim, and one claim or item where it is not about several.
fn more_than_once(command: &Command, events: &[Event]) -> bool {
    let several = matches!(
        command,
        Command::SwapSlots { .. }
            | Command::HoldGroup { .. }
            | Command::ConfirmGroup { .. }
            | Command::RenewGroup { .. }
            | Command::CancelGroup { .. }
    );
    let claims: HashSet<_> = events
        .iter()
        .map(|event| (event.slot_hold_id, event.stock_hold_id))
        .collect();
    claims.len() < events.len() || !several && events.len() > 1
}

fn last<Call>(end: u64, (earliest, latest): (i64, i64), call: Call) -> Seen<Call> {
    Seen {
        invoked: end + 1,
        returned: end + 2,
        earliest,
        latest,
        call,
    }
}

fn count(change: i64, heard: &Heard) -> item::Part {
    let total = match heard {
        Heard::Answer(answer) if !answer.repeated => match &answer.outcome {
            Ok(Success::Item(item)) => Some(i64::from(item.total)),
            _ => None,
        },
        _ => None,
    };
    item::Part::Count { change, total }
}

fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Held(_) => "held",
        Standing::Confirmed => "confirmed",
        Standing::Cancelled => "cancelled",
    }
}

/// What a command does to a claim.
#[derive(Debug, Clone, Copy)]
enum Change {
    Confirm,
    Cancel,
    /// Until then, unless it lasts longer already.
    Renew(i64),
}

impl Change {
    fn of(self, standing: Standing) -> Standing {
        match (self, standing) {
            (Self::Confirm, _) => Standing::Confirmed,
            (Self::Cancel, _) => Standing::Cancelled,
            (Self::Renew(until), Standing::Held(deadline)) => Standing::Held(deadline.max(until)),
            (Self::Renew(_), other) => other,
        }
    }
}
