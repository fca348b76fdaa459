//! Names of people, towns, companies and trades, put together from short lists of our own.
//!
//! The one idea: a name is a function of a number, appended to a text that the caller reuses.
//!
//! What it does not do: names are not unique; numbers are.

pub(super) use crate::dataset::{push_number, push_padded};
use random::{GOLDEN, mix};

const STARTS: [&str; 24] = [
    "Al", "Bren", "Cor", "Dal", "El", "Fen", "Gar", "Hal", "Il", "Jor", "Kel", "Lor", "Mar", "Nel", "Or", "Per",
    "Quil", "Ros", "Sel", "Tor", "Ul", "Ver", "Wil", "Yar",
];
const FIRST_ENDS: [&str; 16] =
    ["an", "ena", "ic", "ia", "o", "eth", "ina", "us", "a", "emi", "in", "ora", "en", "ette", "ir", "ula"];
const LAST_ENDS: [&str; 20] = [
    "ander", "brook", "cott", "dane", "er", "field", "gate", "holt", "ison", "kin", "lund", "mont", "ness", "over",
    "ridge", "sen", "thorpe", "vane", "well", "wood",
];
const TOWN_ENDS: [&str; 16] = [
    "bridge", "cliff", "dale", "ford", "grove", "haven", "hill", "lake", "mere", "mill", "moor", "port", "shore",
    "stead", "ton", "wick",
];
const DIVISIONS: [&str; 8] = [
    "North Coast",
    "High Plains",
    "Lake Country",
    "Old Harbour",
    "West March",
    "Green Valley",
    "Iron Hills",
    "South Reach",
];
const STREETS: [&str; 12] =
    ["Anchor", "Bell", "Cedar", "Drover", "Elm", "Forge", "Garden", "Harbour", "Lantern", "Mill", "Orchard", "Quarry"];
const WAYS: [&str; 6] = ["Street", "Lane", "Road", "Square", "Avenue", "Row"];
const THINGS: [&str; 20] = [
    "Amber", "Beacon", "Copper", "Dune", "Ember", "Falcon", "Granite", "Harbour", "Indigo", "Juniper", "Kestrel",
    "Lantern", "Meridian", "Nimbus", "Opal", "Pioneer", "Quartz", "River", "Summit", "Timber",
];
const HOUSES: [&str; 6] = ["Group", "Works", "Holdings", "Company", "Partners", "Brothers"];

/// Sectors; the first two letters that tell them apart are in [`SECTOR_IDS`].
pub const SECTORS: [&str; 12] = [
    "Energy",
    "Materials",
    "Machinery",
    "Transport",
    "Trade and Retail",
    "Food and Farming",
    "Health",
    "Banking",
    "Software",
    "Networks",
    "Water and Power",
    "Leisure",
];
/// Names of the sectors in keys.
pub const SECTOR_IDS: [&str; 12] = ["EN", "MA", "MC", "TR", "RE", "FO", "HE", "BA", "SO", "NE", "WP", "LE"];
/// What each sector has an industry of.
pub const BRANCHES: [&str; 8] =
    ["Equipment", "Services", "Supply", "Research", "Rental", "Storage", "Design", "Insurance"];

/// Industries, eight of each sector.
pub const INDUSTRIES: u64 = 96;

/// Postal areas.
pub const AREAS: u64 = 12_000;

fn of<'a>(list: &[&'a str], random: u64) -> &'a str {
    list[(random % list.len() as u64) as usize]
}

fn key(kind: u64, number: u64) -> u64 {
    mix(number.wrapping_mul(GOLDEN) ^ (kind << 56))
}

/// Adds the first name of a person: 10 characters at most.
pub fn push_first(person: u64, to: &mut String) {
    let random = key(1, person);
    to.push_str(of(&STARTS, random));
    to.push_str(of(&FIRST_ENDS, random >> 32));
}

/// Adds the last name of a person: 10 characters at most.
pub fn push_last(person: u64, to: &mut String) {
    let random = key(2, person);
    to.push_str(of(&STARTS, random));
    to.push_str(of(&LAST_ENDS, random >> 32));
}

/// Adds the whole name of a person: 21 characters at most.
pub fn push_person(person: u64, to: &mut String) {
    push_first(person, to);
    to.push(' ');
    push_last(person, to);
}

/// The name of a broker (from 1), as its row has it. Brokers are other people than customers.
pub fn broker_name(broker: u64) -> String {
    let mut name = String::new();
    push_person((1 << 40) + broker, &mut name);
    name
}

/// Adds the code of a postal area (from 0).
pub fn push_area(area: u64, to: &mut String) {
    to.push(char::from(b'A' + (area / 1_000 % 26) as u8));
    push_padded(area, 5, to);
}

/// Adds the town of a postal area.
pub fn push_town(area: u64, to: &mut String) {
    let random = key(3, area);
    to.push_str(of(&STARTS, random));
    to.push_str(of(&TOWN_ENDS, random >> 32));
}

/// The part of the country that a postal area lies in.
pub fn division(area: u64) -> &'static str {
    DIVISIONS[(area / 1_500 % 8) as usize]
}

/// Adds a street with a house number.
pub fn push_street(address: u64, to: &mut String) {
    let random = key(4, address);
    push_number(1 + random % 980, to);
    to.push(' ');
    to.push_str(of(&STREETS, random >> 20));
    to.push(' ');
    to.push_str(of(&WAYS, random >> 40));
}

/// Adds the name of a company (from 1): 40 characters at most.
pub fn push_company(company: u64, to: &mut String) {
    let random = key(5, company);
    to.push_str(of(&THINGS, random));
    to.push(' ');
    to.push_str(of(&STARTS, random >> 16));
    to.push_str(of(&LAST_ENDS, random >> 32));
    to.push(' ');
    to.push_str(of(&HOUSES, random >> 48));
}

/// The industry (from 0) of a company (from 1).
pub fn industry_of(company: u64) -> u64 {
    key(6, company) % INDUSTRIES
}

/// Adds the key of an industry (from 0): its sector and a letter.
pub fn push_industry_id(industry: u64, to: &mut String) {
    to.push_str(SECTOR_IDS[(industry / 8) as usize]);
    to.push(char::from(b'A' + (industry % 8) as u8));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut String)) -> String {
        let mut text = String::new();
        write(&mut text);
        text
    }

    #[test]
    fn numbers_are_written_as_digits() {
        for number in [0, 7, 10, 999, 1_000, u64::MAX] {
            assert_eq!(written(|text| push_number(number, text)), number.to_string());
        }
        for number in [0, 7, 99_999, 123_456] {
            assert_eq!(written(|text| push_padded(number, 5, text)), format!("{number:05}"));
        }
    }

    #[test]
    fn names_keep_their_bounds_and_codes_differ() {
        for number in 0..5_000 {
            assert!(written(|text| push_first(number, text)).len() <= 10);
            assert!(written(|text| push_last(number, text)).len() <= 10);
            assert!(written(|text| push_company(number, text)).len() <= 40);
        }
        let codes: std::collections::HashSet<String> =
            (0..AREAS).map(|area| written(|text| push_area(area, text))).collect();
        assert_eq!(codes.len() as u64, AREAS);
    }
}
