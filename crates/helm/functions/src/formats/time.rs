//! Dates and times of TOML.

use std::rc::Rc;

use fitout_go_template::{Text, Value};
use fitout_go_toml::{Datetime, Zone};

use crate::Environment;
use crate::date::{Location, Time, to_value};

/// Where the machine is.
pub(crate) struct Place {
    local: Rc<Location>,
    /// How far east that is now, in seconds.
    offset: i32,
}

impl Place {
    /// Where a world is.
    pub(crate) fn of(world: &dyn Environment) -> Self {
        let local = Location::local(&world.zone());
        let offset = local.at(world.now().0).seconds;
        Self { local, offset }
    }

    /// The value of a date or a time. Where it does not say where it is, it is here, in a zone that says what it was.
    pub(crate) fn value(&self, datetime: &Datetime) -> Value {
        let Datetime { year, month, day, hour, minute, second, nanosecond, zone } = *datetime;
        let at = |location: &Rc<Location>| {
            let date = (year.into(), month.into(), day.into());
            Time::of(date, (hour.into(), minute.into(), second.into()), nanosecond, location)
        };
        let here = |name: &str| at(&Location::fixed(name, Text::from(name), self.offset));
        let time = match zone {
            Zone::Utc => at(&Location::utc()),
            Zone::Offset(offset) => self.away(&at(&Location::utc()), offset),
            Zone::LocalDatetime => here("datetime-local"),
            Zone::LocalDate => here("date-local"),
            Zone::LocalTime => here("time-local"),
        };
        to_value(time, &self.local)
    }

    /// A time so far east. If it is as far here, it is here.
    fn away(&self, time: &Time, offset: i32) -> Time {
        let time = time.add_seconds(-i64::from(offset));
        if self.local.at(time.seconds).seconds == offset {
            return time.within(&self.local);
        }
        time.within(&Location::fixed("", Text::from(""), offset))
    }
}
