//! Expressions against pgbench itself: what `debug` of pgbench 15.18 printed, on x86-64, for each of them.

use super::{one, ran};
use crate::sql::grammar;
use crate::sql::names::Names;
use crate::sql::scalar::{Held, Scalar};
use proptest::prelude::*;

const PRINTED: &[(&str, &str)] = &[
    ("1 + 2 * 3", "int 7"),
    ("(1 + 2) * 3", "int 9"),
    ("- 2 * -3.5", "double 7"),
    ("~ 1 + 2", "int -4"),
    ("~1 & 2", "int 2"),
    ("1 * ~ 2 + 3", "int -6"),
    ("-9223372036854775808", "int -9223372036854775808"),
    ("9223372036854775807 + 1", "fails: bigint add out of range"),
    ("-9223372036854775808 - 1", "fails: bigint sub out of range"),
    ("4611686018427387904 * 2", "fails: bigint mul out of range"),
    ("-9223372036854775808 / -1", "fails: bigint div out of range"),
    ("-9223372036854775808 % -1", "int 0"),
    ("7 / -2", "int -3"),
    ("-7 % 3", "int -1"),
    ("7 / 0", "fails: division by zero"),
    ("7 % 0", "fails: division by zero"),
    ("7.0 / 0", "double Infinity"),
    ("1 << 70", "int 64"),
    ("1 << 3 + 1", "int 16"),
    ("-8 >> 1", "int -4"),
    ("2 + 3 << 2", "int 20"),
    ("5 # 3 | 8 & 12", "int 12"),
    ("1 = 2 IS NULL", "boolean false"),
    ("1 < 2 = true", "cannot be read"),
    ("1 = 2 is not null", "boolean true"),
    ("not 1 = 2", "boolean true"),
    ("NOT NOT true", "boolean true"),
    ("not null", "null"),
    ("not 1", "fails: cannot coerce int to boolean"),
    ("true and null", "null"),
    ("null and true", "null"),
    ("false and null", "boolean false"),
    ("true and 5", "fails: cannot coerce int to boolean"),
    ("true or (1/0 = 1)", "boolean true"),
    ("null or true", "null"),
    ("false or null", "null"),
    ("null isnull", "boolean true"),
    ("5 notnull", "boolean true"),
    ("true is true", "boolean true"),
    ("1 is true", "boolean false"),
    ("null is not true", "boolean true"),
    ("5 is null and 4 notnull", "boolean false"),
    ("5 % 3.7", "int 1"),
    ("int(2.5)", "int 2"),
    ("int(-3.5)", "int -4"),
    ("int(1e19)", "fails: double to int overflow"),
    ("int(true)", "fails: cannot coerce boolean to int"),
    ("double(7)", "double 7"),
    ("double(null)", "null"),
    ("1/3.0", "double 0.333333333333333"),
    ("1e20", "double 1e+20"),
    ("1.", "double 1"),
    (".5e-7", "double 5e-08"),
    ("123456789012345678.0", "double 1.23456789012346e+17"),
    ("100000000000000.5", "double 100000000000000"),
    ("1e15", "double 1e+15"),
    ("1e-5", "double 1e-05"),
    ("0.0001", "double 0.0001"),
    ("2 - 2.0", "double 0"),
    ("-0.0", "double 0"),
    ("0.0 * -1", "double -0"),
    ("least(,3, 2.5)", "double 2.5"),
    ("least(4, 3, 9)", "int 3"),
    ("greatest(4, 3.5, true)", "fails: cannot coerce boolean to double"),
    ("greatest(1, null)", "null"),
    ("null + 1", "null"),
    ("null < 1", "null"),
    ("case when null then 1 when 0.5 then 2 else 3 end", "int 2"),
    ("case when false then 1 end", "null"),
    ("case when 1 = 1 then 1/0 else 2 end", "fails: division by zero"),
    ("case when 1 = 2 then 1/0 else 2 end", "int 2"),
    ("pow(2, 0.5)", "double 1.4142135623731"),
    ("power(2, 10)", "double 1024"),
    ("ln(2)", "double 0.693147180559945"),
    ("ln(-1)", "double NaN"),
    ("exp(1)", "double 2.71828182845905"),
    ("exp(1000)", "double Infinity"),
    ("sqrt(2)", "double 1.4142135623731"),
    ("sqrt(-1)", "double NaN"),
    ("pi()", "double 3.14159265358979"),
    ("abs(-9223372036854775808)", "int -9223372036854775808"),
    ("abs(-2.5)", "double 2.5"),
    ("mod(7, 4)", "int 3"),
    ("mod(7.6, 4)", "int 0"),
    ("hash(5, 7)", "int 7395858956932106968"),
    ("hash(1.5, 7)", "int -8628338766566690227"),
    ("hash_murmur2(1, 2)", "int -3827666828038376880"),
    ("hash_fnv1a(1, 2)", "int -4052466453699787802"),
    ("hash(null, 2)", "null"),
    ("permute(3, 10, 5)", "int 9"),
    ("permute(3, 0, 5)", "fails: permute size parameter must be greater than zero"),
    ("permute(77, 1000003, 12345)", "int 91894"),
    ("true = false", "fails: cannot coerce boolean to int"),
    ("true < 1", "fails: cannot coerce boolean to int"),
    ("1.5 = true", "fails: cannot coerce boolean to double"),
    ("random(5, 5)", "int 5"),
    ("random(6, 5)", "fails: empty range given to random"),
    ("random(null, 5)", "null"),
    ("random(0, 9223372036854775807)", "fails: random range is too large"),
    ("random(-9223372036854775808, 0)", "fails: random range is too large"),
    ("random_gaussian(1, 1, 1.9)", "fails: gaussian parameter must be at least 2"),
    ("random_gaussian(1, 1, 2)", "int 1"),
    ("random_exponential(1, 1, 0)", "fails: exponential parameter must be greater than zero"),
    ("random_exponential(3, 3, 0.5)", "int 3"),
    ("random_zipfian(1, 1, 1)", "fails: zipfian parameter must be in range [1.001, 1000]"),
    ("random_zipfian(4, 4, 1.5)", "int 4"),
    ("9223372036854775808", "cannot be read"),
    ("1e400", "cannot be read"),
    ("1e-320", "cannot be read"),
    ("0e-400", "double 0"),
    ("1 2", "cannot be read"),
    ("1 +", "cannot be read"),
    ("(1", "cannot be read"),
    ("1 < 2 < 3", "cannot be read"),
    ("1 < 2 is null < 3", "fails: cannot coerce boolean to int"),
    ("nosuch(1)", "cannot be read"),
    ("abs(1, 2)", "cannot be read"),
    ("pi(1)", "cannot be read"),
    ("hash()", "cannot be read"),
    ("permute(1)", "cannot be read"),
    ("case when 1 end", "cannot be read"),
    ("case 1 when 1 then 2 end", "cannot be read"),
    ("1 = = 2", "cannot be read"),
    (":undefined", "fails: undefined variable \"undefined\""),
    ("true + 1", "fails: cannot coerce boolean to int"),
    ("1 != 2", "boolean true"),
    ("1 <> 1", "boolean false"),
    ("2 >= 2.0", "boolean true"),
    ("1 is 5", "cannot be read"),
    ("least()", "cannot be read"),
    ("least(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)", "cannot be read"),
    ("'a'", "cannot be read"),
    ("5 ; ", "cannot be read"),
    ("a", "cannot be read"),
    ("+ + 5", "int 5"),
    ("- - 5", "int 5"),
    ("1 - -1", "int 2"),
    ("not true and false", "boolean false"),
    ("not (true and false)", "boolean true"),
    ("1 | 2 = 3", "boolean true"),
    ("1 + 1 = 2 and 2 < 3 or false", "boolean true"),
    ("TRUE AND True", "boolean true"),
    ("cAsE WhEn true THEN 'x' END", "cannot be read"),
];

