//! A pair that is run: it looks, tells its life what it saw, and carries out what that orders.

use crate::act::name;
use crate::home::{self, Asked};
use crate::nodes::Nodes;
use crate::{Home, MirrorError};
use database::DatabaseError;
use pair::{Action, Event, Life, Node, Refusal, State};
use store::PairRecord;

/// How long a mirror that was seen may be away from its primary before the link between them counts as cut.
const AWAY_SECONDS: u64 = 5;

/// More than so many things do not happen between two looks.
const EVENTS: usize = 8;

/// A pair with its nodes.
#[derive(Debug)]
pub struct Pair<N> {
    pub(crate) record: PairRecord,
    pub(crate) nodes: N,
    /// Sessions that send at once what the mirror lacks.
    pub(crate) parallel: usize,
    /// Whom somebody has asked in vain for as long as is waited for anybody: it need not be asked again.
    silent: Option<Node>,
    home: Home,
}

impl<N: Nodes> Pair<N> {
    /// The pair that lies there.
    ///
    /// # Errors
    /// When none was begun there.
    pub fn open(home: Home, nodes: N) -> Result<Pair<N>, MirrorError> {
        let Some(record) = home.record()? else { return Err(MirrorError::NoPair(home.folder().to_owned())) };
        Ok(Pair { record, nodes, parallel: 1, silent: None, home })
    }

    /// Makes a pair and brings it up, or brings one up that is there: starts what does not run, and goes on with what was cut off.
    /// A pair that is there keeps what it is, but for how far commits must come, its list, its cores and its link. One whose making was
    /// cut off is made anew.
    ///
    /// # Errors
    /// When somebody else started a server on a node's data, a node does not start or the mirror cannot be filled.
    pub fn up(home: Home, nodes: N, asked: &Asked) -> Result<Pair<N>, MirrorError> {
        Node::ALL.into_iter().try_for_each(|node| nodes.unoccupied(node))?;
        let old = home.record()?;
        let new = home::new(asked);
        if let Some(old) = old.as_ref().filter(|old| old.kind != new.kind) {
            return Err(MirrorError::Kind(old.kind.clone()));
        }
        let begun = old.as_ref().is_some_and(|old| !old.made);
        let PairRecord { sync, list_bytes, cores, via, .. } = new.clone();
        let rule = new.life.rule;
        let (left_out, voter) = (new.left_out.clone(), new.voter.clone());
        let old = old.filter(|old| old.made);
        let record = old.map_or(new, |old| PairRecord { sync, list_bytes, cores, via, left_out, voter, ..old });
        let mut pair = Pair { record, nodes, parallel: 1, silent: None, home };
        if begun {
            pair.begins_anew()?;
        }
        if !pair.record.down && pair.nodes.has_data(Node::A) {
            pair.looks()?;
        }
        pair.settles_leader()?;
        pair.settles_ports()?;
        let changed = std::mem::replace(&mut pair.record.life.rule, rule) != rule;
        pair.record.down = false;
        pair.save()?;
        let (primary, mirror) = (pair.life().primary(), pair.life().mirror());
        pair.has_primary()?;
        pair.raise(primary)?;
        if pair.life().state() != State::Copying && !pair.splits() {
            pair.mends(mirror)?;
        }
        pair.looks()?;
        pair.votes()?;
        if changed && pair.life().state() == State::Replicating {
            pair.record.pending.push(Action::Wait(rule.waits));
        }
        pair.go_on()?;
        pair.looks()?;
        Ok(pair)
    }

    /// Removes what was made by a command that was cut off before both held the same: nobody could write there.
    fn begins_anew(&mut self) -> Result<(), MirrorError> {
        self.nodes.say("the pair was never finished, so that its nodes are made anew");
        self.nodes.voter(None)?;
        Node::ALL.into_iter().try_for_each(|node| self.nodes.remove(node))
    }

    /// A primary whose data somebody removed is not made anew: the mirror, which may have all, would be copied over. It is started instead.
    fn has_primary(&mut self) -> Result<(), MirrorError> {
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        if !self.record.made || self.nodes.has_data(primary) {
            return Ok(());
        }
        let left = self.nodes.has_data(mirror);
        if left {
            // Galera's would wait for the primary.
            self.record.follows &= !self.by_sets();
            self.stands_by(mirror)?;
            self.looks()?;
        }
        Err(MirrorError::Gone(primary, left))
    }

