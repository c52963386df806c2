//! What a session asks of every entry function and every reader, and how it runs into every guard.

/// What is asked, one thing after another, and under which name its number is kept for what comes later. In it stand SITE,
/// the rooms and items of the test's house, ID for a fresh request and SAME for the last one, {name} for what was kept, @3
/// for three hours after the test's hour zero, and == for the equality of PostgreSQL itself: a hostile session has another.
pub const STORY: &[(&str, &str)] = &[
    // Rooms.
    (
        "first",
        "hold_slot(SITE, ID, 'anna', BLUE, '@0', '@2', '10 minutes', 'Müller', 'by the window', 2)",
    ),
    (
        "",
        "hold_slot(SITE, SAME, 'anna', BLUE, '@0', '@2', '10 minutes', 'Müller', 'by the window', 2)",
    ),
    (
        "",
        "hold_slot(SITE, SAME, 'anna', BLUE, '@0', '@3', '10 minutes', 'Müller', 'by the window', 2)",
    ),
    ("", "hold_slot(SITE, ID, 'bert', BLUE, '@1', '@3')"),
    ("", "hold_slot(SITE, ID, 'bert', BLUE, '@2', '@2')"),
    ("", "hold_slot(SITE, ID, 'bert', BLUE, '@2', 'infinity')"),
    (
        "",
        "hold_slot(SITE, ID, 'bert', BLUE, '2020-01-01 10:00+00', '2020-01-01 11:00+00')",
    ),
    ("", "hold_slot(SITE, ID, 'bert', LOFT, '@0', '@2')"),
    ("", "hold_slot(SITE, ID, 'bert', 999, '@0', '@2')"),
    ("", "hold_slot(SITE, NULL, 'bert', BLUE, '@4', '@5')"),
    (
        "blocked",
        "block_slot(SITE, ID, 'anna', GARDEN, '@0', '@2', 'paint')",
    ),
    (
        "imported",
        "import_slot(SITE, ID, 'anna', GARDEN, '@2', '@4', 'Okafor', '', 3)",
    ),
    ("", "confirm_slot(SITE, ID, 'anna', {first}, 9)"),
    ("", "confirm_slot(SITE, ID, 'anna', {first}, 1)"),
    ("", "confirm_slot(SITE, ID, 'anna', {first})"),
    (
        "",
        "edit_slot(SITE, ID, 'anna', {imported}, 'Okafor-Smith', NULL, 4, 1)",
    ),
    ("second", "hold_slot(SITE, ID, 'anna', STUDIO, '@0', '@1')"),
    ("", "renew_slot(SITE, ID, 'anna', {second}, '20 minutes')"),
    (
        "",
        "move_slot(SITE, ID, 'anna', {second}, GARDEN, '@6', '@7')",
    ),
    (
        "",
        "move_slot(SITE, ID, 'anna', {second}, GARDEN, '@1', '@3')",
    ),
    ("third", "hold_slot(SITE, ID, 'anna', BLUE, '@6', '@7')"),
    ("", "swap_slots(SITE, ID, 'anna', {second}, {third})"),
    ("", "cancel_slot(SITE, ID, 'anna', {third}, 'guest called')"),
    ("", "cancel_slot(SITE, ID, 'anna', {third}, 'guest called')"),
    (
        "late",
        "hold_slot(SITE, ID, 'anna', STUDIO, '@4', '@5', '0.05 seconds')",
    ),
    ("late", "until due"),
    ("", "confirm_slot(SITE, ID, 'anna', {late})"),
    (
        "swept",
        "hold_slot(SITE, ID, 'anna', STUDIO, '@8', '@9', '0.05 seconds')",
    ),
    ("swept", "until due"),
    ("", "expire_slots(SITE)"),
    ("", "expire_slots(SITE)"),
    // Stock.
    (
        "sale",
        "hold_stock(SITE, ID, 'anna', BREAKFAST, 2, '10 minutes', 'Müller')",
    ),
    ("", "confirm_stock(SITE, ID, 'anna', {sale})"),
    ("", "cancel_stock(SITE, ID, 'anna', {sale})"),
    ("tickets", "hold_stock(SITE, ID, 'anna', TICKET, 3)"),
    ("", "hold_stock(SITE, ID, 'bert', TICKET, 1)"),
    ("", "renew_stock(SITE, ID, 'anna', {tickets}, '20 minutes')"),
    ("", "cancel_stock(SITE, ID, 'anna', {tickets})"),
    (
        "due",
        "hold_stock(SITE, ID, 'anna', TICKET, 1, '0.05 seconds')",
    ),
    ("due", "until due"),
    ("", "item_levels(SITE)"),
    ("", "expire_stock(SITE)"),
    (
        "due",
        "hold_stock(SITE, ID, 'anna', TICKET, 1, '0.05 seconds')",
    ),
    ("due", "until due"),
    ("", "expire_next(SITE)"),
    (
        "due",
        "hold_stock(SITE, ID, 'anna', TICKET, 1, '0.05 seconds')",
    ),
    ("due", "until due"),
    ("", "sweep_turn(SITE, 'anna')"),
    ("", "receive_stock(SITE, ID, 'anna', TICKET, 5, 'delivery')"),
    ("", "adjust_stock(SITE, ID, 'anna', TICKET, -1, 'count')"),
    (
        "",
        "adjust_stock(SITE, ID, 'anna', BREAKFAST, -100, 'count')",
    ),
    // Groups: with lines that follow each other in a room, and with lines that are in each other's way.
    (
        "group",
        r#"hold_group(SITE, ID, 'anna', '[{"room": BLUE, "from": "@10", "to": "@12"},
            {"room": BLUE, "from": "@12", "to": "@14"}, {"room": BLUE, "from": "@16", "to": "@18"}]',
            '[{"item": TICKET, "quantity": 1}, {"item": TICKET, "quantity": 1}]', '10 minutes', 'Okafor')"#,
    ),
    (
        "",
        r#"hold_group(SITE, ID, 'anna', '[{"room": GARDEN, "from": "@10", "to": "@12"},
            {"room": GARDEN, "from": "@11", "to": "@13"}]')"#,
    ),
    (
        "",
        r#"hold_group(SITE, ID, 'anna', '[{"room": BLUE, "from": "@11", "to": "@13"}]')"#,
    ),
    ("", "renew_group(SITE, ID, 'anna', {group}, '20 minutes')"),
    ("", "confirm_group(SITE, ID, 'anna', {group})"),
    (
        "",
        "cancel_group(SITE, ID, 'anna', {group}, 'guest called')",
    ),
    (
        "",
        "cancel_group(SITE, ID, 'anna', {group}, 'guest called', true)",
    ),
    (
        "brief",
        r#"hold_group(SITE, ID, 'anna', '[{"room": STUDIO, "from": "@20", "to": "@21"}]',
            '[{"item": TICKET, "quantity": 1}]', '0.05 seconds')"#,
    ),
    ("brief", "until due"),
    ("", "confirm_group(SITE, ID, 'anna', {brief})"),
    // The house.
    (
        "attic",
        "add_room(SITE, ID, 'anna', 'Attic', 6, 'night', '15 minutes', '{sofa,\"sea view\"}', '14:30', '10:15')",
    ),
    ("", "add_room(SITE, ID, 'anna', 'Attic')"),
    ("", "retire_room(SITE, ID, 'anna', {attic})"),
    ("", "hold_slot(SITE, ID, 'anna', {attic}, '@0', '@2')"),
    ("parking", "add_item(SITE, ID, 'anna', 'Parking day', 4)"),
    ("", "retire_item(SITE, ID, 'anna', {parking})"),
    ("annex", "add_site(ID, 'anna', 'Annex', 'Asia/Tokyo')"),
    ("", "add_site(ID, 'anna', 'Ark', 'Europe/Atlantis')"),
    ("", "default_site(ID, 'anna', {annex})"),
    ("", "default_site(ID, 'anna', SITE)"),
    ("", r#"apply_house(ID, 'anna', 'HOUSE')"#),
    ("", r#"apply_house(SAME, 'anna', 'HOUSE')"#),
    // A demo's site, and what demos left; a real house is neither.
    ("demo", "open_demo_site(ID, 'anna', 'HOUSE')"),
    ("", "keep_demo_site({demo})"),
    ("", "remove_demo_site(SITE)"),
    ("", "remove_demo_site({demo})"),
    ("demo", "open_demo_site(ID, 'anna', 'HOUSE')"),
    ("", "remove_abandoned_demo_sites()"),
    // Around the protocol, into each guard.
    (
        "sale ends",
        "UPDATE keyrack.stock_hold SET state = 'cancelled' WHERE hold_id == {sale}",
    ),
    (
        "sale grows",
        "UPDATE keyrack.stock_hold SET quantity = 9 WHERE hold_id == {sale}",
    ),
    (
        "sale goes",
        "DELETE FROM keyrack.stock_hold WHERE hold_id == {sale}",
    ),
    (
        "claim revives",
        "UPDATE keyrack.slot_hold SET state = 'held' WHERE hold_id == {late}",
    ),
    (
        "claim is another",
        "UPDATE keyrack.slot_hold SET created_at = '2020-01-01 00:00+00' WHERE hold_id == {first}",
    ),
    (
        "claim hangs",
        "UPDATE keyrack.slot_hold SET period = '[9000-01-01 00:00+00,9000-01-01 00:01+00)' WHERE hold_id == {first}",
    ),
    (
        "claim overlaps",
        "INSERT INTO keyrack.slot_hold (site_id, room_id, period, expires_at)
         VALUES (SITE, BLUE, '[@1,@3)', '9000-01-01 00:00+00')",
    ),
    (
        "claim begins",
        "INSERT INTO keyrack.slot_hold (site_id, room_id, period, state) VALUES (SITE, LOFT, '[@1,@3)', 'confirmed')",
    ),
    (
        "stray",
        "INSERT INTO keyrack.slot_hold (site_id, hold_id, room_id, period, expires_at)
         VALUES (SITE, 700, LOFT, '[@1,@3)', '9000-01-01 00:00+00')",
    ),
    (
        "stray ends early",
        "UPDATE keyrack.slot_hold SET state = 'expired' WHERE hold_id == 700",
    ),
    (
        "stray ends",
        "UPDATE keyrack.slot_hold SET state = 'cancelled' WHERE hold_id == 700",
    ),
    (
        "event changes",
        "UPDATE keyrack.hold_event SET reason = 'another'",
    ),
    ("event goes", "DELETE FROM keyrack.hold_event"),
    ("events go", "TRUNCATE keyrack.hold_event"),
    ("movement goes", "DELETE FROM keyrack.stock_movement"),
    (
        "site moves",
        "UPDATE keyrack.site SET time_zone = 'Europe/Atlantis' WHERE site_id == SITE",
    ),
    (
        "site is a demo",
        "UPDATE keyrack.site SET demo_lock = 1 WHERE site_id == SITE",
    ),
    (
        "room changes",
        "UPDATE keyrack.room SET capacity = 9 WHERE site_id == SITE AND room_id == BLUE",
    ),
    (
        "item changes",
        // A row has to change: no operator, which may be a planted one, decides which.
        "UPDATE keyrack.inventory SET retired_at = CURRENT_TIMESTAMP",
    ),
    // Reading what has come of it.
    ("", "look_up(SITE, 'slot', {first})"),
    ("", "look_up(SITE, 'stock', {sale})"),
    ("", "look_up(SITE, 'group', {group})"),
    ("", "look_up(SITE, 'room', LOFT)"),
    ("", "look_up(SITE, 'item', TICKET)"),
    ("", "look_up(SITE, 'site', NULL)"),
    ("", "kind_of_claim(SITE, {group})"),
    ("", "list_rooms(SITE)"),
    ("", "list_items(SITE)"),
    (
        "",
        "list_slots(SITE, NULL, '@0', '@9', NULL, 'MÜLLER', 0, 100)",
    ),
    (
        "",
        "list_slots(SITE, STUDIO, NULL, NULL, 'expired', NULL, 0, 100)",
    ),
    (
        "",
        "list_stock_claims(SITE, TICKET, 'cancelled', NULL, 0, 100)",
    ),
    ("", "list_events(SITE, {first}, NULL, NULL, 0, 100)"),
    (
        "",
        "list_events(SITE, NULL, NULL, '00000000-0000-4000-8000-000000000000', 0, 100)",
    ),
    ("", "list_events(SITE, NULL, NULL, NULL, 0, 1000)"),
    ("", "snapshot(SITE, '@0', '@48', 50, 200)"),
    ("", "claims_in_window(SITE, '@0', '@9')"),
    ("", "find_free(SITE, '@0', '@12', '2 hours', 2, '{}')"),
    ("", "find_free(SITE, '@0', '@48', '1 day', 1)"),
    ("", "item_levels(SITE, TICKET)"),
    ("", "list_sites()"),
    ("", "open_site('Test House')"),
    ("", "open_site(NULL)"),
    ("", "changes_since(SITE, NULL)"),
    ("", "changes_since(SITE, '1:1:')"),
    ("", "check_site(SITE)"),
    ("", "check_site({annex})"),
];

/// Each guard, what of the story runs into it, and the rule that it names; none where it only takes note.
pub const GUARDS: &[(&str, &str, &str)] = &[
    (
        "guard_append_only",
        "event changes",
        "hold_event_append_only",
    ),
    ("guard_append_only", "events go", "hold_event_append_only"),
    (
        "guard_between_places",
        "claim hangs",
        "slot_hold_between_places",
    ),
    ("guard_claim", "sale ends", "stock_hold_edge"),
    ("guard_claim", "sale goes", "stock_hold_is_kept"),
    ("guard_claim", "claim revives", "slot_hold_ended"),
    ("guard_claim", "claim is another", "slot_hold_identity"),
    ("guard_claim", "claim begins", "slot_hold_begins_held"),
    ("guard_claim", "stray ends early", "slot_hold_in_time"),
    (
        "guard_demo_lock",
        "site is a demo",
        "site_demo_lock_is_kept",
    ),
    ("guard_kept", "event goes", "hold_event_append_only"),
    ("guard_kept", "movement goes", "stock_movement_append_only"),
    (
        "guard_stock_quantity",
        "sale grows",
        "stock_hold_quantity_is_kept",
    ),
    ("guard_time_zone", "site moves", "site_time_zone"),
    ("note_changes", "room changes", ""),
    ("note_item", "item changes", ""),
];

/// A house as a file says it, as JSON.
pub const HOUSE: &str = r#"{
    "site": {"name": "Test House", "time_zone": "Europe/London", "default_hold": 900, "longest_hold": 86400.5,
        "renewals": 2, "horizon": 63072000, "conflict_shows_guest": true},
    "rooms": [
        {"name": "Blue room", "capacity": 8, "booked_by": "hour", "turnaround": 450.25, "check_in": "15:00",
            "check_out": "11:00", "features": ["screen", "sea view"]},
        {"name": "Cellar", "capacity": 2, "booked_by": "night", "turnaround": 0, "check_in": "15:00:30",
            "check_out": "11:00", "features": []}
    ],
    "items": [{"name": "Breakfast", "total": 12}, {"name": "Towel", "total": 9}]
}"#;
