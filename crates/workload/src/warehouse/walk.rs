//! Walks through reports: what a user looks at, and what he does next.
//!
//! The one idea: as many users walk as there are sessions; arrival `n` is the next step of user `n` modulo their number, and a
//! walk is drawn anew from its beginning for each of its steps. So the step of an arrival follows from the seed and its
//! number, whoever carries it out, and what is drawn next depends on what was done last.
//!
//! What it does not do: it writes no SQL.

use super::scale::{BELOW, CATEGORIES, COUNTRIES, CUBES, GROUPS, QUARTERS, REGIONS, parent};
use super::spec::{Users, Variables};
use crate::kind::numbers::share_at;
use random::{Lane, below, mix};

units::words! {
    /// What a user does, in the order of classes.
    pub(super) enum Move {
        Open = "open" "Opens a report: product categories or regions, of a period.",
        DrillDown = "drill-down" "Looks into one row of the report.",
        Slice = "slice" "Keeps one region or one product category.",
        SwapAxes = "swap-axes" "Takes another dimension into the rows.",
        ChangeVariable = "change-variable" "Takes another period.",
        GoBack = "go-back" "Takes back the last move.",
    }
}

impl Move {
    /// How likely each move from the second of [`Move::ALL`] on comes after this one, in hundredths.
    fn next(self) -> [u64; 5] {
        match self {
            Move::Open => [45, 25, 10, 20, 0],
            Move::DrillDown => [30, 20, 15, 15, 20],
            Move::Slice => [30, 10, 15, 25, 20],
            Move::SwapAxes => [40, 20, 0, 25, 15],
            Move::ChangeVariable => [30, 20, 15, 15, 20],
            Move::GoBack => [35, 20, 15, 30, 0],
        }
    }
}

units::words! {
    /// What stands in the rows of a report, in the order of statements.
    pub(super) enum Axis {
        Category = "categories",
        Group = "product groups",
        Product = "products",
        Region = "regions",
        Country = "countries",
        Customer = "customers",
        Channel = "channels",
    }
}

impl Axis {
    /// Whether a slice of it keeps one category: where customers stand in the rows; else it keeps one region.
    pub(super) fn sliced_by_category(self) -> bool {
        matches!(self, Axis::Region | Axis::Country | Axis::Customer)
    }
}

/// What a user looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct View {
    pub(super) rows: Axis,
    /// The member (from 1) of the level above that the rows lie below; 0 where nothing is above.
    pub(super) parent: u64,
    /// The region or category (from 1) that is kept; 0 for all.
    pub(super) slice: u64,
    /// The first quarter, from 1.
    pub(super) from: u64,
    /// Quarters.
    pub(super) quarters: u64,
}

/// A step of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DialogStep {
    pub(super) cube: u64,
    pub(super) made: Move,
    pub(super) view: View,
}

/// Steps of a walk, the first of which opens a report.
pub(super) const LENGTH: u64 = 12;

/// All walks of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walks {
    seed: u64,
    walkers: u64,
    users: Users,
    variables: Variables,
}

/// Draws of one step, one after the other.
struct Draws {
    state: u64,
    variables: Variables,
}

impl Draws {
    fn below(&mut self, count: u64) -> u64 {
        self.state = mix(self.state.wrapping_add(random::GOLDEN));
        below(self.state, count)
    }

    /// A value of a variable, from 1, of so many.
    fn value(&mut self, count: u64) -> u64 {
        let count = if self.variables == Variables::Repeat { count.min(2) } else { count };
        1 + self.below(count)
    }

    /// A year in half of all cases, else half a year or a quarter: where it begins, and quarters.
    fn period(&mut self) -> (u64, u64) {
        let quarters = [4, 4, 2, 1][self.below(4) as usize];
        match self.variables {
            Variables::Differ => (1 + self.below(QUARTERS + 1 - quarters), quarters),
            Variables::Repeat => (QUARTERS - 3, quarters),
        }
    }

    fn after(&mut self, last: Move) -> Move {
        let drawn = share_at(self.below(100), last.next());
        drawn.and_then(|place| Move::ALL.get(1 + place)).map_or(Move::ChangeVariable, |made| *made)
    }
}

impl Walks {
    pub(super) fn new(seed: u64, walkers: u64, users: Users, variables: Variables) -> Walks {
        Walks { seed, walkers: walkers.max(1), users, variables }
    }

    /// The step of an arrival.
    pub(super) fn step(&self, n: u64) -> DialogStep {
        let (walker, steps) = (n % self.walkers, n / self.walkers);
        let lane = Lane::new(self.seed, walker, 0x7761_6c6b).under(steps / LENGTH);
        let draws = |step: u64| Draws { state: lane.at(step), variables: self.variables };
        let mut first = draws(0);
        let cube = match self.users {
            Users::Pinned => walker % CUBES.len() as u64,
            Users::Free => first.below(CUBES.len() as u64),
        };
        let (from, quarters) = first.period();
        let rows = if first.below(2) == 0 { Axis::Category } else { Axis::Region };
        let mut made = Move::Open;
        let mut view = View { rows, parent: 0, slice: 0, from, quarters };
        let (mut before, mut depth) = ([view; LENGTH as usize], 0);
        for step in 1..=steps % LENGTH {
            let mut draws = draws(step);
            made = draws.after(made);
            if made == Move::GoBack && depth > 0 {
                depth -= 1;
                view = before[depth];
                continue;
            }
            let moved = moved(made, view, &mut draws);
            if moved.is_none() {
                made = Move::ChangeVariable;
            }
            (before[depth], depth) = (view, depth + 1);
            view = moved.unwrap_or_else(|| changed(view, &mut draws));
        }
        DialogStep { cube, made, view }
    }
}

