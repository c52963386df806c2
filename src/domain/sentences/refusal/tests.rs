//! Refusals: their words, their codes, and the page that lists them.
#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn a_number_of_another_kind_is_told_as_what_it_is() {
    let calendar = SiteCalendar::new(chrono_tz::UTC);
    for (details, sentence) in [
        (
            r#"{"hold_id":17}"#,
            "Nothing in this house has the number 17.",
        ),
        (
            r#"{"hold_id":17,"kind":"room"}"#,
            "17 is a hold on a room, which can't be meant here.",
        ),
        (
            r#"{"hold_id":17,"kind":"stock"}"#,
            "17 is a hold on stock, which can't be meant here.",
        ),
        (
            r#"{"hold_id":17,"kind":"group"}"#,
            "17 is a group, which can't be meant here.",
        ),
    ] {
        let told = format!(r#"{{"refusal":"no_such_hold","details":{details}}}"#);
        let refusal: Refusal = serde_json::from_str(&told).unwrap();
        assert_eq!(refusal.sentence(&calendar), sentence);
        assert_eq!(serde_json::to_string(&refusal).unwrap(), told);
    }
}

#[test]
fn a_hold_that_is_too_long_is_told_how_long_it_may_be() {
    let told = r#"{"refusal": "period_invalid",
        "details": {"problem": "hold_length", "longest_seconds": 86400}}"#;
    let refusal: Refusal = serde_json::from_str(told).unwrap();
    let sentence = refusal.sentence(&SiteCalendar::new(chrono_tz::UTC));
    assert!(sentence.contains("1 day here at the longest"), "{sentence}");
}

/// The words of a scenario's file are checked against the codes that answers have.
#[test]
fn a_code_is_what_answers_say() {
    let unknown = serde_json::json!({ "refusal": "none of them", "details": {} });
    let error = serde_json::from_value::<Refusal>(unknown).unwrap_err();
    let error = error.to_string();
    let known: Vec<_> = error.split('`').skip(3).step_by(2).collect();
    assert_eq!(known, Refusal::CODES);
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/json.md");
const BEGIN: &str = "<!-- written from the code by KEYRACK_WRITE_DOCS=1 cargo test --lib refusals_of_the_page -->\n\n";
const END: &str = "\n<!-- until here -->";

/// `docs/json.md` lists every refusal as its doc comments here say; with `KEYRACK_WRITE_DOCS=1` this test writes the list.
#[test]
fn the_refusals_of_the_page_are_those_of_the_code() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (above, rest) = page.split_once(BEGIN).unwrap();
    let (written, below) = rest.split_once(END).unwrap();
    let list = list();
    if std::env::var_os("KEYRACK_WRITE_DOCS").is_some() {
        std::fs::write(PAGE, format!("{above}{BEGIN}{list}{END}{below}")).unwrap();
    } else {
        assert_eq!(written, list, "KEYRACK_WRITE_DOCS=1 writes it anew");
    }
}

fn list() -> String {
    let refusals = items(include_str!("../refusal.rs"));
    let details = items(include_str!("../../refusal_details.rs"));
    let Some(syn::Item::Enum(refusal)) = named(&refusals, "Refusal") else {
        panic!("no enum")
    };
    let lines = refusal
        .variants
        .iter()
        .zip(Refusal::CODES)
        .map(|(variant, code)| {
            let fields = match (named(&details, &variant.ident.to_string()), &variant.fields) {
                (Some(syn::Item::Struct(details)), _) => &details.fields,
                (_, fields) => fields,
            };
            let mut line = format!("- `{code}`: {}", doc(&variant.attrs));
            for field in fields {
                let name = field.ident.as_ref().unwrap();
                // Two keys that the claim's period is written as.
                if name == "period" {
                    line.push_str(
                        "\n  - `from`, `to`: its period; missing if it can't be named any more.",
                    );
                    continue;
                }
                let missing = if is_left_out(field) {
                    " May be missing."
                } else {
                    ""
                };
                line.push_str(&format!("\n  - `{name}`: {}{missing}", doc(&field.attrs)));
            }
            line + "\n"
        });
    lines.collect()
}

fn items(text: &str) -> Vec<syn::Item> {
    syn::parse_file(text).unwrap().items
}

fn named<'a>(items: &'a [syn::Item], name: &str) -> Option<&'a syn::Item> {
    items.iter().find(|item| match item {
        syn::Item::Enum(item) => item.ident == name,
        syn::Item::Struct(item) => item.ident == name,
        _ => false,
    })
}

fn is_left_out(field: &syn::Field) -> bool {
    field.attrs.iter().any(|attribute| {
        attribute.path().is_ident("serde")
            && attribute
                .meta
                .require_list()
                .unwrap()
                .tokens
                .to_string()
                .contains("skip_serializing_if")
    })
}

/// The first paragraph of a doc comment.
fn doc(attributes: &[syn::Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| {
        let value = &attribute.meta.require_name_value().ok()?.value;
        match value {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Str(text),
                ..
            }) => Some(text.value().trim().to_owned()),
            _ => None,
        }
    });
    let lines: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    lines.join(" ")
}
