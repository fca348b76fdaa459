//! Files whose pages were rearranged so that a little file would hold very much.

use crate::arbitrary::{plain_cell, plain_facts, plain_label, plain_rest};
use observation::{Event, EventKind, Observations};
use std::fs;
use std::path::PathBuf;
use store::{RunFile, StoreError};
use tempfile::TempDir;
use units::Nanos;

const PAGE: usize = 4096;

/// A run with so many events of such a length.
fn run_with(events: usize, length: usize) -> (TempDir, PathBuf, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.prony");
    let event = Event { at: Nanos(1), kind: EventKind::Note, text: "x".repeat(length) };
    let rest = Observations { events: vec![event; events], ..plain_rest(3) };
    let mut file = RunFile::create(&path, &plain_facts(), 4096).unwrap();
    file.begin_trial(&plain_label(0), &rest).unwrap();
    file.append_interval(0, &[plain_cell(0)], &[]).unwrap();
    file.finish_trial(0, &rest).unwrap();
    file.close().unwrap();
    let bytes = fs::read(&path).unwrap();
    (dir, path, bytes)
}

fn root_of(path: &PathBuf, table: &str) -> usize {
    let connection = rusqlite::Connection::open(path).unwrap();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    connection.query_row(sql, [table], |row| row.get::<_, i64>(0)).unwrap() as usize
}

fn u16_at(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> usize {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

fn refused(path: &PathBuf, bytes: &[u8], why: &str) {
    fs::write(path, bytes).unwrap();
    for opened in [RunFile::open(path), RunFile::glance(path), RunFile::open_for_notes(path)] {
        match opened {
            Err(StoreError::Damaged(_, told)) => assert!(told.contains(why), "{told}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_value_whose_pages_come_back_to_themselves_is_refused() {
    let (_dir, path, mut bytes) = run_with(1, 20 << 20);
    // The chain leads up through the file: its first page is the first that is full of the text.
    let is_full = |page: &[u8]| page[4..].iter().all(|byte| *byte == b'x');
    let first = bytes.chunks(PAGE).position(is_full).unwrap();
    let last = first + 40;
    bytes[last * PAGE..last * PAGE + 4].copy_from_slice(&(first as u32 + 1).to_be_bytes());
    bytes.truncate((last + 1) * PAGE);
    bytes[28..32].copy_from_slice(&(last as u32 + 1).to_be_bytes());
    assert!(bytes.len() < 1 << 20);
    refused(&path, &bytes, "is used twice");
}

#[test]
fn a_tree_whose_branches_grow_together_is_refused() {
    let (_dir, path, mut bytes) = run_with(2000, 30);
    let root = (root_of(&path, "event") - 1) * PAGE;
    assert_eq!(bytes[root], 5, "the root has no branches");
    let first = u16_at(&bytes, root + 12);
    let child = bytes[root + first..root + first + 4].to_vec();
    bytes[root + 8..root + 12].copy_from_slice(&child);
    refused(&path, &bytes, "is used twice");
}

#[test]
fn a_tree_that_leads_back_to_its_root_is_refused() {
    let (_dir, path, mut bytes) = run_with(2000, 30);
    let number = root_of(&path, "event");
    let root = (number - 1) * PAGE;
    bytes[root + 8..root + 12].copy_from_slice(&(number as u32).to_be_bytes());
    refused(&path, &bytes, "is used twice");
}

#[test]
fn rows_that_share_their_bytes_are_refused() {
    for (table, why) in [("event", "are not in order"), ("factor", "share bytes")] {
        let (_dir, path, mut bytes) = run_with(1, 2000);
        let page = (root_of(&path, table) - 1) * PAGE;
        let place: [u8; 2] = bytes[page + 8..page + 10].try_into().unwrap();
        bytes[page + 3..page + 5].copy_from_slice(&900u16.to_be_bytes());
        for index in 0..900 {
            bytes[page + 8 + 2 * index..page + 10 + 2 * index].copy_from_slice(&place);
        }
        refused(&path, &bytes, why);
    }
}

#[test]
fn the_list_of_tables_is_looked_at_like_any_other() {
    let (_dir, path, mut bytes) = run_with(1, 10);
    assert_eq!(bytes[100], 5, "the list of tables has no branches");
    let child = u32_at(&bytes, u16_at(&bytes, 112)) as u32;
    bytes[108..112].copy_from_slice(&child.to_be_bytes());
    refused(&path, &bytes, "is used twice");
}

#[test]
fn two_tables_on_one_page_are_refused() {
    let (dir, path, _) = run_with(1, 10);
    let moved = dir.path().join("moved.prony");
    fs::copy(&path, &moved).unwrap();
    let connection = rusqlite::Connection::open(&moved).unwrap();
    connection
        .execute_batch(
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'run_word')
             WHERE name = 'system_fact'",
        )
        .unwrap();
    connection.close().unwrap();
    refused(&path, &fs::read(moved).unwrap(), "is used twice");
}

#[test]
fn what_an_honest_file_holds_is_never_refused() {
    for (events, length) in [(0, 0), (1, 5 << 20), (5000, 37), (300, 3000), (300, 4060), (40, 9000)] {
        let (_dir, path, _) = run_with(events, length);
        assert_eq!(RunFile::open(&path).unwrap().observations(0).unwrap().events.len(), events);
    }
}
