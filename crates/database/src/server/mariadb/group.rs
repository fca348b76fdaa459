//! What makes a MariaDB a node of a pair: who speaks where, who has how many votes, and how long a silent node is waited for.

use crate::DatabaseError;
use std::net::TcpListener;
use std::path::Path;
use study::Voter;
use units::Nanos;

/// Where packages put the library that joins servers.
const LIBRARIES: [&str; 2] = ["/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so"];

/// From this line on a configuration is that of a node.
pub(super) const MARK: &str = "# as a node of a pair\n";

/// The name of a pair, by which its members know each other.
pub(super) const NAME: &str = "prony";

/// The shortest time after which a node is given up: what keeps it alive is sent four times in it.
const LEAST: Nanos = Nanos(200_000_000);

/// What both nodes have beside where they are. What a node that comes back lacks is sent from a cache; what that does not hold any more
/// is brought by a copy of all files.
const SETTINGS: [(&str, &str); 7] = [
    ("wsrep_on", "ON"),
    ("wsrep_cluster_name", NAME),
    ("wsrep_node_address", "127.0.0.1"),
    ("wsrep_sst_method", "rsync"),
    ("binlog_format", "ROW"),
    ("innodb_autoinc_lock_mode", "2"),
    ("default_storage_engine", "InnoDB"),
];

/// Ports of a pair on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// Where a wire to the first node is entered.
    pub wire: u16,
    /// Of each node: for the group, for what it missed, for copies.
    pub nodes: [[u16; 3]; 2],
    /// Of the third voter.
    pub voter: u16,
}

impl Ports {
    /// Ports that nobody has at this moment.
    ///
    /// # Errors
    /// When there are none.
    pub fn free() -> Result<Ports, DatabaseError> {
        let failed = |source| DatabaseError::file("find a free port on", "127.0.0.1", source);
        let held: Result<Vec<TcpListener>, _> = (0..8).map(|_| TcpListener::bind(("127.0.0.1", 0))).collect();
        let ports: Result<Vec<u16>, _> =
            held.map_err(failed)?.iter().map(|port| port.local_addr().map(|address| address.port())).collect();
        Ok(Ports::of(&ports.map_err(failed)?).unwrap_or(Ports { wire: 0, nodes: [[0; 3]; 2], voter: 0 }))
    }

    /// From the list that [`Ports::all`] gives.
    pub fn of(all: &[u16]) -> Option<Ports> {
        let [wire, a, b, c, d, e, f, voter] = *all else { return None };
        Some(Ports { wire, nodes: [[a, b, c], [d, e, f]], voter })
    }

    /// All of them.
    pub fn all(&self) -> Vec<u16> {
        [&[self.wire][..], &self.nodes.concat(), &[self.voter]].concat()
    }

    /// Whether nobody has one of them.
    pub fn are_free(&self) -> bool {
        self.all().iter().all(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
    }
}

/// A pair as its members are told it.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Who speaks where.
    pub ports: Ports,
    /// Who decides when both lose each other.
    pub voter: Voter,
    /// After how long a silent member is given up; none for Galera's own 5 s.
    pub patience: Option<Nanos>,
    /// Bytes of changes that are kept for a node that is away; none for Galera's own 128 MiB.
    pub cache: Option<u64>,
}

impl Group {
    /// The settings of a node that finds the other one at a port, or founds the pair where none is said. Who `leads` has two votes, where
    /// weights decide.
    ///
    /// # Errors
    /// When the library is not installed.
    pub fn node(&self, node: usize, leads: bool, other: Option<u16>) -> Result<Vec<(String, String)>, DatabaseError> {
        let [group, missed, copies] = self.ports.nodes[node];
        let address = other.map_or_else(String::new, |port| format!("127.0.0.1:{port}"));
        let weight = if leads && self.voter == Voter::Weight { 2 } else { 1 };
        let cache = self.cache.map(|bytes| format!("gcache.size={bytes};")).unwrap_or_default();
        let options = format!(
            "\"gmcast.listen_addr=tcp://127.0.0.1:{group};base_port={group};ist.recv_addr=127.0.0.1:{missed};pc.weight={weight};\
             pc.recovery=false;{cache}{}\"",
            self.eviction()
        );
        let own = [
            ("wsrep_provider", library()?.to_owned()),
            ("wsrep_node_name", node.to_string()),
            ("wsrep_cluster_address", format!("gcomm://{address}")),
            ("wsrep_sst_receive_address", format!("127.0.0.1:{copies}")),
            ("wsrep_provider_options", options),
        ];
        let common = SETTINGS.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Ok(common.chain(own.map(|(key, value)| (key.to_owned(), value))).collect())
    }

    /// The options of the third voter.
    pub(super) fn voter_options(&self) -> String {
        format!("gmcast.listen_addr=tcp://127.0.0.1:{};pc.recovery=false;{}", self.ports.voter, self.eviction())
    }

    /// When a silent member is given up, and how often it is heard of until then.
    fn eviction(&self) -> String {
        let Some(patience) = self.patience else { return String::new() };
        let patience = patience.max(LEAST).seconds();
        let time = |share: f64| format!("PT{:.3}S", share * patience);
        let (whole, often, look, last) = (time(1.0), time(0.25), time(0.1), time(3.0));
        format!(
            "evs.suspect_timeout={whole};evs.inactive_timeout={last};evs.install_timeout={whole};evs.keepalive_period={often};\
             evs.join_retrans_period={often};evs.inactive_check_period={look};gmcast.peer_timeout={whole}"
        )
    }
}

/// The library that joins servers.
pub(super) fn library() -> Result<&'static str, DatabaseError> {
    let found = LIBRARIES.into_iter().find(|path| Path::new(path).exists());
    let (engine, package) = ("mariadb of a pair", "galera-4");
    found.ok_or_else(|| DatabaseError::MissingPackage { engine, program: LIBRARIES[0].to_owned(), package })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_member_is_given_up_after_the_patience_that_was_asked_for_and_is_heard_of_four_times_before() {
        let ports = Ports::of(&[1, 2, 3, 4, 5, 6, 7, 8]).expect("eight of them");
        assert_eq!(ports.all(), [1, 2, 3, 4, 5, 6, 7, 8]);
        let group = |patience| Group { ports, voter: Voter::Garbd, patience, cache: None };
        assert!(!group(None).voter_options().contains("evs."));
        let said = group(Some(Nanos::from_millis(2000))).voter_options();
        assert!(
            said.contains("evs.suspect_timeout=PT2.000S") && said.contains("evs.keepalive_period=PT0.500S"),
            "{said}"
        );
        let shortest = group(Some(Nanos(1))).voter_options();
        assert!(shortest.contains("evs.suspect_timeout=PT0.200S"), "{shortest}");
    }
}
