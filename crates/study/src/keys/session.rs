//! Keys of sessions on a database.

use super::group;
use crate::{Isolation, OnError, Protocol};
use reading::key::{Choice, Count, Flag, Span, Text};
use units::Nanos;

group! { SESSION, Session;
    /// Threads of the generator that serve the sessions, where one thread can serve many.
    Database THREADS "threads": Count = Count { min: 1, max: 1024 }, Is("1");
    /// How statements travel: parsed once a session, parsed each time, or as text with the values in it.
    Database PROTOCOL "protocol": Choice<Protocol> = Choice(Protocol::WORDS), Is("prepared");
    /// Send calls that do not depend on each other together, where the protocol can.
    Database PIPELINE "pipeline": Flag = Flag, Is("true");
    /// How far transactions are kept apart; `default` leaves the server's choice.
    Database ISOLATION "isolation": Choice<Isolation> = Choice(Isolation::WORDS), Is("default");
    /// How often a transaction is tried at most when the server aborts it for a conflict or a deadlock.
    Database TRIES "tries": Count = Count { min: 1, max: 1_000 }, Is("10");
    /// Open the session anew, with all that it prepares, before every so many transactions, as programs do that keep
    /// none; the time is part of a response. Each session has a thread of the generator then. 0 keeps sessions open.
    Database REOPEN "reopen": Count = Count { min: 0, max: 1_000_000 }, Is("0");
    /// Count the transactions whose response takes longer than this; with a `rate`, skip those that could only begin
    /// later, and count them apart. 0 s is no limit.
    Database LATENCY_LIMIT "latency_limit": Span<Nanos> = Span { min: Nanos::ZERO, max: Nanos::from_secs(3_600) }, Is("0 s");
    /// What the server's refusal of a statement does: its transaction fails and the session goes on, or the trial
    /// stops. A script that ends inside of a transaction always stops it.
    Database ON_ERROR "on_error": Choice<OnError> = Choice(OnError::WORDS), Is("go-on");
    /// Settings of a private server or of SQLite that move performance, by their own names in full; as a factor they
    /// are compared.
    Database SERVER "server": Text = Text("SETTING=VALUE, several with `;` between"), Is("");
    /// Check the data by its own rules, and against the ledger of acknowledged commits after each trial.
    Database CHECK "check": Flag = Flag, Is("true");
    /// What the loss of the server does, by a restart or a failover: the trial ends and the data are checked, or its
    /// sessions wait for the server, for as long as `recovery` says, and go on.
    Database ON_OUTAGE "on_outage": Choice<bool> = Choice(&[("end", false), ("wait", true)]), Is("end");
    /// How long a server that was lost in a trial is waited for, until it takes connections again and its data can be
    /// checked.
    Database RECOVERY "recovery": Span<Nanos> = Span { min: Nanos::ZERO, max: Nanos::from_secs(86_400) }, Is("120 s");
    /// Count what each statement costs the database; `false` leaves the server without its counting.
    Database PROFILE "profile": Flag = Flag, Is("true");
}
