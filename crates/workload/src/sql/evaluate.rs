//! The value of an expression.
//!
//! The one idea: one walk over a small tree. Whole numbers stay whole until a double joins them; a missing value makes
//! everything missing, except under IS, CASE and debug; overflows are faults, as in pgbench.
//!
//! What it does not do: it prints nothing. `debug` gives back its argument.

use super::expression::{Expression, Function, MOST_ARGUMENTS, Operator};
use super::fault::Fault;
use super::hash::{fnv1a, murmur2, permute};
use super::random::{Draws, Laws, Range};
use super::scalar::{Scalar, Variables};

/// What an expression may look at.
pub(super) struct Context<'a> {
    pub(super) variables: &'a Variables,
    pub(super) draws: &'a mut Draws,
    pub(super) laws: &'a mut Laws,
}

type Found = Result<Scalar, Fault>;

impl Context<'_> {
    pub(super) fn value(&mut self, expression: &Expression) -> Found {
        match expression {
            Expression::Constant(scalar) => Ok(*scalar),
            Expression::Variable(variable) => self.variables.scalar(*variable),
            Expression::Binary(operator, sides) => {
                let (left, right) = (self.value(&sides[0])?, self.value(&sides[1])?);
                binary(*operator, left, right)
            }
            Expression::Call(function, arguments) => self.call(*function, arguments),
            Expression::And(sides) => self.both(sides, false),
            Expression::Or(sides) => self.both(sides, true),
            Expression::Not(inner) => match self.value(inner)? {
                Scalar::Null => Ok(Scalar::Null),
                value => Ok(Scalar::Bool(!value.truth()?)),
            },
            Expression::Complement(inner) => match self.value(inner)? {
                Scalar::Null => Ok(Scalar::Null),
                value => Ok(Scalar::Int(!value.int()?)),
            },
            Expression::Is(inner, constant) => Ok(Scalar::Bool(self.value(inner)? == *constant)),
            Expression::Case(branches, otherwise) => {
                for (condition, then) in branches {
                    if self.value(condition)?.holds() {
                        return self.value(then);
                    }
                }
                self.value(otherwise)
            }
        }
    }

    /// AND and OR: the right side is evaluated only when the left one does not decide. A missing left side decides too.
    fn both(&mut self, sides: &[Expression; 2], decides: bool) -> Found {
        match self.value(&sides[0])? {
            Scalar::Null => return Ok(Scalar::Null),
            left if left.truth()? == decides => return Ok(Scalar::Bool(decides)),
            _ => {}
        }
        match self.value(&sides[1])? {
            Scalar::Null => Ok(Scalar::Null),
            right => Ok(Scalar::Bool(right.truth()?)),
        }
    }

    fn call(&mut self, function: Function, expressions: &[Expression]) -> Found {
        let mut values = [Scalar::Null; MOST_ARGUMENTS];
        let mut missing = false;
        for (value, expression) in values.iter_mut().zip(expressions) {
            *value = self.value(expression)?;
            missing |= *value == Scalar::Null;
        }
        if missing && function != Function::Debug {
            return Ok(Scalar::Null);
        }
        let values = &values[..expressions.len().min(MOST_ARGUMENTS)];
        match function {
            Function::Random => Ok(Scalar::Int(self.draws.even(range(values)?))),
            Function::RandomExponential => self.draws.exponential(range(values)?, values[2].double()?).map(Scalar::Int),
            Function::RandomGaussian => self.draws.gaussian(range(values)?, values[2].double()?).map(Scalar::Int),
            Function::RandomZipfian => {
                self.draws.zipfian(range(values)?, values[2].double()?, self.laws).map(Scalar::Int)
            }
            _ => steady(function, values),
        }
    }
}

fn range(values: &[Scalar]) -> Result<Range, Fault> {
    Range::new(values[0].int()?, values[1].int()?)
}

