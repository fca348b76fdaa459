//! The grammar of expressions.
//!
//! The one idea: precedence climbing with the levels of pgbench: OR, AND, NOT, IS, comparisons (which do not chain),
//! bits, sums, products, signs. A prefix operator takes everything that binds tighter than itself, as there.
//!
//! What it does not do: it evaluates nothing.

use super::expression::{Expression, FUNCTIONS, Function, Operator};
use super::names::Names;
use super::scalar::Scalar;
use super::token::{Misread, Token, Word, tokens};

/// Parentheses and operators may lie this deep in each other; evaluation is recursive.
const DEEPEST: u32 = 200;

const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const IS: u8 = 4;
pub(super) const COMPARISON: u8 = 5;
pub(super) const BITS: u8 = 6;
pub(super) const SUM: u8 = 7;
pub(super) const PRODUCT: u8 = 8;
const SIGN: u8 = 9;

/// Reads the expression from `at` to the end of the line. Names of variables are added to `names`.
pub(super) fn expression(text: &str, at: usize, names: &mut Names) -> Result<Expression, Misread> {
    let tokens = tokens(text, at)?;
    let end = super::token::end_of_line(text, at);
    let mut parser = Parser { tokens: &tokens, next: 0, end, names, depth: 0 };
    let (expression, _) = parser.level(OR)?;
    if parser.peek().is_none() { Ok(expression) } else { Err(parser.unexpected("an operator or the end of the line")) }
}

struct Parser<'a> {
    tokens: &'a [Token],
    next: usize,
    end: usize,
    names: &'a mut Names,
    depth: u32,
}

/// An expression with its depth.
type Built = (Expression, u32);

