//! The study room from outside: text in, study, plan and problems out.





mod shipping;
mod text;
