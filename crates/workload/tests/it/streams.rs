//! The numbers that a saved seed stands for: a run that is repeated from its file must ask for the same again, and a data set
//! that was filled by an earlier version must be the one that this version would fill.

use std::sync::Arc;
use units::{Bytes, Nanos, Share};
use workload::block::{DataPool, DataShape, Generator, Hotspot, Offsets, Pattern, Spec, Transfer, fill};
use workload::brokerage::{self, Brokerage, Market, Preset, Scale, schema};
use workload::dataset::Contents;
use workload::transaction::{Answers, Batch, Begun, Business};
use workload::{rows, sql};

/// FNV-1a over whatever was asked for, as text.
#[derive(Debug)]
struct Sum(u64);

impl Sum {
    fn new() -> Sum {
        Sum(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    }
}

fn block(pattern: Pattern, offsets: Offsets, sizes: &[u64]) -> Spec {
    Spec {
        pattern,
        offsets,
        transfers: sizes.iter().map(|size| Transfer { size: Bytes(*size), weight: 1.5 }).collect(),
        read: Share(0.7),
        write_transfers: Vec::new(),
        trims: Share(0.0),
        shift: Bytes(0),
        start: Bytes(0),
        range: Share(1.0),
        data: DataShape { compressible: Share(0.25), duplicate: Share(0.25), ..DataShape::default() },
    }
}

/// The first thousand operations of each of two modules, all that follows from them added up.
fn operations(spec: &Spec) -> u64 {
    let mut generator = Generator::new(spec, 2, Bytes(1 << 30), 42, 1, 3).unwrap();
    let mut sum = Sum::new();
    for n in 0..2_000u32 {
        let one = generator.next(n % 2);
        let class = one.class;
        sum.add(&format!("{class} {} {} {};", one.module, one.offset, one.bytes));
    }
    sum.0
}

#[test]
fn operations_of_blocks_are_those_of_their_seed() {
    let hot = Hotspot { operations: Share(0.9), blocks: Share(0.1) };
    let seen = [
        operations(&block(Pattern::Random, Offsets::Uniform, &[4_096])),
        operations(&block(Pattern::Random, Offsets::Uniform, &[4_096, 16_384, 65_536])),
        operations(&block(Pattern::Random, Offsets::Zipf { exponent: 0.99 }, &[4_096])),
        operations(&block(Pattern::Random, Offsets::Hotspot(hot), &[4_096, 8_192])),
        operations(&block(Pattern::RandomOnce, Offsets::Uniform, &[4_096])),
        operations(&block(Pattern::Sequential, Offsets::Uniform, &[4_096, 16_384])),
    ];
    assert_eq!(
        seen,
        [
            6_365_481_538_794_116_577,
            12_067_063_414_035_048_994,
            16_230_751_848_456_308_624,
            13_776_924_824_479_393_536,
            15_558_526_918_028_214_604,
            1_687_658_091_443_324_716
        ]
    );
}

#[test]
fn written_data_is_that_of_its_seed() {
    let pool = DataPool::new(42, DataShape { compressible: Share(0.25), ..DataShape::default() });
    let (mut data, mut sum) = (vec![0; 4_096], Sum::new());
    for place in 0..64u64 {
        fill(&mut data, 1, place * 4_096, place % 3, &pool);
        sum.bytes(&data);
    }
    assert_eq!(sum.0, 12_614_687_734_322_500_964);
}

/// All rows of all tables of a small house.
fn house(preset: Preset) -> u64 {
    let (scale, mut row, mut sum) = (Scale { preset, customers: 60, days: 1 }, Vec::new(), Sum::new());
    for table in schema::tables(preset) {
        let mut rows = brokerage::data_set::seeded(scale, 42).part(table, 0, 1);
        while rows.next(&mut row) {
            sum.add(&format!("{row:?}"));
        }
    }
    sum.0
}

#[test]
fn the_rows_of_a_brokerage_house_are_those_of_its_seed() {
    assert_eq!([house(Preset::Desk), house(Preset::House)], [4_162_508_403_216_524_080, 10_474_320_159_820_169_270]);
}

/// Classes and first calls of so many arrivals.
fn asked(business: &mut dyn Business, arrivals: u64) -> u64 {
    let (mut batch, mut sum) = (Batch::default(), Sum::new());
    for n in 0..arrivals {
        sum.add(&business.class(n, 0).to_string());
        business.begin(0, Begun { n, payload: 0, at: Nanos::ZERO });
        batch.clear();
        let step = business.step(0, &Answers::default(), &mut batch);
        sum.add(&format!("{step:?}"));
        batch.calls().for_each(|call| sum.add(&format!("{call:?}")));
    }
    sum.0
}

#[test]
fn transactions_of_a_brokerage_house_are_those_of_their_seed() {
    let spec = |preset| brokerage::Spec {
        preset,
        customers: 60,
        days: 1,
        market: Market::ByTime,
        maintenance: true,
        procedures: false,
    };
    let seen = [Preset::Desk, Preset::House].map(|preset| {
        let mut one = Brokerage::new(spec(preset), 42, 0, 1, 1, 1);
        asked(&mut one, 500)
    });
    assert_eq!(seen, [9_255_750_001_588_637_718, 3_277_714_380_611_516_294]);
}

#[test]
fn draws_of_scripts_are_those_of_their_seed() {
    let text = "\\set a random(1, 1000000)\n\\set b random_gaussian(1, 1000000, 2.5)\n\
                \\set c random_exponential(1, 1000000, 3.0)\n\\set d random_zipfian(1, 1000000, 1.2)\n\
                \\set e permute(:a, 1000000)\n\\set f hash(:b)\nSELECT :a, :b, :c, :d, :e, :f;\n";
    let script = |name: &str, weight| sql::Script { name: name.to_owned(), text: text.to_owned(), weight };
    let spec =
        sql::Spec { scripts: vec![script("one", 3), script("two", 2)], define: vec![], scale: 10, textual: false };
    let program = Arc::new(sql::Program::build(&spec).unwrap_or_else(|problems| panic!("{problems:?}")));
    assert_eq!(asked(&mut sql::Scripts::new(program, 42, [5]), 500), 2_577_927_698_053_429_835);
}

#[test]
fn rows_of_batch_jobs_are_always_the_same() {
    let spec = rows::Spec {
        jobs: 2,
        rows_per_job: 200,
        row_bytes: 128,
        commit_every: 1,
        total: None,
        mode: rows::Mode::Update(rows::Update::default()),
    };
    let (mut row, mut sum) = (Vec::new(), Sum::new());
    for table in rows::tables(&spec) {
        let mut rows = Contents::part(&spec, &table.name, 0, 1);
        while rows.next(&mut row) {
            sum.add(&format!("{row:?}"));
        }
    }
    assert_eq!(sum.0, 16_552_664_801_908_580_926);
}

/// They are schemas on servers of users.
#[test]
fn names_of_data_sets_are_those_that_were_given_before() {
    let name = |kind: &str, facts: &[(&str, &str)]| {
        let all = [&[("kind", kind)], facts].concat();
        let fact = |name: &str| Some(all.iter().find(|(known, _)| *known == name)?.1.to_owned());
        workload::data_set(&fact).unwrap().name()
    };
    let house = [("preset", "desk"), ("customers", "200"), ("days", "5"), ("seed", "42")];
    assert_eq!(name("brokerage", &house), "brokerage-desk-200-5-42");
    let bank = [("accounts", "1000"), ("days", "20"), ("indexes", "usual"), ("seed", "1")];
    assert_eq!(name("bank", &bank), "bank-1000-20-usual-1");
    let warehouse = [("rows", "5000"), ("aggregates", "3"), ("indexes", "few"), ("seed", "1")];
    assert_eq!(name("warehouse", &warehouse), "warehouse-5000-3-few-1");
    let records = [("rows", "100"), ("fields", "10"), ("field_bytes", "64")];
    assert_eq!(name("key-value", &records), "key-value-100-10-64");
    let jobs = [("jobs", "2"), ("rows", "300"), ("row_bytes", "128"), ("copy", "true")];
    assert_eq!(name("rows", &jobs), "rows-copy-300-128-2");
    assert_eq!(name("scripts", &[("scale", "7")]), "scripts-7");
}
