//! Functions on dates, and Go's `time` behind them.
//!
//! Known differences:
//!
//! - Zones are those that come with the program, not the machine's: what was decided later or elsewhere is not known. Dublin's
//!   winter is no daylight saving time here.
//! - `now` does not say what the monotonic clock says: it prints without `m=+0.01`, as a time from elsewhere does in Go.
//! - A number that is written into a template is no duration: `now.Add 5` is refused.

mod calendar;
mod duration;
mod format;
mod host;
mod layout;
mod parse;
mod quote;
mod time;
mod zone;

use std::cell::OnceCell;
use std::rc::Rc;

use fitout_go_template::{Error, Signed, Type, Value};

use crate::Environment;
use crate::argument::text;
use crate::declare::Declare;
use host::{TIME, of};

pub(crate) use duration::{DURATION, Duration, HOUR, MICROSECOND, MILLISECOND, MINUTE, SECOND};
pub(crate) use host::to_value;
pub(crate) use time::Time;
pub(crate) use zone::Location;

/// What the functions know of the world.
struct Clock {
    world: Rc<dyn Environment>,
    /// Its place, once somebody wants to know.
    place: OnceCell<Rc<Location>>,
}

impl Clock {
    fn local(&self) -> &Rc<Location> {
        self.place.get_or_init(|| Location::local(&self.world.zone()))
    }

    fn now(&self) -> Time {
        let (seconds, nanoseconds) = self.world.now();
        Time { seconds, nanoseconds, location: Rc::clone(self.local()) }
    }

    fn unix(&self, seconds: i64) -> Time {
        Time { seconds, nanoseconds: 0, location: Rc::clone(self.local()) }
    }

    fn since(&self, time: &Time) -> Duration {
        self.now().sub(time)
    }

    /// What is formatted as a date: what is none is now.
    fn date(&self, value: &Value) -> Time {
        match value {
            Value::Int(Signed::Int | Signed::Int32 | Signed::Int64, seconds) => self.unix(*seconds),
            other => of(other).cloned().unwrap_or_else(|| self.now()),
        }
    }

    fn in_zone(&self, layout: &Value, date: &Value, zone: &[u8]) -> Value {
        let location = if zone == b"Local" { Some(Rc::clone(self.local())) } else { Location::load(zone) };
        let location = location.unwrap_or_else(Location::utc);
        Value::string(self.date(date).within(&location).format(text(layout)))
    }

    fn parse(&self, layout: &Value, value: &Value) -> Result<Value, Error> {
        parse::parse(text(layout), text(value), self.local()).map(|time| self.value(time))
    }

    fn value(&self, time: Time) -> Value {
        to_value(time, self.local())
    }

    /// A time moved by a duration that is written.
    fn modify(&self, by: &Value, date: &Value) -> Result<Value, Error> {
        let by = Duration::parse(text(by))?;
        Ok(self.value(of(date).cloned().unwrap_or_else(Time::zero).add(by)))
    }
}

pub(crate) fn add(declare: &mut Declare<'_>, world: &Rc<dyn Environment>) {
    let clock = Rc::new(Clock { world: Rc::clone(world), place: OnceCell::new() });
    add_formats(declare, &clock);
    add_times(declare, &clock);
    add_durations(declare, &clock);
}

fn add_formats(declare: &mut Declare<'_>, clock: &Rc<Clock>) {
    const HTML: &str = "2006-01-02";
    let here = Rc::clone(clock);
    declare.plain(&["date"], &[Type::String, Type::Any], Type::String, move |arguments| {
        here.in_zone(&arguments[0], &arguments[1], b"Local")
    });
    let here = Rc::clone(clock);
    declare.plain(
        &["dateInZone", "date_in_zone"],
        &[Type::String, Type::Any, Type::String],
        Type::String,
        move |arguments| here.in_zone(&arguments[0], &arguments[1], text(&arguments[2])),
    );
    let here = Rc::clone(clock);
    declare.plain(&["htmlDate"], &[Type::Any], Type::String, move |arguments| {
        here.in_zone(&HTML.into(), &arguments[0], b"Local")
    });
    let here = Rc::clone(clock);
    declare.plain(&["htmlDateInZone"], &[Type::Any, Type::String], Type::String, move |arguments| {
        here.in_zone(&HTML.into(), &arguments[0], text(&arguments[1]))
    });
}