    /// Starts a mirror; one whose data are good for nothing any more is filled anew.
    fn mends(&mut self, mirror: Node) -> Result<(), MirrorError> {
        let why = match self.nodes.has_data(mirror).then(|| self.stands_by(mirror)) {
            Some(Err(MirrorError::Database(DatabaseError::Server { text, .. }))) => text,
            Some(started) => return started,
            None => "it has no data".to_owned(),
        };
        self.nodes.say(&format!("node {mirror} does not start as it is, so that everything is copied to it: {why}"));
        self.track()?;
        self.copy_to(mirror)?;
        self.record.returns[mirror as usize] = false;
        self.save()?;
        self.stands_by(mirror)
    }

    /// Its life so far.
    pub fn life(&self) -> &Life {
        &self.record.life
    }

    /// Its folder.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Its nodes.
    pub fn nodes(&self) -> &N {
        &self.nodes
    }

    pub(crate) fn save(&self) -> Result<(), MirrorError> {
        let path = self.home.record_file();
        store::write_pair(&path, &self.record).map_err(|source| MirrorError::File(path, "write", source))
    }

    /// Tells its life what happened, and carries out what follows.
    pub(crate) fn tell(&mut self, event: Event) -> Result<(), MirrorError> {
        self.happened(event)?;
        self.work()
    }

    pub(crate) fn happened(&mut self, event: Event) -> Result<(), MirrorError> {
        let actions = self.record.life.step(self.nodes.now(), event)?;
        let (state, primary) = (self.life().state(), self.life().primary());
        self.record.made |= state == State::Replicating;
        let moves = matches!(
            state,
            State::Resynchronising(_) | State::Copying | State::Comparing | State::Swapping | State::Replicating
        );
        self.record.pending.retain(|action| moves || !is_moving(*action));
        if matches!(event, Event::TakeOver { .. }) {
            // Whoever brings the old primary back must know, however far this command comes.
            let old = self.life().mirror();
            (self.record.returns[old as usize], self.record.follows) = (true, false);
            // The log of the new one begins where it took over, which may be before what was seen of the old one.
            self.record.looked = None;
        }
        // What is ordered later takes the place of what it undoes; and all is ordered anew when a primary comes back.
        let undoes = |new: &Action, old: &Action| match (new, old) {
            (Action::Wait(_), Action::Wait(_)) => true,
            (Action::Writes(new, _), Action::Writes(old, _)) => new == old,
            _ => false,
        };
        let lost = event == Event::Lost(primary);
        self.record.pending.retain(|old| !lost && !actions.iter().any(|new| undoes(new, old)));
        self.record.pending.extend(actions);
        self.save()
    }

    /// Carries out what is ordered. What fails stays ordered.
    fn work(&mut self) -> Result<(), MirrorError> {
        while let Some(action) = self.record.pending.first().copied() {
            let told = self.carry_out(action)?;
            self.record.pending.remove(0);
            match told {
                Some(event) => self.happened(event)?,
                None => self.save()?,
            }
        }
        Ok(())
    }

    /// The same where somebody has just asked a node in vain: what follows does not wait for it once more.
    ///
    /// # Errors
    /// As [`Pair::look`].
    pub fn look_past(&mut self, silent: Option<Node>) -> Result<(), MirrorError> {
        self.silent = silent;
        let looked = self.look();
        self.silent = None;
        looked
    }

    /// Looks at both nodes, and does what follows from what it sees; begins nothing that takes long.
    ///
    /// # Errors
    /// When the pair is down or was never finished, or something ordered cannot be carried out, though the node answers.
    pub fn look(&mut self) -> Result<(), MirrorError> {
        let half_made = || MirrorError::HalfMade(self.home.folder().to_owned(), self.record.kind.clone());
        if self.record.made { self.looks() } else { Err(half_made()) }
    }

