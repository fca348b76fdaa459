//! `prony ceiling`: what the load generator itself can do on this machine.

use crate::Outcome;
use crate::args::Ceiling;
use crate::failure::Failure;
use crate::output;
use std::fmt::Write as _;
use units::Nanos;

/// Measures and prints the generator's own figures.
pub fn run(asked: &Ceiling) -> Result<Outcome, Failure> {
    let ceiling = engine::measure_ceiling().map_err(|e| Failure::caused("measuring the load generator", &e))?;
    if asked.json {
        output::print_json(&report::ceiling_json(&ceiling))?;
    } else {
        output::print(&text(&ceiling))?;
    }
    Ok(Outcome::Fine)
}

fn text(ceiling: &observation::Ceiling) -> String {
    let rate = 1e9 / ceiling.null_operation_ns.max(1e-3);
    let mut text = String::from("The load generator on this machine, against a system that answers at once:\n");
    let ns = |value: f64| format!("{} ns", units::significant(value));
    let late = units::duration(Nanos(ceiling.lateness_p99_ns.max(0.0) as u64));
    let _ =
        writeln!(text, "  one operation       {} ({} on one worker)", ns(ceiling.null_operation_ns), units::rate(rate));
    let _ = writeln!(text, "  one clock reading   {}", ns(ceiling.clock_read_ns));
    let _ = writeln!(text, "  lateness p99        {late} (open load, sleeping between arrivals)");
    let _ = writeln!(text, "  open rate error     {}%", units::significant(ceiling.open_rate_error_pct));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_stands_in_the_text() {
        let ceiling = observation::Ceiling {
            null_operation_ns: 41.5,
            clock_read_ns: 7.25,
            lateness_p99_ns: 61_300.0,
            open_rate_error_pct: 0.034,
        };
        insta::assert_snapshot!(text(&ceiling), @r"
        The load generator on this machine, against a system that answers at once:
          one operation       41.5 ns (24.1 M/s on one worker)
          one clock reading   7.25 ns
          lateness p99        61.3 us (open load, sleeping between arrivals)
          open rate error     0.034%
        ");
    }
}
