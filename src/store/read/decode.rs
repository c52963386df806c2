//! How what the database sends is read: every answer and every reading is one `jsonb`. Claims, groups, rooms and items read
//! themselves; the domain says which columns they have.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use sqlx::types::Json;

use crate::store::connection::error::StoreError;

/// How many claims or events are read at a time, so that no statement grows with the years.
pub(crate) const PAGE: i32 = 1000;

/// Adds a page to what was found. Whether there may be another one.
pub(crate) fn add_page<T>(found: &mut Vec<T>, page: Vec<T>) -> bool {
    let full = page.len() == PAGE as usize;
    found.extend(page);
    full
}

pub(crate) fn unreadable(what: &'static str) -> StoreError {
    StoreError::Unreadable { what }
}

/// What a function of the database gave, as what it is.
pub(crate) fn read<T: DeserializeOwned>(
    value: Option<Value>,
    what: &'static str,
) -> Result<T, StoreError> {
    serde_json::from_value(value.unwrap_or(Value::Null)).map_err(|error| {
        // What it says may quote the value, and that a guest (R27): only where and of which kind.
        tracing::error!(what, category = ?error.classify(), "unreadable");
        unreadable(what)
    })
}

/// A list as the database sends it: text that is read once, straight into what it is.
pub(crate) type List = Json<Box<RawValue>>;

/// The same for a list.
pub(crate) fn read_list<T: DeserializeOwned>(
    list: Option<List>,
    what: &'static str,
) -> Result<T, StoreError> {
    let text = list.as_ref().map_or("null", |list| list.0.get());
    serde_json::from_str(text).map_err(|error| {
        tracing::error!(what, category = ?error.classify(), "unreadable");
        unreadable(what)
    })
}
