//! The standing order that is due next: it is posted like any other, and is due again later.
//!
//! What it does not do: it does not ask which day it is; days pass as fast as standing orders are carried out.

use super::post::{Payee, Post};
use super::statements::Said;
use crate::transaction::texts::say;
use crate::transaction::{Answers, Batch, Step};

/// A standing order on its way.
#[derive(Clone, Debug, Default)]
pub(super) struct Standing {
    pub(super) post: Post,
    id: i64,
    step: u8,
}

impl Standing {
    pub(super) fn new(post: Post) -> Standing {
        Standing { post, id: 0, step: 0 }
    }

    pub(super) fn restart(&mut self) {
        self.step = 0;
        self.post.restart();
    }

    pub(super) fn step(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        self.step += 1;
        match self.step {
            1 => {
                batch.begin(true);
                say(batch, Said::LockStanding, []);
            }
            2 => {
                let next = answers.get(1);
                self.id = next.int(0, 0);
                self.post.payer = next.int(0, 1) as u64;
                self.post.payees = vec![Payee { account: next.int(0, 2) as u64, cents: next.int(0, 3) }];
                self.post.lock(batch);
            }
            3 => {
                if !self.post.check(answers, 0) {
                    return Step::Fail;
                }
                self.post.write(batch);
                say(batch, Said::MoveStanding, [self.id.into()]);
                batch.commit();
            }
            _ => return Step::Done { rolled_back: false },
        }
        Step::Send
    }
}
