//! A flash drive by rates, modules, transfer sizes and over an hour.

use super::build::*;
use analysis::*;
use observation::*;
use units::Nanos;

pub fn flash() -> Findings {
    let mut run = run("flash", "Flash characterisation", "What does this storage deliver, at most and sustained?");
    run.systems = vec![system("target", "file", "/mnt/flash", 4)];
    let mut findings = Findings { run, ..Findings::default() };
    rate_curve(&mut findings);
    modules(&mut findings);
    transfer(&mut findings, "service time by transfer size", 1.0);
    transfer(&mut findings, "service time off alignment", 1.34);
    sustained(&mut findings);
    findings.answer = vec![
        "At most 1.16 M random reads of 4 KiB a second over one minute, 32 outstanding on each of 4 modules.".into(),
        "Writes sustain 94.8 k/s, 43% of what they reach in the first minutes.".into(),
        "The generator was close to its own limit at 4 modules; the drive may do more.".into(),
    ];
    findings
}

fn add(findings: &mut Findings, at: At, seen: Seen, seconds: usize) -> u32 {
    let index = findings.points.len() as u32;
    let at = at.index(index);
    findings.points.push(point(&at, seen));
    findings.trials.push(trial(&at, seen, 5, seconds));
    index
}

fn rate_curve(findings: &mut Findings) {
    const NAME: &str = "rate curve";
    for (s, (stream, peak, half, knee)) in
        [("random-read", 412_000.0, 9.0, 64.0), ("random-write", 236_000.0, 3.5, 16.0)].into_iter().enumerate()
    {
        let mut curve = Vec::new();
        for i in 0..9 {
            let outstanding = f64::from(1 << i);
            let rate = peak * outstanding / (outstanding + half) * (1.0 + 0.008 * noise(i, s));
            let seen = Seen {
                throughput: rate,
                transfer: 4096.0,
                p50_ms: outstanding / rate * 930.0,
                tail: 1.5 + 0.25 * i as f64 + 0.7 * s as f64,
                spread: 0.008 + 0.004 * (noise(s, i) + 1.0),
                n: 5,
            };
            let index =
                add(findings, At::new(NAME, "target", stream).with("outstanding", count(outstanding)), seen, 30);
            curve.push((outstanding, findings.points[index as usize].throughput_per_s));
            if stream == "random-write" && i == 8 {
                let text = "p99 rose from 3.9 ms to 5.2 ms in the last round; measure longer or precondition";
                push_caveat(findings, index, caveat(CaveatKind::NotSteady, Some(index), text));
            }
        }
        findings.findings.push(Finding::Knee(Knee {
            point: At::new(NAME, "target", stream).point(),
            factor: "outstanding".into(),
            at: Some(Estimate { value: knee, low: knee, high: knee, n: 5, confidence: 0.95 }),
            scatters: false,
            peak_per_s: about(peak * 0.965, 0.012, 5),
            curve,
        }));
    }
}

fn push_caveat(findings: &mut Findings, index: u32, caveat: Caveat) {
    findings.trials[index as usize].caveats.push(caveat.clone());
    findings.points[index as usize].caveats.push(caveat);
}

fn modules(findings: &mut Findings) {
    const NAME: &str = "rates by modules";
    let streams: [(&str, f64, f64, f64); 5] = [
        ("random-read", 388_000.0, 4096.0, 0.79),
        ("random-write", 221_000.0, 4096.0, 0.55),
        ("half-and-half", 274_000.0, 4096.0, 0.63),
        ("sequential-read", 6_420.0, 1_048_576.0, 0.98),
        ("sequential-write", 3_905.0, 1_048_576.0, 0.87),
    ];
    for (s, (stream, one, transfer, efficiency)) in streams.into_iter().enumerate() {
        let mut curve = Vec::new();
        for (i, modules) in [1.0f64, 2.0, 4.0].into_iter().enumerate() {
            let rate = one * modules * efficiency.powf(modules.log2() / 2.0) * (1.0 + 0.006 * noise(s, i));
            let seen =
                Seen { throughput: rate, transfer, p50_ms: 32_000.0 * modules / rate, tail: 2.2, spread: 0.011, n: 4 };
            let index = add(findings, At::new(NAME, "target", stream).with("modules", count(modules)), seen, 60);
            curve.push((modules, findings.points[index as usize].throughput_per_s));
            if stream == "random-read" && i == 2 {
                let text = "the generator reached 91% of its own ceiling, 1.27 M/s; give it more workers";
                push_caveat(findings, index, caveat(CaveatKind::GeneratorBound, Some(index), text));
            }
        }
        findings.findings.push(Finding::Scaling(Scaling {
            point: At::new(NAME, "target", stream).point(),
            factor: "modules".into(),
            kind: if efficiency > 0.95 { ScalingKind::Linear } else { ScalingKind::Saturating },
            efficiency: about(efficiency, 0.014, 4),
            curve,
        }));
    }
}

