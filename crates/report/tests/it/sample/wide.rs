//! File work n-wide, bare against virtual.

use super::build::*;
use analysis::*;
use observation::Provenance;
use study::{Direction, Metric};

const WIDTHS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 96.0];

pub fn wide() -> Findings {
    let mut run = run("wide", "File work, n-wide", "What does file work cost when it runs n-wide, here and there?");
    run.systems = vec![system("bare", "file", "/mnt/bare", 1), system("virtual", "file", "/mnt/virtual", 1)];
    let mut findings = Findings { run, ..Findings::default() };
    for (s, name) in ["bare", "virtual"].into_iter().enumerate() {
        system_points(&mut findings, s, name);
    }
    predicted(&mut findings);
    findings.findings = WIDTHS.iter().enumerate().map(|(i, width)| comparison(i, *width)).collect();
    findings.findings.push(Finding::Threshold(ThresholdOutcome {
        needs: None,
        text: "elapsed > 300 s".into(),
        metric: Metric::Elapsed,
        at: "virtual, width 96".into(),
        value: Some(about(312.4, 0.03, 4)),
        state: ThresholdState::Failed,
    }));
    findings.caveats.push(caveat(
        CaveatKind::SharedDevice,
        None,
        "both systems are on nvme0n1; they ran in turn, but share its burst credit",
    ));
    findings.answer = vec![
        "The virtual machine takes 1.18 times as long as bare metal at width 96 (1.15 to 1.22): worse.".into(),
        "Up to width 8 the two are equivalent within 5%. Both systems share a device.".into(),
    ];
    findings
}

fn system_points(findings: &mut Findings, s: usize, name: &'static str) {
    for (i, width) in WIDTHS.into_iter().enumerate() {
        let slow = if s == 0 { 1.0 } else { 1.01 + 0.0018 * width };
        let elapsed = (8.4 + 2.55 * width.max(4.0)) * slow * (1.0 + 0.01 * noise(s, i));
        let index = findings.points.len() as u32;
        let at = At::new("copies", name, "files").with("width", count(width)).index(index);
        let seen = Seen {
            throughput: width * 30.0 / elapsed,
            transfer: 1e7,
            p50_ms: elapsed * 9.0,
            tail: 2.1,
            spread: 0.02,
            n: 4,
        };
        let mut one = point(&at, seen);
        one.elapsed_s = Some(about(elapsed, 0.012 + 0.004 * noise(i, s + 4).abs(), 4));
        one.cpu_elapsed_s = Some(about(elapsed * (0.9 + 0.1 * slow) * 0.21, 0.015, 4));
        one.disk_utilisation = Some(about((0.22 + 0.11 * (i as f64)).min(0.985), 0.01, 4));
        one.disk_wait_ms = Some(about(0.31 * 1.62f64.powi(i as i32) * slow, 0.05, 4));
        one.steady = SteadyAnswer::TooShort;
        if s == 1 && i >= 6 {
            one.caveats.push(caveat(
                CaveatKind::Steal,
                Some(index),
                "the hypervisor took 4.2% of the CPU time in the window",
            ));
        }
        let mut run = trial(&at, seen, 0, elapsed as usize);
        run.fixed_work = true;
        run.elapsed_s = elapsed;
        run.caveats.clone_from(&one.caveats);
        findings.points.push(one);
        findings.trials.push(run);
    }
}

/// The same sweep from a model, to see that it is never drawn like a measurement.
fn predicted(findings: &mut Findings) {
    for (i, width) in WIDTHS.into_iter().enumerate() {
        let at = At::new("copies", "model", "files").with("width", count(width)).index(90 + i as u32);
        let elapsed = 8.0 + 2.4 * width.max(4.0);
        let seen = Seen {
            throughput: width * 30.0 / elapsed,
            transfer: 1e7,
            p50_ms: elapsed * 9.0,
            tail: 2.0,
            spread: 0.0,
            n: 1,
        };
        let mut one = point(&at, seen);
        one.provenance = Provenance::Simulated;
        one.elapsed_s = Some(Estimate::single(elapsed));
        one.cpu_elapsed_s = Some(Estimate::single(elapsed * 0.2));
        (one.disk_utilisation, one.disk_wait_ms) = (None, None);
        findings.points.push(one);
    }
}

pub fn comparison(i: usize, width: f64) -> Finding {
    let ratio = 1.01 + 0.0018 * width + 0.003 * noise(i, 9);
    let half = 0.028;
    let (low, high) = (ratio - half, ratio + half);
    let verdict = match () {
        () if low > 1.0 => Verdict::Worse,
        () if low > 0.95 && high < 1.05 => Verdict::Equivalent,
        () => Verdict::Inconclusive,
    };
    Finding::Comparison(Comparison {
        point: At::new("copies", "virtual", "files").with("width", count(width)).point(),
        baseline: "bare".into(),
        metric: "elapsed".into(),
        said: "elapsed time".into(),
        primary: width == 96.0,
        direction: Direction::LowerIsBetter,
        ratio: Estimate { value: ratio, low, high, n: 4, confidence: 0.95 },
        margin: 0.05,
        detectable: Some(0.041),
        interleaved: true,
        adjusted: width != 96.0,
        p_value: 0.0004 + 0.01 * (8 - i) as f64,
        verdict,
        reason: (verdict == Verdict::Inconclusive)
            .then(|| "the interval is wider than the margin; 9 pairs would decide it".to_owned()),
        because: (verdict == Verdict::Inconclusive).then(|| "its interval holds 1".to_owned()),
    })
}
