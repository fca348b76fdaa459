//! Histories of lists, held against what a checker of others holds them against.

use crate::key_value::history::{amiss, appended, edn, read};
use crate::key_value::spec::Class;
use crate::key_value::statements::statements;
use crate::key_value::{Distribution, KeyValue, Mix, Spec};
use crate::kind::Share;
use crate::transaction::{Answers, Batch, Begun, Business as _, Call, Ending, Step, Value};
use std::collections::BTreeMap;
use units::Nanos;

const SPEC: Spec = Spec { mix: Mix::Lists, keys: Distribution::Uniform, rows: 4, fields: 1, field_bytes: 400, scan: 1 };

/// A database of lists that carries out one transaction at a time; it may forget an update that it acknowledges.
struct Lists {
    fields: BTreeMap<i64, String>,
    forgets: Option<usize>,
    updates: usize,
}

impl Lists {
    fn answers(&mut self, batch: &Batch, answers: &mut Answers) {
        let texts = statements(&SPEC);
        answers.clear();
        for call in batch.calls() {
            answers.begin(1);
            let mut changed = 0;
            if let Call::Statement { statement, parameters } = call {
                let key = parameters[parameters.len() - 1].int().expect("a key");
                if texts[usize::from(statement)].rows {
                    answers.push(Value::Text(self.fields[&key].clone()));
                } else {
                    changed = 1;
                    self.updates += 1;
                    let text = parameters[0].text().expect("a list").to_owned();
                    if self.forgets != Some(self.updates) {
                        self.fields.insert(key, text);
                    }
                }
            }
            answers.end(changed);
        }
    }
}

/// What a run of so many transactions noted, and what the lists hold then.
fn ran(forgets: Option<usize>, count: u64) -> (BTreeMap<u64, Vec<u8>>, BTreeMap<i64, Vec<u64>>) {
    let fields = (1..=SPEC.rows as i64).map(|key| (key, "xyz".repeat(9))).collect();
    let mut lists = Lists { fields, forgets, updates: 0 };
    let share = Share { worker: 0, workers: 1, first: 0, slots: 1, seed: 3, epoch: 77, half: None };
    let mut business = KeyValue::new(SPEC, &share);
    let (mut answers, mut batch) = (Answers::default(), Batch::default());
    for n in 0..count {
        business.begin(0, Begun { n, payload: 0, at: Nanos(10 * n) });
        answers.clear();
        loop {
            batch.clear();
            match business.step(0, &answers, &mut batch) {
                Step::Send => lists.answers(&batch, &mut answers),
                step => break assert_eq!(step, Step::Done { rolled_back: false }),
            }
        }
        // Of one nobody knows the outcome: its client is another one from then on.
        let ending = if n == 5 { Ending::Unknown } else { Ending::Done };
        business.ended(0, ending, Nanos(10 * n + 9), &mut Vec::new());
    }
    let held = lists.fields.iter().map(|(key, field)| (*key, read(field, 77))).collect();
    (business.history.pages(0), held)
}

/// The part of a line behind a key, up to a comma.
fn field<'a>(line: &'a str, key: &str) -> &'a str {
    line.split(key).nth(1).expect("the key").split([',', '}']).next().expect("a value").trim()
}

/// The steps of a line, each as its words.
fn steps(line: &str) -> Vec<Vec<String>> {
    let value = line.split(":value [").nth(1).expect("a value").strip_suffix("]}").expect("an end");
    let all = value.split("[:").filter(|step| !step.trim().is_empty());
    all.map(|step| step.replace(['[', ']'], " ").split_whitespace().map(str::to_owned).collect()).collect()
}

/// What every checker of lists finds first: a number that was acknowledged as appended and that a later read of the list lacks.
fn lost(history: &str) -> Vec<String> {
    let mut acknowledged: Vec<(String, String)> = Vec::new();
    let mut lost = Vec::new();
    for line in history.lines().filter(|line| field(line, ":type") == ":ok") {
        for step in steps(line) {
            match step[0].as_str() {
                "append" => acknowledged.push((step[1].clone(), step[2].clone())),
                _ => lost.extend(
                    acknowledged
                        .iter()
                        .filter(|(key, number)| *key == step[1] && !step[2..].contains(number))
                        .map(|(_, number)| number.clone()),
                ),
            }
        }
    }
    lost
}

#[test]
fn a_healthy_run_has_every_acknowledged_number_in_each_later_read_and_a_lost_one_is_seen() {
    let (pages, held) = ran(None, 200);
    let history = edn(&pages).expect("a history");
    assert_eq!(lost(&history), Vec::<String>::new());
    let (kept, wrong) = amiss(&pages, &held);
    assert!(kept > 50 && wrong.is_empty(), "{kept}: {wrong:?}");
    let (pages, held) = ran(Some(20), 200);
    assert!(!lost(&edn(&pages).expect("a history")).is_empty(), "a checker of others sees it");
    let (_, wrong) = amiss(&pages, &held);
    assert!(matches!(&wrong[..], [one] if one.contains("was acknowledged as appended")), "{wrong:?}");
}

#[test]
fn a_history_is_a_series_of_maps_in_order_of_time_whose_clients_do_one_thing_at_a_time() {
    let history = edn(&ran(None, 40).0).expect("a history");
    let first = history.lines().next().expect("a line");
    assert!(first.starts_with("{:index 0, :time 0, :process 0, :type :invoke, :f :txn, :value [[:r "), "{first}");
    let (mut open, mut last) = (BTreeMap::new(), 0);
    for (index, line) in history.lines().enumerate() {
        assert_eq!(field(line, ":index"), index.to_string());
        let time: u64 = field(line, ":time").parse().expect("a time");
        assert!(time >= last, "{line}");
        last = time;
        let began = field(line, ":type") == ":invoke";
        let was_open = open.insert(field(line, ":process").to_owned(), began).unwrap_or(false);
        assert_ne!(was_open, began, "{line}");
        assert_eq!(
            began || field(line, ":type") == ":info",
            line.contains("nil"),
            "what was seen is told of what ended well: {line}"
        );
    }
    assert_eq!(history.lines().filter(|line| line.contains(":type :info")).count(), 1);
    assert_eq!(open.len(), 2, "whose outcome nobody knows never comes again");
}

#[test]
fn a_list_keeps_the_length_of_its_field_and_is_empty_for_another_trial() {
    let Some(Value::Text(field)) = appended(&[4, 12], 7, 9, 20) else { panic!("there is room") };
    assert_eq!((field.as_str(), field.len()), ("9:4 12 7............", 20));
    assert_eq!((read(&field, 9), read(&field, 8), read("letters", 9)), (vec![4, 12, 7], vec![], vec![]));
    assert_eq!(appended(&[4, 12], 7, 9, 7), None, "no room");
    assert_eq!(
        Mix::Lists.parts().iter().map(|(class, _)| *class as u8).collect::<Vec<_>>(),
        [Class::Look as u8, Class::Append as u8]
    );
}
