//! A general array from the parameters of its kind.

use super::array::General;
use super::changes::Change;
use super::paths::Policy;
use super::spec::{Cache, Modules, Rebuild, Spec, SpecError};
use crate::array::raid::{Level, Stripe};
use crate::asked::Values;
use crate::station::Share;
use units::Nanos;

impl General {
    /// The array of a model, with what has failed in it before anything begins and the loss of power that is planned.
    ///
    /// # Errors
    /// When its parts make no sense.
    pub fn of(values: &Values, slots: u32, seed: u64) -> Result<General, SpecError> {
        let mut array = General::new(spec(values), slots, seed)?;
        let count = |name: &str| values.of(name) as u32;
        (0..count("failed_paths")).for_each(|path| array.plan(Nanos::ZERO, Change::PathLost(path)));
        let controllers = count("controllers");
        for controller in controllers - count("failed_controllers")..controllers {
            array.plan(Nanos::ZERO, Change::ControllerLost(controller));
        }
        for number in 0..count("failed_modules") {
            let (group, member) = array.spec.place(number);
            array.plan(Nanos::ZERO, Change::ModuleLost { group, member });
        }
        if values.of("power_loss") > 0.0 {
            let ns = |name: &str| Nanos::from_seconds(values.of(name));
            array.power_loss(ns("power_loss_at"), ns("power_loss"));
        }
        Ok(array)
    }
}

/// A second, in nanoseconds.
const S: f64 = 1e9;

/// The array that the parameters describe.
pub(crate) fn spec(values: &Values) -> Spec {
    let count = |name: &str| values.of(name) as u32;
    let ns = |name: &str| libm::round(1e3 * values.of(name)) as u64;
    let each = |name: &str| libm::round(S / values.of(name)) as u64;
    let bytes = |name: &str| 1e6 * values.of(name);
    let failed = count("failed_channels").min(count("channels"));
    let mut stripe = Stripe::new(count("channels"));
    (0..failed).for_each(|_| {
        stripe.lose();
    });
    let [slow_read, slow_write] = [stripe.reading(), stripe.writing()];
    let fixed = |name: &str, slower: f64| libm::round(1e3 * values.of(name) * slower) as u64;
    Spec {
        host: (count("host_processors"), ns("host_time")),
        processors: (count("io_processors"), ns("io_time")),
        paths: count("paths"),
        policy: [Policy::RoundRobin, Policy::LeastQueue, Policy::Preferred][count("policy").min(2) as usize],
        waits: values.of("waits") > 0.0,
        channel_ns: each("channel_operations"),
        port_ns: each("port_operations"),
        link_bytes_per_s: bytes("link_speed"),
        link_km: values.of("distance_km"),
        controllers: count("controllers"),
        controller: (count("controller_processors"), ns("controller_time")),
        shares: shares(values),
        cache: Cache {
            read_hits: values.of("read_hits"),
            write_bytes: bytes("write_cache") as u64,
            high: values.of("high_watermark"),
            low: values.of("low_watermark"),
            destages: count("destages"),
            mirror_bytes_per_s: bytes("mirror_speed"),
        },
        groups: count("groups"),
        level: Level::of(count("level")).unwrap_or(Level::Raid5),
        members: count("members"),
        unit_bytes: (1_024.0 * values.of("stripe_unit")) as u32,
        // A narrower stripe stands in the times, so that a spare of a rebuild is no whole module among narrower ones.
        modules: Modules {
            overlap: count("module_overlap"),
            fixed_ns: [fixed("read_fixed", slow_read), fixed("write_fixed", slow_write)],
            byte_ns: [
                1e3 / values.of("module_read_speed") * slow_read,
                1e3 / values.of("module_write_speed") * slow_write,
            ],
            variation: values.of("variation"),
            channels: if failed == 0 { count("channels") } else { 1 },
            head_start_ns: libm::round(1e6 * values.of("head_start")) as u64,
        },
        rebuild: Rebuild {
            module_bytes: (1e9 * values.of("module_size")) as u64,
            bytes_per_s: bytes("rebuild_speed"),
            rows: count("rebuild_rows"),
            spares: if values.of("rebuilding") > 0.0 { count("failed_modules") } else { 0 },
        },
    }
}

/// Classes of operations are reads, writes and the rest; where none is set apart there is one for all.
fn shares(values: &Values) -> Vec<Share> {
    let plain = Share { weight: 1.0, cap: 1.0 };
    let writes = Share { weight: values.of("write_weight"), cap: values.of("write_cap") };
    if writes == plain { vec![plain] } else { vec![plain, writes, plain] }
}
