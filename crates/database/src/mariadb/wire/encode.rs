//! Calls as the bodies of outgoing packets.

use super::super::packet;
use workload::transaction::Value;

/// What a command asks for: its first byte.
pub(super) const QUERY: u8 = 3;
pub(super) const PREPARE: u8 = 22;
pub(super) const EXECUTE: u8 = 23;
pub(super) const CLOSE: u8 = 25;

/// Says that we leave, as a whole packet.
pub(super) const QUIT: &[u8] = b"\x01\0\0\0\x01";

/// Appends the parameters of a prepared statement: which are null, their types, and the values. `order` says which of the given
/// stands at each place; one that is not given is null.
pub(super) fn parameters(order: &[u16], given: &[Value], out: &mut Vec<u8>) {
    if order.is_empty() {
        return;
    }
    let values = || order.iter().map(|place| given.get(usize::from(*place)).unwrap_or(&Value::Null));
    let nulls = out.len();
    out.resize(nulls + order.len().div_ceil(8), 0);
    for (at, _) in values().enumerate().filter(|(_, value)| matches!(value, Value::Null)) {
        out[nulls + at / 8] |= 1 << (at % 8);
    }
    // Types follow.
    out.push(1);
    values().for_each(|value| out.extend_from_slice(&[kind(value), 0]));
    for value in values() {
        match value {
            Value::Null => {}
            Value::Int(number) => out.extend_from_slice(&number.to_le_bytes()),
            Value::Float(number) => out.extend_from_slice(&number.to_le_bytes()),
            Value::Text(text) => {
                packet::count(out, text.len() as u64);
                out.extend_from_slice(text.as_bytes());
            }
        }
    }
}

fn kind(value: &Value) -> u8 {
    match value {
        Value::Null => 6,
        Value::Int(_) => 8,
        Value::Float(_) => 5,
        Value::Text(_) => 253,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_travel_in_the_order_of_their_places_with_their_types() {
        let mut out = Vec::new();
        parameters(&[1, 0, 2, 3], &[Value::Int(-2), "ab".into(), Value::Float(0.5)], &mut out);
        let mut expected = b"\x08\x01\xfd\0\x08\0\x05\0\x06\0\x02ab".to_vec();
        expected.extend(b"\xfe\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0\xe0\x3f");
        assert_eq!(out, expected);
        out.clear();
        parameters(&[], &[], &mut out);
        assert_eq!(out, b"");
    }
}
