//! Findings to bytes: text for a terminal, one HTML page, JSON and CSV.
//!
//! The one idea: a report is decided once, as tables and figures that are values (`view`), and printed four times. The
//! answer comes first, every estimate carries its interval, and a caveat stands beside the number that it touches.
//!
//! What it does not do: it opens nothing, asks no clock and computes no statistic; what analysis found is what is shown.

mod caveats;
mod chart;
mod csv;
mod harmless;
mod html;
mod json;
mod kept;
mod noted;
mod text;
mod view;

pub use csv::csv;
pub use harmless::{harms, shown};
pub use html::{Head, html, judged_html, sweet_spot_html};
pub use json::{ListedRun, ceiling_json, check_json, compare_json, json, list_json, plan_json, studies_json};
pub use text::{Colour, Detail, Layout, numbers, text, wrap};
pub use view::{JudgedColumn, JudgedCurve, JudgedPoint, SweetPoint, SweetSpot};
