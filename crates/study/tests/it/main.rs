//! The study room from outside: text in, study, plan and problems out.

mod checking;
mod expansion;
mod guide;
mod layouts;
mod opening;
mod overriding;
mod refusals;
mod repeating;
mod searching;
mod shipping;
mod text;