fn printed(held: &Held) -> String {
    match held {
        Held::Scalar(Scalar::Null) => "null".to_owned(),
        Held::Scalar(scalar @ Scalar::Bool(_)) => format!("boolean {scalar}"),
        Held::Scalar(scalar @ Scalar::Int(_)) => format!("int {scalar}"),
        Held::Scalar(scalar @ Scalar::Double(_)) => format!("double {scalar}"),
        other => format!("{other:?}"),
    }
}

#[test]
fn expressions_have_the_values_that_pgbench_prints() {
    for (expression, wanted) in PRINTED {
        let script = format!("\\set a {expression}\n");
        let found = match one(&script) {
            Err(_) => "cannot be read".to_owned(),
            Ok(mut scripts) => match ran(&mut scripts) {
                Ok(()) => printed(&scripts.variable("a")),
                Err(complaint) => format!("fails: {}", complaint.trim_start_matches("test:1: ")),
            },
        };
        match wanted.strip_prefix("fails: ") {
            None => assert_eq!(found, *wanted, "{expression}"),
            Some(_) => assert!(found.starts_with(wanted), "{expression}: {found}, not {wanted}"),
        }
    }
}

#[test]
fn an_expression_may_go_on_behind_a_backslash_and_ends_with_its_line() {
    let mut scripts = one("\\set a 1 + \\\n 2 \\\r\n * 3\n\\set b :a\n").unwrap();
    ran(&mut scripts).unwrap();
    assert_eq!(printed(&scripts.variable("b")), "int 7");
}

