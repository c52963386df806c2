//! What is said of single things: what a step returned, what it waits for, whose deadline it is, how it ended.

use serde_json::Value;

use crate::demo::steps::names::{item, number, room};
use crate::domain::ClaimId;
use crate::domain::text::harmless;
use crate::store::StepView;
use crate::store::stepping::{Ending, TracedStep, Wait};

/// What a transaction waits for.
pub fn awaited(view: &StepView, wait: &Wait) -> String {
    const CHANGED_ROW: &str = "a row that another transaction has locked or changed";
    let waits =
        |traced: &&TracedStep| Some(traced.step.gate) == wait.step.as_ref().map(|step| step.gate);
    let Some(traced) = view.trace.iter().find(waits) else {
        return CHANGED_ROW.into();
    };
    let names = &view.names;
    let argument = |name| traced.argument(name);
    match &*traced.step.name {
        "begin_request" => "the answer to a twin of this request, which is under way".into(),
        "lock_room" => format!("the lock on {}", room(names, argument("p_room"))),
        "lock_item" => format!("the lock on {}", item(names, argument("p_item"))),
        "lock_slot_hold" => format!(
            "the row of room claim {}, which another transaction has locked or changed",
            number(argument("p_hold"))
        ),
        "lock_stock_hold" => format!(
            "the row of stock claim {}, which another transaction has locked or changed",
            number(argument("p_hold"))
        ),
        "place_slot" | "replace_slot" | "exchange_slots" if wait.lock_kind == "transactionid" => {
            "whether another transaction keeps what it has written for the same time and not committed".into()
        }
        _ => CHANGED_ROW.into(),
    }
}

/// What a step returned.
pub fn returned(result: &Value) -> String {
    match result {
        Value::Null => "nothing".into(),
        Value::String(text) => harmless(text),
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{name} {}", returned(value)))
                .collect();
            fields.join(", ")
        }
        value => harmless(&value.to_string()),
    }
}

/// A claim whose deadline is shown.
pub fn claim(claim: ClaimId) -> String {
    match claim {
        ClaimId::Slot(hold) => format!("room claim {hold}"),
        ClaimId::Stock(hold) => format!("stock claim {hold}"),
        ClaimId::Group(group) => format!("group {group}"),
    }
}

/// How a transaction ended, and what remains of it.
pub fn ending(ending: &Ending) -> String {
    match ending {
        Ending::RolledBack(rollback) => rollback.to_string(),
        Ending::CommitUnknown => {
            "The connection was cut while the COMMIT was under way: it may have been done or not. Asking again with the \
             same request id tells, and does it at most once."
                .into()
        }
        Ending::Failed(error) => format!("{error} Nothing of it remains."),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_step_returned_is_harmless() {
        assert_eq!(returned(&Value::Null), "nothing");
        let row = json!({"hold_id": 7, "guest": "\u{1b}[31m"});
        assert_eq!(returned(&row), "guest ␛[31m, hold_id 7");
    }
}
