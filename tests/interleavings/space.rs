//! What is played: every pair of commands on the same room, the same item and the same group, and triples in which a third
//! command has a say.

use crate::explorer::Case;

type Named = (&'static str, &'static str);

/// On room A, where the claim is, and on room B, where another booking is.
const ROOM: [Named; 13] = [
    (
        "hold",
        "hold_slot({site}, {id}, 'desk', {a}, stage.at(1), stage.at(3), '4 hours', 'Müller')",
    ),
    (
        "block",
        "block_slot({site}, {id}, 'desk', {a}, stage.at(1), stage.at(3), 'paint')",
    ),
    ("confirm", "confirm_slot({site}, {id}, 'desk', {claim})"),
    (
        "cancel",
        "cancel_slot({site}, {id}, 'desk', {claim}, 'guest called')",
    ),
    (
        "renew",
        "renew_slot({site}, {id}, 'desk', {claim}, '5 hours')",
    ),
    (
        "edit",
        "edit_slot({site}, {id}, 'desk', {claim}, p_guest => 'Ito', p_expect_version => 1)",
    ),
    (
        "stretch",
        "move_slot({site}, {id}, 'desk', {claim}, p_to => stage.at(3))",
    ),
    (
        "move away",
        "move_slot({site}, {id}, 'desk', {claim}, {b}, stage.at(2), stage.at(4))",
    ),
    (
        "move there",
        "move_slot({site}, {id}, 'desk', {other}, {a}, stage.at(1), stage.at(3))",
    ),
    ("swap", "swap_slots({site}, {id}, 'desk', {claim}, {other})"),
    (
        "cancel the other",
        "cancel_slot({site}, {id}, 'desk', {other}, 'guest called')",
    ),
    ("retire", "retire_room({site}, {id}, 'desk', {a})"),
    ("sweep", "expire_slots({site}, NULL, 'sweep')"),
];

/// On the item of which two of three are claimed.
const STOCK: [Named; 9] = [
    (
        "hold",
        "hold_stock({site}, {id}, 'desk', {item}, 2, '4 hours', 'Müller')",
    ),
    (
        "hold one",
        "hold_stock({site}, {id}, 'desk', {item}, 1, '4 hours', 'Ito')",
    ),
    ("confirm", "confirm_stock({site}, {id}, 'desk', {stock})"),
    (
        "cancel",
        "cancel_stock({site}, {id}, 'desk', {stock}, 'guest called')",
    ),
    (
        "renew",
        "renew_stock({site}, {id}, 'desk', {stock}, '5 hours')",
    ),
    (
        "receive",
        "receive_stock({site}, {id}, 'desk', {item}, 1, 'delivery')",
    ),
    (
        "adjust",
        "adjust_stock({site}, {id}, 'desk', {item}, -1, 'spoilt')",
    ),
    ("retire", "retire_item({site}, {id}, 'desk', {item})"),
    ("sweep", "expire_stock({site}, NULL, 'sweep')"),
];

/// On the group of room A and two tickets. The sweep is two commands here, one for rooms and one for items: a turn of
/// `expire_next` that finds the room locked goes on to the item, as it should, and no serial order does that.
const GROUP: [Named; 11] = [
    (
        "hold group",
        "hold_group({site}, {id}, 'desk', jsonb_build_array(
            jsonb_build_object('room', {b}, 'from', stage.at(2), 'to', stage.at(4)),
            jsonb_build_object('room', {a}, 'from', stage.at(1), 'to', stage.at(3))),
            '[{\"item\": {item}, \"quantity\": 2}]', '4 hours', 'Müller')",
    ),
    (
        "hold group reversed",
        "hold_group({site}, {id}, 'desk', jsonb_build_array(
            jsonb_build_object('room', {a}, 'from', stage.at(1), 'to', stage.at(3)),
            jsonb_build_object('room', {b}, 'from', stage.at(2), 'to', stage.at(4))),
            '[]', '4 hours', 'Ito')",
    ),
    (
        "confirm group",
        "confirm_group({site}, {id}, 'desk', {group})",
    ),
    (
        "renew group",
        "renew_group({site}, {id}, 'desk', {group}, '5 hours')",
    ),
    (
        "cancel group",
        "cancel_group({site}, {id}, 'desk', {group}, 'guest called')",
    ),
    (
        "cancel its rooms",
        "cancel_group({site}, {id}, 'desk', {group}, 'guest called', p_rooms_only => true)",
    ),
    (
        "move its room",
        "move_slot({site}, {id}, 'desk', {claim}, {b}, stage.at(2), stage.at(4))",
    ),
    (
        "cancel its room",
        "cancel_slot({site}, {id}, 'desk', {claim}, 'guest called')",
    ),
    (
        "cancel its tickets",
        "cancel_stock({site}, {id}, 'desk', {stock}, 'guest called')",
    ),
    ("sweep its room", "expire_slots({site}, NULL, 'sweep')"),
    ("sweep its tickets", "expire_stock({site}, NULL, 'sweep')"),
];