    fn looks(&mut self) -> Result<(), MirrorError> {
        if self.record.down {
            return Err(MirrorError::Down(self.home.folder().to_owned(), self.record.kind.clone()));
        }
        if self.record.pending.iter().any(|action| matches!(action, Action::Promote(_))) {
            // A mirror that is about to be promoted looks like a lost primary too.
            let _ = self.switch();
        }
        if self.life().state() == State::Swapping {
            // Roles that are about to change look like a lost primary; what goes wrong is seen below.
            let _ = self.go_on();
        }
        for _ in 0..EVENTS {
            let event = self.sees()?;
            event.map_or(Ok(()), |event| self.happened(event))?;
            // One who saw the loss may have been ended before he saw this.
            if self.is_taken_over()? {
                match self.happened(Event::TakeOver { accept_missing: false }) {
                    // Whoever is asked for it says what may be missing.
                    Err(MirrorError::Refused(_)) if event.is_none() => break,
                    taken => taken?,
                }
            } else if event.is_none() {
                break;
            }
            // What cannot be done because another node is gone by now has no meaning after the next event.
            let _ = self.switch();
        }
        self.sees_place();
        self.reads_left()?;
        if self.by_rows() && self.life().is_up(self.life().primary()) {
            self.resolve()?;
            self.sees_alone();
        }
        self.switch()?;
        self.measure()
    }

    /// Carries out what takes no time of all that is ordered.
    fn switch(&mut self) -> Result<(), MirrorError> {
        let (mut failed, mut at) = (Ok(()), 0);
        while let Some(action) = self.record.pending.get(at).copied() {
            let done = if is_moving(action) || failed.is_err() { None } else { Some(self.carry_out(action)) };
            match done {
                Some(Ok(told)) => {
                    self.record.pending.remove(at);
                    told.map_or(Ok(()), |event| self.happened(event))?;
                }
                Some(Err(error)) => (failed, at) = (Err(error), at + 1),
                None => at += 1,
            }
        }
        self.save()?;
        failed
    }

    /// The first thing that is otherwise than the life of the pair knows.
    fn sees(&mut self) -> Result<Option<Event>, MirrorError> {
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        for node in [primary, mirror] {
            // One that plays the other's part does not answer in its own.
            let asked = (self.silent != Some(node)).then(|| self.recovers(node));
            let answers = match asked {
                None => false,
                // Nobody waited for its answer.
                Some(Err(error @ MirrorError::Database(DatabaseError::Stopped))) => return Err(error),
                Some(recovers) => recovers.is_ok_and(|recovers| recovers == (node == mirror)),
            };
            let outvoted = answers && node == primary && self.is_outvoted();
            match (answers && !outvoted, self.life().is_up(node)) {
                (false, true) => {
                    if outvoted {
                        self.nodes.say(&format!(
                            "node {node} answers and has no majority, and node {mirror} goes on with the vote of the third: node {node} counts as lost"
                        ));
                    }
                    return Ok(Some(Event::Lost(node)));
                }
                (true, false) => return Ok(Some(Event::Back(node))),
                _ => {}
            }
        }
        if !self.life().is_up(primary) || self.by_rows() {
            return Ok(None);
        }
        match self.life().state() {
            State::Replicating | State::Comparing if self.life().is_up(mirror) && !self.streams()? => {
                Ok(Some(Event::Cut))
            }
            State::Tracking(..) | State::Resynchronising(_) if self.kept()?.is_none() => Ok(Some(Event::Full)),
            _ => Ok(None),
        }
    }

    /// Whether the mirror takes the log of its primary, now or within a while.
    pub(crate) fn streams(&mut self) -> Result<bool, MirrorError> {
        if self.by_sets() {
            return self.are_joined(AWAY_SECONDS);
        }
        let (primary, name) = (self.life().primary(), name(self.life().mirror()));
        // It reports each second: one that is silent is behind a link that carries nothing.
        let sql = format!(
            "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming' AND application_name = '{name}' \
             AND reply_time > clock_timestamp() - interval '{AWAY_SECONDS} s'"
        );
        self.comes_true(primary, AWAY_SECONDS, &sql)
    }