impl Parser<'_> {
    fn peek(&self) -> Option<&Word> {
        self.tokens.get(self.next).map(|token| &token.word)
    }

    fn at(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |token| token.at)
    }

    fn take(&mut self, word: &Word) -> bool {
        let found = self.peek() == Some(word);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, word: &Word, called: &str) -> Result<(), Misread> {
        if self.take(word) { Ok(()) } else { Err(self.unexpected(called)) }
    }

    fn unexpected(&self, wanted: &str) -> Misread {
        let found = if self.next < self.tokens.len() { "found something else" } else { "the line ends" };
        self.misread(format!("syntax error: {wanted} was expected here, but {found}"))
    }

    fn misread(&self, text: String) -> Misread {
        Misread { at: self.at(), text }
    }

    fn node(&self, expression: Expression, inside: u32) -> Result<Built, Misread> {
        match inside < DEEPEST {
            true => Ok((expression, inside + 1)),
            false => Err(self.misread(format!("the expression is nested deeper than {DEEPEST}; split it with \\set"))),
        }
    }

    /// An expression of operators that bind at least as tightly as `least`.
    fn level(&mut self, least: u8) -> Result<Built, Misread> {
        self.depth += 1;
        let depth = self.depth;
        let mut left = self.prefix()?;
        let mut compared = false;
        while let Some(word) = self.peek().cloned() {
            let Some(binds) = binds(&word) else { break };
            if binds < least {
                break;
            }
            if binds == COMPARISON && compared {
                return Err(self.misread("syntax error: comparisons do not chain; use AND or parentheses".to_owned()));
            }
            compared = binds == COMPARISON;
            left = self.infix(left, &word, binds)?;
        }
        self.depth = depth - 1;
        Ok(left)
    }

    fn infix(&mut self, left: Built, word: &Word, binds: u8) -> Result<Built, Misread> {
        self.next += 1;
        let null = |inner: Expression| Expression::Is(Box::new(inner), Scalar::Null);
        match word {
            Word::IsNull => return self.node(null(left.0), left.1),
            Word::NotNull => return self.node(Expression::Not(Box::new(null(left.0))), left.1 + 1),
            Word::Is => return self.is(left),
            _ => {}
        }
        let right = self.level(binds + 1)?;
        let inside = left.1.max(right.1);
        let sides = Box::new([left.0, right.0]);
        let built = match word {
            Word::And => Expression::And(sides),
            Word::Or => Expression::Or(sides),
            Word::Operator(operator) => Expression::Binary(*operator, sides),
            _ => return Err(self.unexpected("an operator")),
        };
        self.node(built, inside)
    }

    /// What stands behind IS.
    fn is(&mut self, (left, depth): Built) -> Result<Built, Misread> {
        let not = self.take(&Word::Not);
        let constant = match self.peek() {
            Some(Word::Null) => Scalar::Null,
            Some(Word::Bool(truth)) => Scalar::Bool(*truth),
            _ => return Err(self.unexpected("NULL, TRUE or FALSE")),
        };
        self.next += 1;
        let is = Expression::Is(Box::new(left), constant);
        if not { self.node(Expression::Not(Box::new(is)), depth + 1) } else { self.node(is, depth) }
    }

    fn prefix(&mut self) -> Result<Built, Misread> {
        if self.depth > DEEPEST {
            return self.node(Expression::Constant(Scalar::Null), DEEPEST);
        }
        let Some(word) = self.peek().cloned() else { return Err(self.unexpected("an expression")) };
        self.next += 1;
        match word {
            Word::Open => {
                let inner = self.level(OR)?;
                self.expect(&Word::Close, "a closing parenthesis")?;
                Ok(inner)
            }
            Word::Operator(Operator::Add) => self.level(SIGN),
            Word::Operator(Operator::Subtract) => self.minus(),
            Word::Tilde => {
                let (inner, depth) = self.level(BITS + 1)?;
                self.node(Expression::Complement(Box::new(inner)), depth)
            }
            Word::Not => {
                let (inner, depth) = self.level(NOT)?;
                self.node(Expression::Not(Box::new(inner)), depth)
            }
            Word::Case => self.case(),
            Word::Null => Ok((Expression::Constant(Scalar::Null), 1)),
            Word::Bool(truth) => Ok((Expression::Constant(Scalar::Bool(truth)), 1)),
            Word::Int(number) => Ok((Expression::Constant(Scalar::Int(number)), 1)),
            Word::Double(number) => Ok((Expression::Constant(Scalar::Double(number)), 1)),
            Word::Variable(name) => Ok((self.variable(&name)?, 1)),
            Word::Name(name) => self.call(&name),
            _ => {
                self.next -= 1;
                Err(self.unexpected("an expression"))
            }
        }
    }

    /// A minus is a subtraction from zero, except that it makes the smallest number.
    fn minus(&mut self) -> Result<Built, Misread> {
        if self.take(&Word::Smallest) {
            return Ok((Expression::Constant(Scalar::Int(i64::MIN)), 1));
        }
        let (inner, depth) = self.level(SIGN)?;
        let zero = Expression::Constant(Scalar::Int(0));
        self.node(Expression::Binary(Operator::Subtract, Box::new([zero, inner])), depth)
    }

    fn variable(&mut self, name: &str) -> Result<Expression, Misread> {
        self.names.number(name).map(Expression::Variable).ok_or_else(|| Misread::crowded(self.at()))
    }

    fn case(&mut self) -> Result<Built, Misread> {
        let mut branches = Vec::new();
        let mut deepest = 0;
        while self.take(&Word::When) {
            let (condition, a) = self.level(OR)?;
            self.expect(&Word::Then, "THEN")?;
            let (then, b) = self.level(OR)?;
            deepest = deepest.max(a).max(b);
            branches.push((condition, then));
        }
        if branches.is_empty() {
            return Err(self.unexpected("WHEN"));
        }
        let mut otherwise = Expression::Constant(Scalar::Null);
        if self.take(&Word::Else) {
            let (last, depth) = self.level(OR)?;
            (otherwise, deepest) = (last, deepest.max(depth));
        }
        self.expect(&Word::End, "WHEN, ELSE or END")?;
        self.node(Expression::Case(branches.into(), Box::new(otherwise)), deepest)
    }

    fn call(&mut self, name: &str) -> Result<Built, Misread> {
        let at = self.tokens[self.next - 1].at;
        let modulo = name.eq_ignore_ascii_case("mod");
        let known = FUNCTIONS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name));
        if known.is_none() && !modulo {
            return Err(Misread {
                at,
                text: format!("unexpected function name \"{name}\"; a variable is written :{name}"),
            });
        }
        let (mut arguments, depth) = self.arguments()?;
        let (least, most) = known.map_or((2, 2), |(_, _, least, most)| (*least, *most));
        if arguments.len() < least || arguments.len() > most {
            let wanted = if least == most { least.to_string() } else { format!("{least} to {most}") };
            let text = format!("{name} takes {wanted} arguments, not {}", arguments.len());
            return Err(Misread { at, text });
        }
        let Some((_, function, _, most)) = known else {
            let sides: Result<Box<[Expression; 2]>, _> = arguments.into_boxed_slice().try_into();
            let sides = sides.map_err(|_| self.unexpected("two arguments"))?;
            return self.node(Expression::Binary(Operator::Modulo, sides), depth);
        };
        if matches!(function, Function::HashFnv1a | Function::HashMurmur2 | Function::Permute)
            && arguments.len() < *most
        {
            arguments.push(self.variable("default_seed")?);
        }
        self.node(Expression::Call(*function, arguments.into()), depth)
    }

    fn arguments(&mut self) -> Result<(Vec<Expression>, u32), Misread> {
        self.expect(&Word::Open, "an opening parenthesis")?;
        let (mut arguments, mut deepest) = (Vec::new(), 1);
        if self.take(&Word::Close) {
            return Ok((arguments, deepest));
        }
        // The grammar of pgbench lets the first argument be missing, so that f(, 1) is f(1).
        self.take(&Word::Comma);
        loop {
            let (argument, depth) = self.level(OR)?;
            arguments.push(argument);
            deepest = deepest.max(depth);
            if !self.take(&Word::Comma) {
                self.expect(&Word::Close, "a comma or a closing parenthesis")?;
                return Ok((arguments, deepest));
            }
        }
    }
}

/// How tightly a word binds that stands behind an expression; none when it cannot stand there.
fn binds(word: &Word) -> Option<u8> {
    Some(match word {
        Word::Or => OR,
        Word::And => AND,
        Word::Is | Word::IsNull | Word::NotNull => IS,
        Word::Operator(operator) => operator.binds(),
        _ => return None,
    })
}
