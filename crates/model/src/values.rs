//! Parameters of described machines, and their numbers by name.

/// A parameter that a kind asks a model file for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// Its name.
    pub name: &'static str,
    /// Its unit, as the file must write it.
    pub unit: &'static str,
    /// What it is.
    pub about: &'static str,
    /// It does not lie below.
    pub low: f64,
    /// It does not lie beyond.
    pub high: f64,
    /// Whether only whole numbers make sense.
    pub whole: bool,
    /// What it is in a file that leaves it out; without one the file must give it.
    pub default: Option<f64>,
}

impl Asked {
    /// A state that is seldom asked for, or what nearly every machine has: a file may leave it out.
    pub(crate) const fn or(self, default: f64) -> Asked {
        Asked { default: Some(default), ..self }
    }
}

/// Numbers of one machine, by the names that its kind asks for.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    asked: &'static [Asked],
    values: &'a [f64],
}

impl<'a> Values<'a> {
    /// The values of all parameters of a kind, in its own order.
    pub fn new(asked: &'static [Asked], values: &'a [f64]) -> Values<'a> {
        debug_assert_eq!(asked.len(), values.len());
        Values { asked, values }
    }

    /// One of them.
    ///
    /// # Panics
    /// When the kind does not ask for it, which is a mistake in the kind.
    pub fn of(&self, name: &str) -> f64 {
        let place = self.asked.iter().position(|asked| asked.name == name);
        self.values[place.unwrap_or_else(|| panic!("the kind asks for no parameter `{name}`"))]
    }
}