    /// Bytes of log that are kept for the mirror, and what is left of their room; none when the list is lost.
    pub(crate) fn kept(&mut self) -> Result<Option<(u64, u64)>, MirrorError> {
        if self.by_rows() {
            return self.row_kept().map(Some);
        }
        if self.by_sets() {
            return self.set_kept();
        }
        let (primary, name) = (self.life().primary(), name(self.life().mirror()));
        let sql = format!(
            "SELECT greatest(0, pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn))::text, safe_wal_size::text \
             FROM pg_replication_slots WHERE slot_name = '{name}' AND wal_status <> 'lost'"
        );
        let rows = self.nodes.ask(primary, "look at the log that it keeps", &sql)?;
        Ok(rows.first().map(|row| (row[0].parse().unwrap_or(0), row[1].parse().unwrap_or(0))))
    }

    /// Takes down how much waits for the mirror.
    fn measure(&mut self) -> Result<(), MirrorError> {
        let notes = matches!(self.life().state(), State::Tracking(..) | State::Resynchronising(_));
        if notes && self.by_rows() && self.life().is_up(self.life().primary()) {
            let event = self.row_measure()?;
            self.happened(event)?;
            return self.switch();
        }
        if notes
            && self.life().is_up(self.life().primary())
            && let Some((bytes, _)) = self.kept()?
        {
            self.happened(Event::Noted { bytes, objects: None })?;
        }
        Ok(())
    }

    /// Whether the mirror takes writes of its own.
    pub(crate) fn splits(&mut self) -> bool {
        if self.by_sets() {
            return self.both_lead();
        }
        let mirror = self.life().mirror();
        self.recovers(mirror).is_ok_and(|recovers| !recovers) && self.life().state() != State::Swapping
    }

    /// Whether what was ordered was cut off, or waits for somebody to go on with it.
    pub fn is_under_way(&self) -> bool {
        let state = self.life().state();
        matches!(state, State::Resynchronising(_) | State::Copying | State::Comparing | State::Swapping)
    }

    /// Goes on with what was cut off.
    fn go_on(&mut self) -> Result<(), MirrorError> {
        if !self.record.pending.iter().any(|action| is_moving(*action)) {
            let waits = Action::Wait(self.life().rule.waits);
            self.record.pending.extend(match self.life().state() {
                State::Resynchronising(_) => vec![Action::Send],
                State::Copying => vec![Action::Copy],
                State::Comparing => vec![waits, Action::Compare],
                State::Swapping => vec![Action::Exchange],
                _ => Vec::new(),
            });
        }
        self.work()
    }

    /// Does what was asked for; whatever goes wrong meanwhile is looked at, so that the state is right.
    fn asks(&mut self, event: Event) -> Result<(), MirrorError> {
        self.look()?;
        if self.splits() {
            return Err(MirrorError::Split(self.life().mirror()));
        }
        let done = self.tell(event);
        self.settled(done)
    }

    fn settled(&mut self, done: Result<(), MirrorError>) -> Result<(), MirrorError> {
        if done.as_ref().is_err_and(|error| !matches!(error, MirrorError::Refused(_))) {
            // The first reason says more than what follows from it.
            let _ = self.look();
        }
        done
    }

    /// The mirror stays behind from now on. One that is suspended already stays so.
    ///
    /// # Errors
    /// When the pair does not mirror, or a node does not do its part.
    pub fn suspend(&mut self) -> Result<(), MirrorError> {
        self.look()?;
        if matches!(self.life().state(), State::Tracking(..)) { Ok(()) } else { self.asks(Event::Suspend) }
    }

    /// The mirror gets what it lacks, both are compared, and the pair mirrors again. What was cut off is gone on with. A mirror
    /// that took writes of its own loses them only when `discards` says so.
    ///
    /// # Errors
    /// When the pair mirrors, a node is away, or the link is cut; when what was sent or compared broke off.
    pub fn resume(&mut self, discards: bool) -> Result<(), MirrorError> {
        self.look()?;
        if self.splits() {
            let mirror = self.life().mirror();
            if !discards {
                return Err(MirrorError::Split(mirror));
            }
            // The same that a promotion of ours is followed by: without it the node does not know on its disk that it was promoted.
            let _ = self.nodes.ask(mirror, "make a checkpoint", "CHECKPOINT");
            self.nodes.bar(mirror, true)?;
            if self.by_sets() {
                self.set_copy(mirror)?;
            }
            self.record.returns[mirror as usize] = true;
            self.record.follows = false;
            self.save()?;
            self.stands_by(mirror)?;
        }
        if self.is_under_way() {
            let done = self.go_on();
            return self.settled(done);
        }
        if matches!(self.life().state(), State::Unserved(_)) {
            return Err(Refusal::Away(self.life().primary()).into());
        }
        self.asks(Event::Resume)
    }

