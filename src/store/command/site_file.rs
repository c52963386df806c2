//! A site file as the database's function takes it.

use serde_json::{Value, json};

use crate::domain::SiteFile;

pub(crate) fn site_file_json(file: &SiteFile) -> Value {
    let site = &file.site;
    json!({
        "site": {
            "name": site.name,
            "time_zone": site.time_zone.name(),
            "default_hold": site.default_hold.num_seconds(),
            "longest_hold": site.longest_hold.num_seconds(),
            "renewals": site.renewals,
            "horizon": site.horizon.num_seconds(),
            "conflict_shows_guest": site.conflict_shows_guest,
        },
        "rooms": file.rooms,
        "items": file.items.iter().map(|item| json!({
            "name": item.name,
            "total": item.quantity,
        })).collect::<Vec<_>>(),
    })
}