fn add_times(declare: &mut Declare<'_>, clock: &Rc<Clock>) {
    let here = Rc::clone(clock);
    declare.plain(&["now"], &[], TIME, move |_| here.value(here.now()));
    let here = Rc::clone(clock);
    declare.plain(&["toDate"], &[Type::String, Type::String], TIME, move |arguments| {
        here.parse(&arguments[0], &arguments[1]).unwrap_or_else(|_| here.value(Time::zero()))
    });
    let here = Rc::clone(clock);
    declare.fallible(&["mustToDate"], &[Type::String, Type::String], TIME, move |arguments| {
        here.parse(&arguments[0], &arguments[1])
    });
    let here = Rc::clone(clock);
    declare.plain(&["dateModify", "date_modify"], &[Type::String, TIME], TIME, move |arguments| {
        here.modify(&arguments[0], &arguments[1]).unwrap_or_else(|_| arguments[1].clone())
    });
    let here = Rc::clone(clock);
    declare.fallible(&["mustDateModify", "must_date_modify"], &[Type::String, TIME], TIME, move |arguments| {
        here.modify(&arguments[0], &arguments[1])
    });
    declare.plain(&["unixEpoch"], &[TIME], Type::String, |arguments| {
        Value::string(of(&arguments[0]).map_or(0, |time| time.seconds).to_string())
    });
}

fn add_durations(declare: &mut Declare<'_>, clock: &Rc<Clock>) {
    let here = Rc::clone(clock);
    declare.plain(&["ago"], &[Type::Any], Type::String, move |arguments| {
        let time = match &arguments[0] {
            Value::Int(Signed::Int | Signed::Int64, seconds) => here.unix(*seconds),
            other => of(other).cloned().unwrap_or_else(|| here.now()),
        };
        Value::string(here.since(&time).round(Duration(SECOND)).to_string())
    });
    declare.plain(&["duration"], &[Type::Any], Type::String, |arguments| {
        let seconds = match &arguments[0] {
            Value::String(text) => parse_int(text),
            Value::Int(Signed::Int64, seconds) => *seconds,
            _ => 0,
        };
        Value::string(Duration(seconds.wrapping_mul(SECOND)).to_string())
    });
    let here = Rc::clone(clock);
    declare.plain(&["durationRound"], &[Type::Any], Type::String, move |arguments| {
        let duration = match &arguments[0] {
            Value::String(text) => Duration::parse(text).unwrap_or(Duration(0)),
            Value::Int(Signed::Int64, nanoseconds) => Duration(*nanoseconds),
            other => of(other).map_or(Duration(0), |time| here.since(time)),
        };
        Value::string(rounded(duration))
    });
}

/// The largest unit of which there is more than one whole, in words.
fn rounded(duration: Duration) -> String {
    let nanoseconds = duration.0.unsigned_abs();
    let day = 24 * HOUR;
    let units = [(365 * day, "y"), (30 * day, "mo"), (day, "d"), (HOUR, "h"), (MINUTE, "m"), (SECOND, "s")];
    let unit = units.into_iter().find(|(unit, _)| nanoseconds > unit.unsigned_abs());
    unit.map_or_else(|| "0s".to_owned(), |(unit, name)| format!("{}{name}", nanoseconds / unit.unsigned_abs()))
}

/// `strconv.ParseInt` where an error does not count: what is too large is as large as it can be.
fn parse_int(text: &[u8]) -> i64 {
    let text = str::from_utf8(text).unwrap_or_default();
    match text.parse::<i64>() {
        Ok(number) => number,
        Err(error) => match error.kind() {
            std::num::IntErrorKind::PosOverflow => i64::MAX,
            std::num::IntErrorKind::NegOverflow => i64::MIN,
            _ => 0,
        },
    }
}