    /// How many sessions send at once what the mirror lacks, where rows are sent.
    pub fn in_parallel(&mut self, sessions: usize) {
        self.parallel = sessions;
    }

    /// A table that was left out is mirrored again: it is copied beside the load.
    ///
    /// # Errors
    /// When the pair is of another kind or does not mirror, or the table was not left out; and as [`Pair::resume`].
    pub fn add(&mut self, table: &str) -> Result<(), MirrorError> {
        if !self.by_rows() {
            return Err(MirrorError::AllMirrored(self.record.kind.clone()));
        }
        self.look()?;
        if self.life().state() != State::Replicating {
            return Err(Refusal::NotReplicating.into());
        }
        self.adds(table)?;
        self.asks(Event::Suspend)?;
        self.marks_added(table)?;
        self.asks(Event::Resume)
    }

    /// Both nodes change their roles; nothing is lost.
    ///
    /// # Errors
    /// When the pair does not mirror, tables that are left out have rows and that is not accepted, or the mirror does not get the last of
    /// the log.
    pub fn swap(&mut self, accept_missing: bool) -> Result<(), MirrorError> {
        if self.by_sets() {
            return Err(MirrorError::NoRoles);
        }
        if self.by_rows() {
            self.look()?;
            if self.life().state() == State::Replicating {
                self.says_alone(accept_missing)?;
            }
        }
        self.asks(Event::Swap)?;
        // Only now, since clients need not wait for it: a server that crashes before is hard to bring back as a mirror.
        self.checkpoint()
    }

    /// The mirror of a lost primary becomes the primary.
    ///
    /// # Errors
    /// When the primary answers, or something may be missing and that is not accepted.
    pub fn take_over(&mut self, accept_missing: bool) -> Result<(), MirrorError> {
        self.look()?;
        if matches!(self.life().state(), State::Unserved(_)) {
            self.says_missing();
            self.says_alone(accept_missing)?;
        }
        // In lock step each sequence is told with the commit that uses it.
        let told = matches!(self.life().before, Some(State::Replicating | State::Comparing));
        self.asks(Event::TakeOver { accept_missing })?;
        if self.by_rows() && !told {
            self.says_free_sequences()?;
        }
        self.checkpoint()
    }

    /// The link between both is cut.
    ///
    /// # Errors
    /// When a node does not do its part.
    pub fn cut(&mut self) -> Result<(), MirrorError> {
        self.isolates(true)?;
        self.asks(Event::Cut)
    }

    /// It carries again.
    ///
    /// # Errors
    /// When a node does not do its part.
    pub fn heal(&mut self) -> Result<(), MirrorError> {
        self.isolates(false)?;
        self.asks(Event::Healed)
    }

    /// Ends both nodes, so that the one that ends last has all.
    ///
    /// # Errors
    /// When one does not end, or somebody else started a server on its data.
    pub fn down(&mut self) -> Result<(), MirrorError> {
        Node::ALL.into_iter().try_for_each(|node| self.nodes.unoccupied(node))?;
        if !self.record.down {
            // Whatever is to be told of a node that went away before is told now; what cannot be done waits.
            let _ = self.look();
        }
        self.nodes.voter(None)?;
        let mut nodes = [self.life().primary(), self.life().mirror()];
        if self.by_sets() {
            // Who ends last has all, and founds the pair again.
            nodes.reverse();
        }
        nodes.into_iter().try_for_each(|node| self.nodes.end(node))?;
        self.record.down = true;
        self.save()
    }
}

/// What takes long, and has no meaning any more when the state is another.
fn is_moving(action: Action) -> bool {
    use Action::{Compare, Copy, Exchange, Rewind, Send};
    matches!(action, Send | Copy | Compare | Exchange | Rewind(_))
}
