//! A relay: who listens, whom it connects to, and what all its connections share.

use crate::connection::Connection;
use crate::network::{Address, Listener, Stream, is_socket};
use crate::path::{Choice, Paths, Told, Travel, Way};
use crate::seal::Sealed;
use crate::{cost, locked};
use recorder::{Clock, WallClock};
use std::io::Result;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;
use study::Wire;
use units::Nanos;

/// How often one who waits for a path looks.
const LOOK: Duration = Duration::from_millis(5);

/// The most that is taken off a delay. Where threads wake up later, the machine is busy now and may be idle soon: a delay is rather too
/// long for a while than too short for good.
pub const LATEST: Nanos = Nanos::from_micros(100);

/// What a relay is started with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it listens; port 0 takes a free one.
    pub listen: Address,
    /// Whom it connects to for each connection.
    pub to: Address,
    /// Its paths, the first of which is preferred. At least one.
    pub paths: Vec<Wire>,
    /// Which path a connection takes.
    pub choice: Choice,
    /// How long a sender waits before it sends over another path what a cut one lost.
    pub failover: Nanos,
    /// Seed of the jitter.
    pub seed: u64,
}

/// One who hears what is carried: the number of its connection, whether it goes there, when it came, and its bytes.
pub type Tap = Arc<dyn Fn(u64, bool, Nanos, &[u8]) + Send + Sync>;

/// Bytes and pieces of one direction.
#[derive(Default)]
pub(crate) struct Traffic {
    bytes: AtomicU64,
    pieces: AtomicU64,
    /// How long all pieces were held here together, nanoseconds.
    held_ns: AtomicU64,
}

impl Traffic {
    pub(crate) fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.pieces.fetch_add(u64::from(bytes > 0), Ordering::Relaxed);
    }

    pub(crate) fn held(&self, time: Nanos) {
        self.held_ns.fetch_add(time.0, Ordering::Relaxed);
    }

    fn read(&self) -> (u64, u64) {
        (self.bytes.load(Ordering::Relaxed), self.pieces.load(Ordering::Relaxed))
    }
}

/// What all connections share.
pub(crate) struct Hub {
    pub(crate) clock: WallClock,
    pub(crate) paths: Mutex<Paths>,
    pub(crate) traffic: [Traffic; 2],
    /// How late a thread that slept finds what has come, nanoseconds.
    pub(crate) own_ns: AtomicU64,
    pub(crate) stop: AtomicBool,
    /// Whether a connection stays awake.
    pub(crate) awake: AtomicBool,
    pub(crate) tap: Option<Tap>,
    pub(crate) served: AtomicU64,
    connections: Mutex<Vec<Arc<Connection>>>,
}

impl Hub {
    /// Ends all connections: both ends see it.
    fn end_all(&self) {
        locked(&self.connections).iter().for_each(|connection| connection.end());
    }

    /// Everybody who waits looks at the paths again.
    fn look(&self) {
        locked(&self.connections).iter().for_each(|connection| connection.look());
    }

    /// Whether a piece of that path and way needs no clock.
    pub(crate) fn is_plain(&self, path: usize, way: Way) -> bool {
        locked(&self.paths).is_plain(path, way)
    }

    /// Sends a piece that came then.
    pub(crate) fn send(&self, came: Nanos, path: usize, way: Way, bytes: usize) -> Travel {
        locked(&self.paths).send(came, path, way, bytes)
    }

    /// Sends a piece again whose path was cut under it.
    pub(crate) fn hold(&self, travel: &mut Travel, way: Way, bytes: usize) {
        let mut paths = locked(&self.paths);
        if !paths.holds(*travel, way) {
            *travel = paths.send(self.clock.now(), travel.path, way, bytes);
        }
    }

    /// The path of a new connection, once one carries, and what it is like.
    fn path(&self) -> Option<(usize, Wire)> {
        loop {
            let mut paths = locked(&self.paths);
            let chosen = paths.choose();
            let path = &mut paths.all[chosen];
            if [Way::There, Way::Back].iter().all(|way| path.carries(*way)) {
                path.connections += 1;
                return Some((chosen, path.shape));
            }
            drop(paths);
            if self.stop.load(Ordering::Acquire) {
                return None;
            }
            sleep(LOOK);
        }
    }

    /// Serves a connection until both of its directions have ended.
    fn serve(&self, near: Stream, to: &Address) -> Result<()> {
        let Some((path, shape)) = self.path() else { return Ok(()) };
        let sealed = if shape.tls { Some(Sealed::agreed()?) } else { None };
        // Whoever connects over a long wire waits for a round trip, and for another one until both have agreed on their keys.
        let round_trips = if shape.tls { 2 } else { 1 };
        sleep(Duration::from_nanos(round_trips * 2 * shape.delay.0));
        let connected = Stream::connect(to).and_then(|far| Connection::new(self, near, far)).map(Arc::new);
        let ended = connected.map(|connection| {
            locked(&self.connections).push(connection.clone());
            connection.carry(self, path, sealed.as_ref());
            locked(&self.connections).retain(|other| !Arc::ptr_eq(other, &connection));
        });
        locked(&self.paths).all[path].connections -= 1;
        ended
    }
}