/// What a move leads to; none where it leads nowhere from here.
fn moved(made: Move, view: View, draws: &mut Draws) -> Option<View> {
    match made {
        Move::DrillDown => drilled(view, draws),
        Move::Slice => {
            let count = if view.rows.sliced_by_category() { CATEGORIES } else { REGIONS };
            Some(View { slice: draws.value(count), ..view })
        }
        Move::SwapAxes => Some(swapped(view, draws)),
        Move::ChangeVariable => Some(changed(view, draws)),
        Move::Open | Move::GoBack => None,
    }
}

/// Below a member of the rows; below a member of the level above there are [`BELOW`] of them.
fn drilled(view: View, draws: &mut Draws) -> Option<View> {
    let below = |draws: &mut Draws| (view.parent - 1) * BELOW + draws.value(BELOW);
    let (rows, parent) = match view.rows {
        Axis::Category => (Axis::Group, draws.value(CATEGORIES)),
        Axis::Group => (Axis::Product, below(draws)),
        Axis::Region => (Axis::Country, draws.value(REGIONS)),
        Axis::Country => (Axis::Customer, below(draws)),
        Axis::Product | Axis::Customer | Axis::Channel => return None,
    };
    debug_assert!(parent <= GROUPS.max(COUNTRIES), "{rows:?} below {parent}");
    Some(View { rows, parent, ..view })
}

/// The other dimension comes into the rows; what was drilled into is kept as a slice.
fn swapped(view: View, draws: &mut Draws) -> View {
    let (rows, slice) = match view.rows {
        Axis::Category | Axis::Region if draws.below(3) == 0 => (Axis::Channel, 0),
        Axis::Category => (Axis::Region, 0),
        Axis::Group => (Axis::Region, view.parent),
        Axis::Product => (Axis::Region, parent(view.parent, BELOW)),
        Axis::Region => (Axis::Category, 0),
        Axis::Country => (Axis::Category, view.parent),
        Axis::Customer => (Axis::Category, parent(view.parent, BELOW)),
        Axis::Channel => (Axis::Category, view.slice),
    };
    View { rows, parent: 0, slice, ..view }
}

fn changed(view: View, draws: &mut Draws) -> View {
    let (from, quarters) = draws.period();
    View { from, quarters, ..view }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walks(users: Users, variables: Variables) -> Walks {
        Walks::new(7, 4, users, variables)
    }

    /// The steps of one user.
    fn of(walks: Walks, user: u64, count: u64) -> Vec<DialogStep> {
        (0..count).map(|step| walks.step(step * 4 + user)).collect()
    }

    #[test]
    fn every_walk_opens_a_report_and_each_later_step_follows_from_the_one_before() {
        for user in 0..4 {
            for walk in of(walks(Users::Free, Variables::Differ), user, 12_000).chunks(LENGTH as usize) {
                assert_eq!((walk[0].made, walk[0].view.parent), (Move::Open, 0));
                for two in walk.windows(2) {
                    let (one, next) = (&two[0], &two[1]);
                    assert_eq!(one.cube, next.cube);
                    match next.made {
                        Move::Open => panic!("{two:?}"),
                        Move::DrillDown => assert_ne!(one.view.rows, next.view.rows),
                        Move::Slice => assert!(next.view.slice > 0 && next.view.rows == one.view.rows),
                        Move::SwapAxes => assert_ne!(one.view.rows, next.view.rows),
                        Move::ChangeVariable => {
                            assert_eq!((one.view.rows, one.view.slice), (next.view.rows, next.view.slice));
                        }
                        Move::GoBack => assert!(walk.iter().any(|step| step.view == next.view)),
                    }
                    let last = next.view.from + next.view.quarters - 1;
                    assert!(next.view.from >= 1 && last <= QUARTERS, "{next:?}");
                }
            }
        }
    }

    #[test]
    fn all_axes_and_moves_come_and_all_cubes_do() {
        let steps: Vec<DialogStep> = (0..20_000).map(|n| walks(Users::Free, Variables::Differ).step(n)).collect();
        let share = |wanted: &dyn Fn(&DialogStep) -> bool| steps.iter().filter(|step| wanted(step)).count();
        assert!(Move::ALL.iter().all(|made| share(&|step| step.made == *made) > 1_000));
        assert!(Axis::ALL.iter().all(|rows| share(&|step| step.view.rows == *rows) > 500));
        assert!((0..10).all(|cube| share(&|step| step.cube == cube) > 1_500));
    }

    #[test]
    fn a_pinned_user_stays_with_his_cube_and_few_variables_come_again() {
        let pinned = of(walks(Users::Pinned, Variables::Repeat), 3, 1_200);
        assert!(pinned.iter().all(|step| step.cube == 3));
        let views = |steps: Vec<DialogStep>| {
            let mut views: Vec<String> = steps.iter().map(|step| format!("{:?}", step.view)).collect();
            views.sort_unstable();
            views.dedup();
            views.len()
        };
        let differ = views(of(walks(Users::Pinned, Variables::Differ), 3, 1_200));
        assert!(views(pinned) * 4 < differ, "{differ}");
    }
}