/// Functions that draw nothing.
fn steady(function: Function, values: &[Scalar]) -> Found {
    let double = |of: fn(f64) -> f64| Ok(Scalar::Double(of(values[0].double()?)));
    match function {
        Function::Pi => Ok(Scalar::Double(std::f64::consts::PI)),
        Function::Debug => Ok(values[0]),
        Function::Double => double(|number| number),
        Function::Exp => double(libm::exp),
        Function::Ln => double(libm::log),
        Function::Sqrt => double(libm::sqrt),
        Function::Int => Ok(Scalar::Int(values[0].int()?)),
        Function::Abs => match values[0] {
            Scalar::Int(number) => Ok(Scalar::Int(number.wrapping_abs())),
            value => Ok(Scalar::Double(value.double()?.abs())),
        },
        Function::Power => Ok(Scalar::Double(libm::pow(values[0].double()?, values[1].double()?))),
        Function::HashFnv1a => Ok(Scalar::Int(fnv1a(values[0].int()?, values[1].int()?))),
        Function::HashMurmur2 => Ok(Scalar::Int(murmur2(values[0].int()?, values[1].int()?))),
        Function::Permute => match values[1].int()? {
            size if size <= 0 => Err(Fault::Permute(size)),
            size => Ok(Scalar::Int(permute(values[0].int()?, size, values[2].int()?))),
        },
        Function::Least => extreme(values, f64::min, i64::min),
        _ => extreme(values, f64::max, i64::max),
    }
}

fn extreme(values: &[Scalar], double: fn(f64, f64) -> f64, int: fn(i64, i64) -> i64) -> Found {
    if values.iter().any(|value| matches!(value, Scalar::Double(_))) {
        let first = values[0].double()?;
        return values.iter().try_fold(first, |so_far, value| Ok(double(so_far, value.double()?))).map(Scalar::Double);
    }
    let first = values[0].int()?;
    values.iter().try_fold(first, |so_far, value| Ok(int(so_far, value.int()?))).map(Scalar::Int)
}

#[inline]
fn binary(operator: Operator, left: Scalar, right: Scalar) -> Found {
    use Operator::{BitAnd, BitOr, BitXor, Modulo, ShiftLeft, ShiftRight};
    if left == Scalar::Null || right == Scalar::Null {
        return Ok(Scalar::Null);
    }
    let doubles = matches!(left, Scalar::Double(_)) || matches!(right, Scalar::Double(_));
    // The remainder and the operators on bits are for whole numbers alone and round their operands.
    let whole = matches!(operator, Modulo | BitAnd | BitOr | BitXor | ShiftLeft | ShiftRight);
    if doubles && !whole {
        return Ok(of_doubles(operator, left.double()?, right.double()?));
    }
    of_ints(operator, left.int()?, right.int()?)
}

fn of_doubles(operator: Operator, left: f64, right: f64) -> Scalar {
    match operator {
        Operator::Add => Scalar::Double(left + right),
        Operator::Subtract => Scalar::Double(left - right),
        Operator::Multiply => Scalar::Double(left * right),
        Operator::Less => Scalar::Bool(left < right),
        Operator::LessEqual => Scalar::Bool(left <= right),
        Operator::Greater => Scalar::Bool(left > right),
        Operator::GreaterEqual => Scalar::Bool(left >= right),
        Operator::Equal => Scalar::Bool(left == right),
        Operator::NotEqual => Scalar::Bool(left != right),
        _ => Scalar::Double(left / right),
    }
}

fn of_ints(operator: Operator, left: i64, right: i64) -> Found {
    // A shift by 64 or more shifts by what its six lowest bits say, as the processors do that pgbench runs on.
    let distance = (right & 63) as u32;
    Ok(match operator {
        Operator::Add => Scalar::Int(left.checked_add(right).ok_or(Fault::Overflow("add"))?),
        Operator::Subtract => Scalar::Int(left.checked_sub(right).ok_or(Fault::Overflow("sub"))?),
        Operator::Multiply => Scalar::Int(left.checked_mul(right).ok_or(Fault::Overflow("mul"))?),
        Operator::Divide | Operator::Modulo if right == 0 => return Err(Fault::DivisionByZero),
        Operator::Divide => Scalar::Int(left.checked_div(right).ok_or(Fault::Overflow("div"))?),
        Operator::Modulo => Scalar::Int(left.wrapping_rem(right)),
        Operator::BitAnd => Scalar::Int(left & right),
        Operator::BitOr => Scalar::Int(left | right),
        Operator::BitXor => Scalar::Int(left ^ right),
        Operator::ShiftLeft => Scalar::Int(left << distance),
        Operator::ShiftRight => Scalar::Int(left >> distance),
        Operator::Less => Scalar::Bool(left < right),
        Operator::LessEqual => Scalar::Bool(left <= right),
        Operator::Greater => Scalar::Bool(left > right),
        Operator::GreaterEqual => Scalar::Bool(left >= right),
        Operator::Equal => Scalar::Bool(left == right),
        Operator::NotEqual => Scalar::Bool(left != right),
    })
}