#[test]
fn a_chain_of_operators_or_parentheses_may_not_be_endless() {
    for text in ["(".repeat(5000), "1+".repeat(5000), "- ".repeat(5000), "abs(".repeat(5000), "case when ".repeat(5000)]
    {
        assert!(one(&format!("\\set a {text}1\n")).is_err());
    }
    assert!(one(&format!("\\set a {}1\n", "1+".repeat(150))).is_ok());
    assert!(one(&format!("\\set a {}1{}\n", "(".repeat(150), ")".repeat(150))).is_ok());
}

/// Texts of expressions that the grammar knows.
fn expressions() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        any::<i32>().prop_map(|number| number.to_string()),
        (0.0..1e30).prop_map(|number: f64| format!("{number:?}")),
        prop_oneof![Just("null"), Just("TRUE"), Just("false"), Just(":x"), Just(":1a"), Just("pi()"), Just("7.")]
            .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(6, 40, 3, |inner| {
        let operator = prop::sample::select(vec![
            "+", "-", "*", "/", "%", "<", "<=", ">", ">=", "=", "<>", "!=", "|", "#", "&", "<<", ">>", "and", "OR",
        ]);
        prop_oneof![
            (inner.clone(), operator, inner.clone()).prop_map(|(a, sign, b)| format!("({a} {sign} {b})")),
            inner.clone().prop_map(|a| format!("- {a}")),
            inner.clone().prop_map(|a| format!("~{a}")),
            inner.clone().prop_map(|a| format!("NOT {a}")),
            inner.clone().prop_map(|a| format!("({a} IS NOT NULL)")),
            inner.clone().prop_map(|a| format!("({a} notnull)")),
            inner.clone().prop_map(|a| format!("({a} is true)")),
            inner.clone().prop_map(|a| format!("hash({a})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("Least({a}, {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("mod({a}, {b})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("case when {a} then {b} else {c} end")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("case when {a} then {b} end")),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_printed_is_read_as_the_same_expression(text in expressions()) {
        let mut names = Names::default();
        let read = grammar::expression(&text, 0, &mut names).map_err(|misread| misread.text).unwrap();
        let printed = read.text(&names);
        let again = grammar::expression(&printed, 0, &mut names).map_err(|misread| misread.text).unwrap();
        prop_assert_eq!(&read, &again, "{} was printed as {}", text, printed);
    }

    #[test]
    fn no_text_makes_the_grammar_panic(text in "[ -~\\n\u{e4}]{0,60}") {
        let _ = grammar::expression(&text, 0, &mut Names::default());
    }

    #[test]
    fn words_in_any_order_never_panic(
        words in prop::collection::vec(prop::sample::select(vec![
            "(", ")", ",", "+", "-", "~", "not", "is", "null", "true", "case", "when", "then", "else", "end", "1",
            "2.5", ":a", "abs", "random", "<", "=", "and", "9223372036854775808", "isnull", "\\\n",
        ]), 0..30)
    ) {
        let text = words.join(" ");
        if let Ok(mut scripts) = one(&format!("\\set a {text}\n")) {
            let _ = ran(&mut scripts);
        }
    }
}
