//! What a person learns about a claim that has ended.

use crokey::key;

use crate::console::message::Message;
use crate::console::tests::Desk;
use crate::console::tests::fixtures::{event, frame, sample_snapshot, screen};
use crate::domain::{EventKind, EventSubject};
use crate::terminal::theme::{Background, Colours, Theme};

/// The claim is gone from the snapshot, and the feed says how.
fn end(desk: &mut Desk, kind: EventKind, by: &str) {
    desk.snapshot(|snapshot| {
        let claim = snapshot.claims.remove(0);
        let mut event = event(100, 0, kind, &snapshot.rooms[0], &claim.guest);
        event.subject = EventSubject::SlotHold(claim.id, claim.room);
        event.desk = crate::domain::Desk(by.into());
        event.reason = "double booking".into();
        snapshot.events.insert(0, event);
    });
}

#[test]
fn whoever_looks_at_a_claim_learns_that_another_desk_gave_it_back() {
    let mut desk = Desk::new();
    end(&mut desk, EventKind::Cancelled, "cleo");
    for part in [
        "Given back by desk cleo",
        "Blue room",
        "Müller",
        "double booking",
    ] {
        assert!(desk.notice().contains(part), "{part} in {}", desk.notice());
    }
}

#[test]
fn a_hold_of_ones_own_that_runs_out_is_told_wherever_the_cursor_is() {
    let mut snapshot = sample_snapshot();
    snapshot.claims[0].desk = crate::domain::Desk("anna".into());
    let mut desk = Desk::at(snapshot);
    desk.press(key!(down));
    desk.press(key!(down));
    end(&mut desk, EventKind::Expired, "bo");
    assert!(
        desk.notice().starts_with("Expired: Blue room"),
        "{}",
        desk.notice()
    );
}

#[test]
fn an_expired_claim_is_named_where_it_was() {
    let mut desk = Desk::new();
    end(&mut desk, EventKind::Expired, "bo");
    let theme = Theme::new(Background::Dark, Colours::None, false);
    let shown = screen(&frame(&desk.model, &theme));
    assert!(shown.contains("▫ expired 10:24:00  Müller"), "{shown}");
}

#[test]
fn good_news_makes_room_after_a_while_and_a_refusal_stays() {
    let tick = |seconds| Message::Tick {
        uptime: std::time::Duration::from_secs(seconds),
    };
    let mut desk = Desk::new();
    desk.press(key!(r));
    desk.tell(tick(15));
    assert_ne!(desk.notice(), "");
    desk.tell(tick(30));
    assert_eq!(desk.notice(), "");
    desk.press(key!(c));
    desk.tell(tick(300));
    assert!(desk.notice().contains("confirmed already"));
}
