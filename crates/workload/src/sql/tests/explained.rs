//! What a user is told about a script.

use crate::sql::builtin::TPCB_LIKE;
use crate::sql::explain;

#[test]
fn a_script_is_explained_command_by_command() {
    let explained = explain("money", TPCB_LIKE);
    assert_eq!(explained.problems, []);
    assert_eq!(explained.commands.len(), 11);
    assert_eq!(explained.commands[0].text, "aid = random(1, (100000 * :scale))");
    assert_eq!((explained.commands[5].kind, explained.commands[5].place.line), ("statement", 6));
    assert_eq!(explained.sets, ["aid", "bid", "delta", "tid"]);
    assert_eq!(explained.reads, ["aid", "bid", "delta", "scale", "tid"]);
    assert!(explained.needs.is_empty());
    assert_eq!(explained.statements[2], "SELECT abalance FROM pgbench_accounts WHERE aid = $1");
    assert_eq!(explained.notes.len(), 1);
}

#[test]
fn what_surprises_is_noted_and_what_is_missing_is_named() {
    let text = "\\if :mode = 1\nselect ':mode', $1 \\; select 2 as x \\gset g_\n\\endif\n\\set y debug(:g_x)\n\\sleep 1\n\\shell a\n;\n";
    let explained = explain("odd", text);
    assert_eq!(explained.needs, ["mode"]);
    assert_eq!(explained.sets, ["g_x", "y"]);
    assert_eq!(explained.commands.iter().map(|command| command.depth).collect::<Vec<_>>(), [0, 1, 0, 0, 0, 0]);
    assert_eq!(explained.problems.len(), 1);
    let noted = |wanted: &str| explained.notes.iter().any(|note| note.text.contains(wanted));
    for wanted in
        [":mode stands in quotes", "$1 of its own", "travel together", "prints nothing", "the pause", "empty query"]
    {
        assert!(noted(wanted), "{wanted}: {:?}", explained.notes);
    }
}
