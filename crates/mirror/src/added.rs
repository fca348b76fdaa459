//! What is added to a pair that is mirrored by rows: a table that was left out, and a role for who serves.

use crate::nodes::Nodes;
use crate::rows::{USER, quoted};
use crate::{MirrorError, Pair};
use pair::Node;

impl<N: Nodes> Pair<N> {
    /// Lets the user of the system in who runs this command, on both nodes, as one who may do everything.
    ///
    /// # Errors
    /// When a node refuses.
    pub fn lets_in(&mut self) -> Result<(), MirrorError> {
        let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let number = rustix::process::geteuid().as_raw().to_string();
        let name = users
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>())
            .find(|user| user.get(2) == Some(&number.as_str()));
        let Some(name) = name.map(|user| user[0].to_owned()) else { return Ok(()) };
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        let there = format!("SELECT 1 FROM pg_roles WHERE rolname = {}", quoted(&name));
        let make = format!("CREATE ROLE \"{}\" LOGIN SUPERUSER", name.replace('"', "\"\""));
        if self.nodes.ask(primary, "look for a role", &there)?.is_empty() {
            self.ask_in(primary, "postgres", "make a role", &make)?;
            if !self.life().is_up(mirror) {
                let noted = format!(
                    "INSERT INTO prony_pair.defined (said, path, role, inside) VALUES ({}, '', '{USER}', true)",
                    quoted(&make)
                );
                self.ask_in(primary, "postgres", "note a role", &noted)?;
            }
        }
        if self.life().is_up(mirror) && self.nodes.ask(mirror, "look for a role", &there)?.is_empty() {
            self.ask_in(mirror, "postgres", "make a role", &make)?;
        }
        Ok(())
    }

    /// A table that was left out is left out no more. Its rows are not mirrored yet.
    pub(crate) fn adds(&mut self, table: &str) -> Result<(), MirrorError> {
        let (primary, mut found) = (self.life().primary(), false);
        let sql = format!(
            "SELECT 1 FROM prony_pair.tables t JOIN pg_class c ON c.oid = t.oid JOIN pg_namespace n ON n.oid = c.relnamespace \
             WHERE why_not IS NOT NULL AND {} IN (relation, n.nspname || '.' || c.relname)",
            quoted(table)
        );
        for database in self.databases(primary)? {
            found |= !self.ask_in(primary, &database, "look for the table", &sql)?.is_empty();
        }
        if found { Ok(()) } else { Err(MirrorError::NotLeftOut(table.to_owned())) }
    }

    /// Its triggers come, while nothing is shipped, and all of it is on the list.
    pub(crate) fn marks_added(&mut self, table: &str) -> Result<(), MirrorError> {
        self.record.added.push(table.replace('"', ""));
        self.save()?;
        let primary = self.life().primary();
        for node in Node::ALL {
            self.installs(node)?;
        }
        let sql = format!(
            "SELECT prony_pair.whole(relation) FROM prony_pair.mirrored WHERE replace(relation, '\"', '') = {}",
            quoted(&table.replace('"', ""))
        );
        self.everywhere(primary, "put the table on its list", &sql)
    }
}
