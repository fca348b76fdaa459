//! Records of both ends of a connection.

use super::*;

#[test]
fn what_is_sealed_is_another_text_a_little_longer_and_opens_as_it_was_in_order_both_ways() {
    let sealed = Sealed::agreed().expect("both agree");
    for way in [Way::There, Way::Back] {
        for length in [0usize, 1, 17, 16_384, 16_385, 300_000] {
            let data: Vec<u8> = (0..length).map(|at| (at * 7 + length) as u8).collect();
            let records = sealed.seal(way, &data).expect("sealed");
            let more = records.len() - length;
            // Each record of up to 16 KiB has a head, the kind of its content and a tag.
            assert_eq!(more, length.div_ceil(16_384) * 22, "{length}");
            assert!(length < 17 || !records.windows(17).any(|part| part == &data[..17]), "it can be read");
            assert_eq!(sealed.open(way, &records).expect("opened"), data);
        }
    }
}

#[test]
fn a_record_that_comes_in_pieces_is_opened_when_it_is_whole_and_a_changed_one_is_refused() {
    let sealed = Sealed::agreed().expect("both agree");
    let records = sealed.seal(Way::There, b"whole").expect("sealed");
    assert_eq!(sealed.open(Way::There, &records[..7]).expect("a part"), b"");
    assert_eq!(sealed.open(Way::There, &records[7..]).expect("the rest"), b"whole");
    let mut records = sealed.seal(Way::There, b"whole").expect("sealed");
    *records.last_mut().expect("it has bytes") ^= 1;
    assert!(sealed.open(Way::There, &records).is_err());
}