/// A relay that runs until it is dropped.
pub struct Relay {
    hub: Arc<Hub>,
    address: Address,
    accepts: Option<JoinHandle<()>>,
    ended: AtomicBool,
}

impl Relay {
    /// Starts a relay, and measures what it takes itself.
    ///
    /// # Errors
    /// It cannot listen.
    pub fn start(settings: &Settings) -> Result<Relay> {
        let relay = Relay::unmeasured(settings)?;
        relay.take_off(cost::queued()?.min(LATEST));
        Ok(relay)
    }

    /// As [`Relay::start`], with one who hears everything, and without taking anything off a delay. Moments count from the start.
    ///
    /// # Errors
    /// It cannot listen.
    pub fn tapped(settings: &Settings, tap: Tap) -> Result<Relay> {
        Relay::begun(settings, Some(tap))
    }

    /// As [`Relay::start`], without taking anything off a delay.
    pub(crate) fn unmeasured(settings: &Settings) -> Result<Relay> {
        Relay::begun(settings, None)
    }

    fn begun(settings: &Settings, tap: Option<Tap>) -> Result<Relay> {
        let listener = Listener::bind(&settings.listen)?;
        let address = listener.address()?;
        let hub = Arc::new(Hub {
            clock: WallClock::new(),
            paths: Mutex::new(Paths::new(&settings.paths, settings.choice, settings.failover, settings.seed)),
            traffic: Default::default(),
            own_ns: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            awake: AtomicBool::new(false),
            tap,
            served: AtomicU64::new(0),
            connections: Mutex::default(),
        });
        let (serving, to) = (hub.clone(), settings.to.clone());
        let accept = move || {
            while let Ok(near) = listener.accept()
                && !serving.stop.load(Ordering::Acquire)
            {
                let (hub, to) = (serving.clone(), to.clone());
                // Whoever cannot be served sees that the connection ends.
                std::thread::spawn(move || hub.serve(near, &to));
            }
        };
        let accepts = Some(std::thread::Builder::new().name("link".into()).spawn(accept)?);
        Ok(Relay { hub, address, accepts, ended: AtomicBool::new(false) })
    }

    /// Where it listens.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// How late it finds what has come while its thread slept; that is taken off the delay.
    pub fn own(&self) -> Nanos {
        Nanos(self.hub.own_ns.load(Ordering::Relaxed))
    }

    /// What comes while its thread sleeps has been there for so long.
    pub(crate) fn take_off(&self, own: Nanos) {
        self.hub.own_ns.store(own.0, Ordering::Relaxed);
    }

    /// Its paths, and bytes and pieces that it handed over there and back.
    pub fn told(&self) -> (Vec<Told>, [(u64, u64); 2]) {
        (locked(&self.hub.paths).told(), [self.hub.traffic[0].read(), self.hub.traffic[1].read()])
    }

    /// How long pieces were held in all, there and back, from when they were read until they were handed over.
    pub fn held(&self) -> [Nanos; 2] {
        [0, 1].map(|way| Nanos(self.hub.traffic[way].held_ns.load(Ordering::Relaxed)))
    }

    /// Gives a path another shape. What is on its way arrives as it was to.
    pub(crate) fn shape(&self, number: usize, shape: Wire) {
        locked(&self.hub.paths).all[number].shape = shape;
    }

    /// Lets a path carry there and back, or not. Paths count from 0.
    pub fn carry(&self, number: usize, carries: [bool; 2]) {
        locked(&self.hub.paths).set(self.hub.clock.now(), number, carries);
        self.hub.look();
    }

    /// Says that it is to end; whoever serves it looks at [`Relay::is_ended`].
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Release);
    }

    /// Whether it was told to end.
    pub fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Ends all connections; new ones are taken.
    pub(crate) fn reset(&self) {
        self.hub.end_all();
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.hub.stop.store(true, Ordering::Release);
        // Wakes who accepts; where its socket was removed, nobody can, and it is left behind.
        let woken = Stream::connect(&self.address).is_ok();
        self.hub.end_all();
        if let Some(accepts) = self.accepts.take().filter(|_| woken) {
            let _ = accepts.join();
        }
        if let Address::Unix(path) = &self.address {
            // What somebody put there meanwhile is not ours.
            let _ = is_socket(path).then(|| std::fs::remove_file(path));
        }
    }
}

#[cfg(test)]
#[path = "tests/relay.rs"]
mod tests;
