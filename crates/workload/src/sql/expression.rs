//! An expression of `\set`, `\if` or `\elif`, ready to be evaluated.
//!
//! The one idea: names are resolved when the script is read. A variable is a number, a function is a variant, so that a
//! transaction hashes and compares no text.

use super::grammar;
use super::names::Names;
use super::scalar::Scalar;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Constant(Scalar),
    Variable(u16),
    Complement(Box<Expression>),
    Not(Box<Expression>),
    Is(Box<Expression>, Scalar),
    And(Box<[Expression; 2]>),
    Or(Box<[Expression; 2]>),
    Binary(Operator, Box<[Expression; 2]>),
    Call(Function, Box<[Expression]>),
    /// Conditions with what they give, and what else.
    Case(Box<[(Expression, Expression)]>, Box<Expression>),
}

macro_rules! operators {
    ($($operator:ident $sign:literal $binds:ident;)*) => {
        /// An operator that evaluates both sides.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Operator { $($operator),* }

        impl Operator {
            /// All of them.
            pub(super) const ALL: &'static [Operator] = &[$(Operator::$operator),*];

            pub(super) fn sign(self) -> &'static str {
                match self { $(Operator::$operator => $sign),* }
            }

            /// How tightly it binds.
            pub(super) fn binds(self) -> u8 {
                match self { $(Operator::$operator => grammar::$binds),* }
            }
        }
    };
}

// Of two signs that begin alike the longer comes first, so that it is found.
operators! {
    LessEqual "<=" COMPARISON;
    NotEqual "<>" COMPARISON;
    ShiftLeft "<<" BITS;
    Less "<" COMPARISON;
    GreaterEqual ">=" COMPARISON;
    ShiftRight ">>" BITS;
    Greater ">" COMPARISON;
    Equal "=" COMPARISON;
    BitOr "|" BITS;
    BitXor "#" BITS;
    BitAnd "&" BITS;
    Add "+" SUM;
    Subtract "-" SUM;
    Multiply "*" PRODUCT;
    Divide "/" PRODUCT;
    Modulo "%" PRODUCT;
}

macro_rules! functions {
    ($($function:ident ($($name:literal)+) $least:literal $most:expr;)*) => {
        /// A function. `mod` is the operator `%`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Function { $($function),* }

        /// What a script calls a function, and how many arguments it takes. Of several names the first is printed.
        pub(super) const FUNCTIONS: &[(&str, Function, usize, usize)] =
            &[$($(($name, Function::$function, $least, $most)),+),*];
    };
}

functions! {
    Abs ("abs") 1 1;
    Debug ("debug") 1 1;
    Double ("double") 1 1;
    Exp ("exp") 1 1;
    Greatest ("greatest") 1 MOST_ARGUMENTS;
    HashMurmur2 ("hash" "hash_murmur2") 1 2;
    HashFnv1a ("hash_fnv1a") 1 2;
    Int ("int") 1 1;
    Least ("least") 1 MOST_ARGUMENTS;
    Ln ("ln") 1 1;
    Permute ("permute") 2 3;
    Pi ("pi") 0 0;
    Power ("pow" "power") 2 2;
    Random ("random") 2 2;
    RandomExponential ("random_exponential") 3 3;
    RandomGaussian ("random_gaussian") 3 3;
    RandomZipfian ("random_zipfian") 3 3;
    Sqrt ("sqrt") 1 1;
}

/// pgbench refuses more when it evaluates.
pub(super) const MOST_ARGUMENTS: usize = 16;

impl Function {
    fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|(_, function, ..)| *function == self).map_or("", |(name, ..)| name)
    }

    /// Whether its value differs from call to call.
    fn draws(self) -> bool {
        use Function::{Random, RandomExponential, RandomGaussian, RandomZipfian};
        matches!(self, Random | RandomExponential | RandomGaussian | RandomZipfian)
    }
}

impl Expression {
    /// Calls `see` with this expression and everything in it.
    pub(super) fn walk(&self, see: &mut impl FnMut(&Expression)) {
        see(self);
        match self {
            Expression::Constant(_) | Expression::Variable(_) => {}
            Expression::Complement(inner) | Expression::Not(inner) | Expression::Is(inner, _) => inner.walk(see),
            Expression::And(sides) | Expression::Or(sides) | Expression::Binary(_, sides) => {
                sides.iter().for_each(|side| side.walk(see));
            }
            Expression::Call(_, arguments) => arguments.iter().for_each(|argument| argument.walk(see)),
            Expression::Case(branches, otherwise) => {
                for (condition, then) in branches {
                    condition.walk(see);
                    then.walk(see);
                }
                otherwise.walk(see);
            }
        }
    }

    /// Variables that it reads.
    pub(super) fn reads(&self, mut see: impl FnMut(u16)) {
        self.walk(&mut |part| {
            if let Expression::Variable(variable) = part {
                see(*variable);
            }
        });
    }

    /// Whether it draws random numbers.
    pub(super) fn draws(&self) -> bool {
        let mut draws = false;
        self.walk(&mut |part| draws |= matches!(part, Expression::Call(function, _) if function.draws()));
        draws
    }

    /// Whether it calls that function.
    pub(super) fn calls(&self, wanted: Function) -> bool {
        let mut calls = false;
        self.walk(&mut |part| calls |= matches!(part, Expression::Call(function, _) if *function == wanted));
        calls
    }

    /// Its text, with parentheses around everything that could be read otherwise.
    pub(super) fn text(&self, names: &Names) -> String {
        let text = |inner: &Expression| inner.text(names);
        match self {
            Expression::Constant(Scalar::Double(number)) => format!("{number:?}"),
            Expression::Constant(scalar) => scalar.to_string(),
            Expression::Variable(variable) => format!(":{}", names.name(*variable)),
            Expression::Complement(inner) => format!("(~ {})", text(inner)),
            Expression::Not(inner) => format!("(NOT {})", text(inner)),
            Expression::Is(inner, constant) => format!("({} IS {constant})", text(inner)),
            Expression::And(sides) => format!("({} AND {})", text(&sides[0]), text(&sides[1])),
            Expression::Or(sides) => format!("({} OR {})", text(&sides[0]), text(&sides[1])),
            Expression::Binary(operator, sides) => {
                format!("({} {} {})", text(&sides[0]), operator.sign(), text(&sides[1]))
            }
            Expression::Call(function, arguments) => {
                format!("{}({})", function.name(), arguments.iter().map(text).collect::<Vec<_>>().join(", "))
            }
            Expression::Case(branches, otherwise) => {
                let branch =
                    |(when, then): &(Expression, Expression)| format!("WHEN {} THEN {} ", text(when), text(then));
                format!("CASE {}ELSE {} END", branches.iter().map(branch).collect::<String>(), text(otherwise))
            }
        }
    }
}
