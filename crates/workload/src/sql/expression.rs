//! An expression of `\set`, `\if` or `\elif`, ready to be evaluated.
//!
//! The one idea: names are resolved when the script is read. A variable is a number, a function is a variant, so that a
//! transaction hashes and compares no text.

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

/// An operator that evaluates both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    BitOr,
    BitXor,
    BitAnd,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

impl Operator {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Operator::Less => "<",
            Operator::LessEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterEqual => ">=",
            Operator::Equal => "=",
            Operator::NotEqual => "<>",
            Operator::BitOr => "|",
            Operator::BitXor => "#",
            Operator::BitAnd => "&",
            Operator::ShiftLeft => "<<",
            Operator::ShiftRight => ">>",
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Modulo => "%",
        }
    }
}

/// A function. `mod` is the operator `%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Abs,
    Debug,
    Double,
    Exp,
    Greatest,
    HashFnv1a,
    HashMurmur2,
    Int,
    Least,
    Ln,
    Permute,
    Pi,
    Power,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    Sqrt,
}

/// What a script calls a function, and how many arguments it takes. Of several names the first is printed.
pub(super) const FUNCTIONS: &[(&str, Function, usize, usize)] = &[
    ("abs", Function::Abs, 1, 1),
    ("debug", Function::Debug, 1, 1),
    ("double", Function::Double, 1, 1),
    ("exp", Function::Exp, 1, 1),
    ("greatest", Function::Greatest, 1, MOST_ARGUMENTS),
    ("hash", Function::HashMurmur2, 1, 2),
    ("hash_fnv1a", Function::HashFnv1a, 1, 2),
    ("hash_murmur2", Function::HashMurmur2, 1, 2),
    ("int", Function::Int, 1, 1),
    ("least", Function::Least, 1, MOST_ARGUMENTS),
    ("ln", Function::Ln, 1, 1),
    ("permute", Function::Permute, 2, 3),
    ("pi", Function::Pi, 0, 0),
    ("pow", Function::Power, 2, 2),
    ("power", Function::Power, 2, 2),
    ("random", Function::Random, 2, 2),
    ("random_exponential", Function::RandomExponential, 3, 3),
    ("random_gaussian", Function::RandomGaussian, 3, 3),
    ("random_zipfian", Function::RandomZipfian, 3, 3),
    ("sqrt", Function::Sqrt, 1, 1),
];

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
