//! Values as SQL text, for protocols that send no parameters apart.

use std::fmt::Write;
use study::Engine;
use workload::transaction::Value;

/// Appends a value as the engine writes it in SQL.
pub fn literal(engine: Engine, value: &Value, sql: &mut String) {
    // Writing to a String cannot fail.
    let _ = match value {
        Value::Null => sql.write_str("NULL"),
        // A space, so that a minus before it does not begin a comment.
        Value::Int(number) if *number < 0 => write!(sql, " {number}"),
        Value::Int(number) => write!(sql, "{number}"),
        // Without an exponent it would be a decimal there, which computes in another way.
        Value::Float(number) if number.is_finite() && engine == Engine::Mariadb => write!(sql, " {number:e}"),
        Value::Float(number) if number.is_finite() => write!(sql, " {number:?}"),
        Value::Float(number) => write!(sql, "'{number}'"),
        Value::Text(text) => {
            quote(engine, text, sql);
            Ok(())
        }
    };
}

fn quote(engine: Engine, text: &str, sql: &mut String) {
    sql.push('\'');
    for letter in text.chars() {
        match letter {
            '\'' => sql.push_str("''"),
            // The others take a backslash as it is.
            '\\' if engine == Engine::Mariadb => sql.push_str("\\\\"),
            other => sql.push(other),
        }
    }
    sql.push('\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(engine: Engine, value: Value) -> String {
        let mut sql = String::new();
        literal(engine, &value, &mut sql);
        sql
    }

    #[test]
    fn a_text_cannot_leave_its_quotes() {
        assert_eq!(written(Engine::Postgres, "a'b\\".into()), "'a''b\\'");
        assert_eq!(written(Engine::Mariadb, "a'b\\".into()), "'a''b\\\\'");
    }

    #[test]
    fn numbers_keep_their_sign_and_their_kind() {
        assert_eq!(written(Engine::Sqlite, Value::Int(-5)), " -5");
        assert_eq!(written(Engine::Sqlite, Value::Float(2.0)), " 2.0");
        assert_eq!(written(Engine::Sqlite, Value::Null), "NULL");
    }
}