fn transfer(findings: &mut Findings, name: &'static str, penalty: f64) {
    for (s, (stream, base, rate)) in
        [("random-read", 0.0781, 1.92e9), ("random-write", 0.0213, 1.31e9)].into_iter().enumerate()
    {
        let mut points = Vec::new();
        for i in 0..12 {
            let bytes = 512.0 * f64::from(1 << i);
            let moved = if s == 0 { bytes } else { (bytes / 4096.0).ceil() * 4096.0 };
            let ms = (base + moved / rate * 1e3) * penalty * (1.0 + 0.01 * noise(s + 3, i));
            let seen =
                Seen { throughput: 1e3 / ms, transfer: bytes, p50_ms: ms / 1.09, tail: 1.8, spread: 0.007, n: 3 };
            let index = add(findings, At::new(name, "target", stream).with("transfer", sized(bytes)), seen, 10);
            points.push((bytes, findings.points[index as usize].service_mean_ms));
        }
        findings.findings.push(Finding::ServiceFit(ServiceFit {
            point: At::new(name, "target", stream).point(),
            form: if s == 0 { ServiceForm::Affine } else { ServiceForm::Stepped },
            base_ms: about(base * penalty, 0.02, 12),
            rate_bytes_per_s: about(rate / penalty, 0.015, 12),
            step_bytes: (s == 1).then_some(4096),
            error: 0.0121 + 0.003 * s as f64,
            points,
        }));
    }
}

fn sustained(findings: &mut Findings) {
    let at = At::new("sustained", "target", "random-write").index(findings.points.len() as u32);
    let seen = Seen { throughput: 118_300.0, transfer: 4096.0, p50_ms: 0.266, tail: 7.4, spread: 0.021, n: 1 };
    let mut one = trial(&at, seen, 60, 3600);
    for (second, time) in one.timeline.iter_mut().enumerate() {
        let level =
            if second < 620 { 221_000.0 } else { 94_800.0 + 30_000.0 * (-(second as f64 - 620.0) / 90.0).exp() };
        time.throughput_per_s[0] = level * (1.0 + 0.03 * noise(second, 11)) * if second < 10 { 0.6 } else { 1.0 };
        time.p99_ms[0] = Some(if second < 620 { 0.42 } else { 1.93 } * (1.0 + 0.2 * noise(second, 12)));
    }
    one.events = vec![
        Event { at: Nanos::from_secs(620), kind: EventKind::Note, text: "write cache full".into() },
        Event { at: Nanos::from_secs(2410), kind: EventKind::Pause, text: "clock paused for 1.2 s".into() },
    ];
    let figures = Sustained {
        peak_per_s: 221_400.0,
        peak_window_s: 60.0,
        late_per_s: 94_800.0,
        burst: Some(Burst {
            before_per_s: 220_150.0,
            sustained_per_s: 94_750.0,
            credit_operations: 70_600_000.0,
            lasted_s: 563.0,
            p_value: 1e-9,
            apart: true,
        }),
        averages: [1.0, 10.0, 60.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0]
            .into_iter()
            .map(|window: f64| {
                (window, if window <= 600.0 { 224_000.0 - 8.0 * window } else { 94_750.0 + 70_600_000.0 / window })
            })
            .collect(),
    };
    one.streams[0].sustained = Some(figures.clone());
    one.streams[0].steady.answer = SteadyAnswer::Never;
    let mut whole = point(&at, seen);
    whole.steady = SteadyAnswer::Never;
    let text = "the rate fell by 57% within the window: five rounds never agreed";
    whole.caveats.push(caveat(CaveatKind::NotSteady, Some(at.index), text));
    one.caveats.clone_from(&whole.caveats);
    findings.findings.push(Finding::Sustained(SustainedFinding {
        point: at.point(),
        claim: Some(FallClaim::Credit),
        sustained: figures,
    }));
    findings.points.push(whole);
    findings.trials.push(one);
}
