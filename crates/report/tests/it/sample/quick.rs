//! A first look: few points, one system.

use super::build::*;
use analysis::*;

pub fn quick() -> Findings {
    let mut run = run("quick", "A first look", "What does this storage do, in about a minute?");
    run.systems = vec![system("here", "file", "/home/ada/scratch", 1)];
    let seen = |throughput, transfer, p50_ms, tail| Seen { throughput, transfer, p50_ms, tail, spread: 0.013, n: 1 };
    let mut points = Vec::new();
    let mut trials = Vec::new();
    let mut add = |at: At, what: Seen| {
        let at = at.index(points.len() as u32);
        points.push(point(&at, what));
        trials.push(trial(&at, what, 1, 4));
    };
    add(At::new("latency", "here", "random-read"), seen(9_812.0, 4096.0, 0.0984, 1.71));
    for (i, outstanding) in [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0].into_iter().enumerate() {
        let rate = 412_000.0 * outstanding / (outstanding + 16.0) * (1.0 + 0.01 * noise(i, 1));
        let at = At::new("rate curve", "here", "random-read").with("outstanding", count(outstanding));
        add(at, seen(rate, 4096.0, outstanding / rate * 1e3 * 0.94, 1.6 + 0.2 * i as f64));
    }
    add(At::new("sequential", "here", "sequential-read"), seen(2_611.0, 1_048_576.0, 3.05, 1.9));
    add(At::new("sequential", "here", "sequential-write"), seen(1_487.0, 1_048_576.0, 5.31, 2.4));
    add(At::new("sync writes", "here", "sync-write"), seen(1_903.0, 4096.0, 0.507, 3.3));
    points[10].caveats.push(caveat(
        CaveatKind::ThinTail,
        Some(10),
        "76 samples lie beyond p99, 100 are wanted; measure longer",
    ));
    trials[10].caveats = points[10].caveats.clone();
    Findings {
        run,
        trials,
        findings: vec![Finding::Knee(Knee {
            point: At::new("rate curve", "here", "random-read").point(),
            factor: "outstanding".into(),
            at: Some(Estimate { value: 32.0, low: 32.0, high: 32.0, n: 3, confidence: 0.95 }),
            scatters: false,
            peak_per_s: points[7].throughput_per_s,
            curve: points[1..8]
                .iter()
                .map(|p| (p.at.factors[0].level.number().unwrap_or(0.0), p.throughput_per_s))
                .collect(),
        })],
        points,
        caveats: vec![caveat(CaveatKind::FewReplicates, None, "one replicate a point: intervals are over the time of one trial")],
        answer: vec![
            "A flash drive that answers a 4 KiB read in 98.4 us and serves at most 330 k/s; the curve bends at 32 outstanding.".into(),
            "A write made durable takes 507 us. One replicate each, so take differences below 10% as noise.".into(),
        ],
        ..Findings::default()
    }
}
