//! What rooms, items and claims are called, given what a step says of them.

use std::collections::HashMap;

use serde_json::Value;

use crate::domain::text::harmless;
use crate::store::stepping::{Names, TracedStep};

pub(super) fn room(names: &Names, id: &Value) -> String {
    named(&names.rooms, id, "room")
}

pub(super) fn item(names: &Names, id: &Value) -> String {
    named(&names.items, id, "item")
}

/// The room of a step: of its argument, which is a number or a row.
pub(super) fn room_of(names: &Names, traced: &TracedStep) -> String {
    match traced.argument("p_room") {
        Value::Object(row) => room(names, row.get("room_id").unwrap_or(&Value::Null)),
        id => room(names, id),
    }
}

fn named(names: &HashMap<i64, String>, id: &Value, kind: &str) -> String {
    match id.as_i64().and_then(|id| names.get(&id)) {
        Some(name) => harmless(name),
        None => format!("{kind} #{}", number(id)),
    }
}

pub(super) fn number(value: &Value) -> String {
    value
        .as_i64()
        .map_or_else(|| "?".into(), |number| number.to_string())
}
