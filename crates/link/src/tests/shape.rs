//! Paths in words.

use super::*;

#[test]
fn a_path_says_what_it_was_told() {
    let shape = Shape::parse("km=10, jitter=5us capacity=1GB/s aggressor=500MB/s share=20%").expect("a path");
    assert_eq!(shape.delay, Nanos::from_micros(50));
    assert_eq!(shape.capacity, Some(PerSecond(1e9)));
    assert_eq!(shape.aggressor, Some(Aggressor { demand: PerSecond(5e8), share: Some(0.2) }));
    assert_eq!(Shape::parse(&shape.to_string()), Ok(shape));
    assert_eq!(Shape::parse(""), Ok(Shape::default()));
}

#[test]
fn words_that_say_nothing_about_a_path_are_named() {
    for (text, told) in [
        ("km=10 delay=5us", "a path has `km` or `delay`, not both"),
        ("capcity=5", "`capcity=5` says nothing"),
        ("slow", "`slow` says nothing"),
        ("km=-1", "`km=-1`: from 0 to 40000 km"),
        ("capacity=0B", "`capacity=0B`: more than 0 bytes a second"),
        ("aggressor=1MB/s", "needs a `capacity`"),
        ("capacity=1MB/s share=5%", "needs an `aggressor`"),
    ] {
        let error = Shape::parse(text).expect_err(text).to_string();
        assert!(error.contains(told), "{text}: {error}");
    }
}
