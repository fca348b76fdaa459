//! Values as JSON, and objects written as lists of fields.
//!
//! The one idea: a field is called as it is in Rust, so that an object is the list of its names; only what is called or
//! made otherwise is written out.

use analysis::Estimate;
use observation::{Factor, Level};
use serde_json::{Map, Number, Value};

/// What has a form in JSON.
pub trait Json {
    /// That form.
    fn json(&self) -> Value;
}

/// An object of fields of a value, in order: `name` takes the field of that name, `"name": value` says what it is.
macro_rules! object {
    (@fields $map:ident $of:ident) => {};
    (@fields $map:ident $of:ident $name:literal: $value:expr $(, $($rest:tt)*)?) => {
        $map.insert($name.to_owned(), $crate::json::value::Json::json(&$value));
        object!(@fields $map $of $($($rest)*)?)
    };
    (@fields $map:ident $of:ident $field:ident $(, $($rest:tt)*)?) => {
        $map.insert(stringify!($field).to_owned(), $crate::json::value::Json::json(&$of.$field));
        object!(@fields $map $of $($($rest)*)?)
    };
    ($of:ident { $($fields:tt)* }) => {{
        let mut map = serde_json::Map::new();
        object!(@fields map $of $($fields)*);
        serde_json::Value::Object(map)
    }};
}

/// The forms of types, each as the object of a value of it: `footprint: Footprint { drives, watts }`.
macro_rules! objects {
    ($($value:ident: $type:ty { $($fields:tt)* })*) => {
        $(impl $crate::json::value::Json for $type {
            fn json(&self) -> serde_json::Value {
                let $value = self;
                object!($value { $($fields)* })
            }
        })*
    };
}

pub(super) use {object, objects};

macro_rules! plain {
    ($($type:ty),*) => {
        $(impl Json for $type {
            fn json(&self) -> Value {
                Value::from(self.clone())
            }
        })*
    };
}

plain!(bool, u8, u16, u32, u64, i64, String, Value);

/// A number as JSON has it: whole values without a point, and `null` for what is not a number.
impl Json for f64 {
    fn json(&self) -> Value {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if self.is_finite() && self.fract() == 0.0 && self.abs() < EXACT {
            return Value::from(*self as i64);
        }
        Number::from_f64(*self).map_or(Value::Null, Value::Number)
    }
}

impl<T: Json> Json for Option<T> {
    fn json(&self) -> Value {
        self.as_ref().map_or(Value::Null, Json::json)
    }
}

impl<T: Json + ?Sized> Json for &T {
    fn json(&self) -> Value {
        (**self).json()
    }
}

impl Json for str {
    fn json(&self) -> Value {
        Value::from(self)
    }
}

impl<T: Json> Json for [T] {
    fn json(&self) -> Value {
        self.iter().map(Json::json).collect()
    }
}

impl<T: Json> Json for Vec<T> {
    fn json(&self) -> Value {
        self.as_slice().json()
    }
}

/// A level in base units when it is a number, else its word.
impl Json for Level {
    fn json(&self) -> Value {
        match self {
            Level::Number { value, .. } => value.json(),
            Level::Word(word) => word.json(),
        }
    }
}

objects! {
    estimate: Estimate { value, low, high, n, confidence }
}

/// Pairs as objects of these two names.
pub fn pairs(all: &[(impl Json, impl Json)], [first, second]: [&str; 2]) -> Value {
    let object =
        |(a, b): &(_, _)| Map::from_iter([(first.to_owned(), Json::json(a)), (second.to_owned(), Json::json(b))]);
    all.iter().map(object).map(Value::Object).collect()
}

/// Objects as one, in this order.
pub fn joined(objects: impl IntoIterator<Item = Value>) -> Value {
    let maps = objects.into_iter().filter_map(|object| if let Value::Object(map) = object { Some(map) } else { None });
    maps.flatten().collect()
}

/// Levels by the names of their factors.
pub fn factors(factors: &[Factor]) -> Value {
    Value::Object(factors.iter().map(|factor| (factor.name.clone(), factor.level.json())).collect::<Map<_, _>>())
}
