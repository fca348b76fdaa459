//! What slows a processor down: its frequency, its temperature, and running on battery.

use std::fs;
use std::path::{Path, PathBuf};

use crate::scan;
use crate::source::Source;
use system::stack::children;

/// Gauges and counters of the processor's power.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Power {
    /// Mean frequency over the watched cores, Hz.
    pub frequency_hz: Option<f64>,
    /// Times that the watched cores and their packages throttled because of heat, since boot.
    pub thermal_throttles: Option<u64>,
    /// Whether mains power is on; none on machines without a battery or without a sign of it.
    pub mains: Option<bool>,
}

/// The files of the processor's power, open.
#[derive(Debug, Default)]
pub struct PowerSources {
    frequencies: Vec<Source>,
    throttles: Vec<Source>,
    mains: Vec<Source>,
}

/// Cores that are watched, evenly spread: asking each of hundreds would cost more than it tells.
const CORES_MAX: usize = 16;

impl PowerSources {
    /// Opens what is there below a sysfs root.
    pub fn open(sys: &Path) -> Self {
        let cores = spread(core_folders(sys).collect());
        let open = |name: &str| cores.iter().filter_map(|core| Source::open(core.join(name))).collect();
        let mut throttles: Vec<Source> = open("thermal_throttle/core_throttle_count");
        throttles.extend(cores.first().and_then(|c| Source::open(c.join("thermal_throttle/package_throttle_count"))));
        Self { frequencies: open("cpufreq/scaling_cur_freq"), throttles, mains: mains(sys) }
    }

    /// Reads all of it.
    pub fn read(&mut self) -> Power {
        let khz: Vec<u64> = self.frequencies.iter_mut().filter_map(number).collect();
        let throttles: Vec<u64> = self.throttles.iter_mut().filter_map(number).collect();
        let mains: Vec<u64> = self.mains.iter_mut().filter_map(number).collect();
        Power {
            frequency_hz: (!khz.is_empty()).then(|| khz.iter().sum::<u64>() as f64 * 1000.0 / khz.len() as f64),
            thermal_throttles: (!throttles.is_empty()).then(|| throttles.iter().sum()),
            mains: (!mains.is_empty()).then(|| mains.iter().any(|online| *online > 0)),
        }
    }
}

fn number(source: &mut Source) -> Option<u64> {
    scan::numbers(source.read()?).next()
}

/// The folders of all cores, online or not.
pub(crate) fn core_folders(sys: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let is_core = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.strip_prefix("cpu").is_some_and(|number| number.parse::<u32>().is_ok())
    };
    children(&sys.join("devices/system/cpu")).filter(is_core)
}

fn spread(all: Vec<PathBuf>) -> Vec<PathBuf> {
    let step = all.len().div_ceil(CORES_MAX).max(1);
    all.into_iter().step_by(step).collect()
}

/// The signs of outside power, on a machine that has a battery of its own: without one there is nothing to tell, and
/// an empty port of a server is no lack of power.
fn mains(sys: &Path) -> Vec<Source> {
    let text = |supply: &Path, name: &str| fs::read_to_string(supply.join(name)).unwrap_or_default();
    // A mouse or a headset shows up as a battery with the scope of a device.
    let own_battery = |s: &PathBuf| text(s, "type").trim() == "Battery" && text(s, "scope").trim() != "Device";
    let supplies: Vec<PathBuf> = children(&sys.join("class/power_supply")).collect();
    if !supplies.iter().any(own_battery) {
        return Vec::new();
    }
    let outside = supplies.iter().filter(|supply| matches!(text(supply, "type").trim(), "Mains" | "USB"));
    outside.filter_map(|supply| Source::open(supply.join("online"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_laptop_on_battery_with_two_cores_is_seen_as_such() {
        let sys = tempfile::tempdir().unwrap();
        put(sys.path(), "devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "800000\n");
        put(sys.path(), "devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "1200000\n");
        put(sys.path(), "devices/system/cpu/cpufreq/boost", "1\n");
        put(sys.path(), "devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "3\n");
        put(sys.path(), "devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "4\n");
        put(sys.path(), "class/power_supply/AC/type", "Mains\n");
        put(sys.path(), "class/power_supply/AC/online", "0\n");
        put(sys.path(), "class/power_supply/BAT0/type", "Battery\n");
        let expected = Power { frequency_hz: Some(1e9), thermal_throttles: Some(7), mains: Some(false) };
        assert_eq!(PowerSources::open(sys.path()).read(), expected);
    }

    #[test]
    fn an_empty_port_of_a_machine_without_a_battery_says_nothing() {
        let sys = tempfile::tempdir().unwrap();
        put(sys.path(), "class/power_supply/ucsi0/type", "USB\n");
        put(sys.path(), "class/power_supply/ucsi0/online", "0\n");
        put(sys.path(), "class/power_supply/mouse/type", "Battery\n");
        put(sys.path(), "class/power_supply/mouse/scope", "Device\n");
        assert_eq!(PowerSources::open(sys.path()).read().mains, None);
    }

    #[test]
    fn a_machine_that_shows_nothing_is_not_observed() {
        let sys = tempfile::tempdir().unwrap();
        assert_eq!(PowerSources::open(sys.path()).read(), Power::default());
    }
}