/// Every pair on the same room.
pub fn rooms() -> Vec<Case> {
    pairs(&ROOM, "held", "confirmed")
}

/// Every pair on the same item.
pub fn stock() -> Vec<Case> {
    pairs(&STOCK, "held", "confirmed")
}

/// Every pair on the same group.
pub fn groups() -> Vec<Case> {
    pairs(&GROUP, "group", "booked")
}

/// The pairs in a house where what is held comes due at some moment, and in one where all is confirmed; and each command
/// beside its twin.
fn pairs(commands: &[Named], held: &'static str, confirmed: &'static str) -> Vec<Case> {
    let mut cases = Vec::new();
    for (place, &first) in commands.iter().enumerate() {
        for &second in &commands[place..] {
            for (setting, deadline) in [(held, true), (confirmed, false)] {
                cases.push(Case {
                    setting,
                    commands: vec![first, second],
                    deadline,
                    twins: false,
                });
            }
        }
        if first.1.contains("{id}") {
            cases.push(Case {
                setting: held,
                commands: vec![first, first],
                deadline: true,
                twins: true,
            });
        }
    }
    cases
}

/// Three commands.
pub fn triples() -> Vec<Case> {
    vec![
        triple("held", &ROOM, ["confirm", "hold", "sweep"], true),
        triple("held", &ROOM, ["cancel", "hold", "sweep"], true),
        triple("held", &ROOM, ["renew", "sweep", "hold"], true),
        triple("held", &ROOM, ["edit", "confirm", "cancel"], false),
        triple("free", &ROOM, ["hold", "block", "hold"], false),
        triple(
            "confirmed",
            &ROOM,
            ["move away", "move there", "hold"],
            false,
        ),
        triple(
            "confirmed",
            &ROOM,
            ["stretch", "move there", "cancel"],
            false,
        ),
        triple(
            "confirmed",
            &ROOM,
            ["move away", "move there", "cancel the other"],
            false,
        ),
        triple("confirmed", &ROOM, ["swap", "hold", "block"], false),
        triple("confirmed", &ROOM, ["swap", "cancel", "hold"], false),
        triple("held", &STOCK, ["cancel", "sweep", "hold"], true),
        triple("held", &STOCK, ["confirm", "hold one", "adjust"], false),
        triple(
            "group",
            &GROUP,
            ["confirm group", "cancel its room", "sweep its room"],
            true,
        ),
        triple(
            "group",
            &GROUP,
            ["confirm group", "sweep its room", "sweep its tickets"],
            true,
        ),
        triple(
            "group",
            &GROUP,
            ["confirm group", "cancel group", "renew group"],
            false,
        ),
        triple(
            "free",
            &GROUP,
            ["hold group", "hold group reversed", "hold group"],
            false,
        ),
    ]
}

/// Three commands of which one moves a claim that the others want, or two rooms: in more orders than an hour would do.
pub fn too_many() -> Vec<Case> {
    vec![
        triple(
            "confirmed",
            &ROOM,
            ["swap", "move away", "move there"],
            false,
        ),
        triple(
            "group",
            &GROUP,
            ["confirm group", "move its room", "sweep its room"],
            true,
        ),
        triple(
            "group",
            &GROUP,
            ["renew group", "cancel its tickets", "move its room"],
            false,
        ),
        triple(
            "group",
            &GROUP,
            ["hold group", "cancel group", "move its room"],
            false,
        ),
    ]
}

fn triple(setting: &'static str, commands: &[Named], names: [&str; 3], deadline: bool) -> Case {
    Case {
        setting,
        commands: names.map(|name| named(commands, name)).into(),
        deadline,
        twins: false,
    }
}

/// One pair: of the commands on a room, an item (stock) or a group.
pub fn pair(setting: &'static str, on: &str, first: &str, second: &str, deadline: bool) -> Case {
    let table: &[Named] = match on {
        "room" => &ROOM,
        "item" => &STOCK,
        _ => &GROUP,
    };
    Case {
        setting,
        commands: vec![named(table, first), named(table, second)],
        deadline,
        twins: false,
    }
}

fn named(table: &[Named], name: &str) -> Named {
    *table.iter().find(|command| command.0 == name).unwrap()
}
