//! A forced checkpoint: all changed pages are written.
//!
//! The one idea: the server has no statement for it, but writes changed pages for as long as there are more than it may
//! keep; so it may keep none for a moment.

use crate::{Failure, Session};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use workload::transaction::Value;

/// Between two looks at the number of changed pages.
const LOOK: Duration = Duration::from_millis(50);

/// Looks without any progress after which it is given up: ten seconds.
const PATIENCE: u32 = 200;

const MOST: &str = "innodb_max_dirty_pages_pct";
const LOW: &str = "innodb_max_dirty_pages_pct_lwm";

/// Writes all changed pages. Needs the privilege to set variables of the whole server.
///
/// # Errors
/// When the server refuses, or goes on changing pages so that it never ends.
pub(super) fn checkpoint(session: &mut dyn Session, stop: &AtomicBool) -> Result<(), Failure> {
    let before = session.row(&format!("SELECT @@GLOBAL.{MOST}, @@GLOBAL.{LOW}"))?;
    let [most, low] = [0, 1].map(|at| before.get(at).and_then(Value::number).unwrap_or(0.0));
    session.query(&format!("SET GLOBAL {LOW} = 0"))?;
    session.query(&format!("SET GLOBAL {MOST} = 0"))?;
    let waited = wait(session, stop);
    session.query(&format!("SET GLOBAL {MOST} = {most}"))?;
    session.query(&format!("SET GLOBAL {LOW} = {low}"))?;
    waited
}

fn wait(session: &mut dyn Session, stop: &AtomicBool) -> Result<(), Failure> {
    let (mut fewest, mut idle) = (i64::MAX, 0);
    while idle < PATIENCE && !stop.load(Ordering::Relaxed) {
        let pages = dirty(session)?;
        if pages == 0 {
            return Ok(());
        }
        idle = if pages < fewest { 0 } else { idle + 1 };
        fewest = fewest.min(pages);
        std::thread::sleep(LOOK);
    }
    let text = format!("{fewest} changed pages were still not written when it was given up");
    Err(Failure::refused(text))
}

fn dirty(session: &mut dyn Session) -> Result<i64, Failure> {
    let row = session.row("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'")?;
    Ok(row.get(1).and_then(Value::number).unwrap_or(0.0) as i64)
}
