//! `time.Location`: the zones of the tz database, which comes with the program.

use std::any::Any;
use std::rc::Rc;

use fitout_go_template::{Function, Host, Shape, Text, Type, Value};
use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

/// A place's time: how far from UTC it is at which moment, and what that is called.
#[derive(Debug)]
pub(crate) struct Location {
    name: String,
    rules: Rules,
}

#[derive(Debug)]
enum Rules {
    /// Always the same. Where there is no name, the offset is one.
    Fixed(Text, i32),
    Zone(TimeZone),
}

/// What holds at a moment.
pub(crate) struct Offset {
    pub(crate) name: Text,
    /// Seconds east of UTC.
    pub(crate) seconds: i32,
    pub(crate) daylight: bool,
}

/// The seconds of 400 years, after which the calendar begins anew.
const CYCLE: i64 = 146_097 * 86_400;
/// The beginning of the year 9500, which is still in the range of the tz database's reader.
const LATE: i64 = 237_631_276_800;

impl Location {
    pub(crate) fn utc() -> Rc<Self> {
        Self::fixed("UTC", Text::from("UTC"), 0)
    }

    pub(crate) fn fixed(name: &str, shown: Text, seconds: i32) -> Rc<Self> {
        Rc::new(Self { name: name.to_owned(), rules: Rules::Fixed(shown, seconds) })
    }

    /// The machine's own, by its name in the database; UTC if there is none of that name.
    pub(crate) fn local(name: &str) -> Rc<Self> {
        let rules = zone(name).map_or_else(|| Rules::Fixed(Text::from("UTC"), 0), Rules::Zone);
        Rc::new(Self { name: "Local".to_owned(), rules })
    }

    /// `time.LoadLocation`, but for the machine's own; upper and lower case are not the same.
    pub(crate) fn load(name: &[u8]) -> Option<Rc<Self>> {
        if name.is_empty() || name == b"UTC" {
            return Some(Self::utc());
        }
        let name = str::from_utf8(name).ok()?;
        Some(Rc::new(Self { name: name.to_owned(), rules: Rules::Zone(zone(name)?) }))
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What holds at a moment, in seconds since 1970.
    pub(crate) fn at(&self, moment: i64) -> Offset {
        let zone = match &self.rules {
            Rules::Fixed(name, seconds) => return Offset { name: name.clone(), seconds: *seconds, daylight: false },
            Rules::Zone(zone) => zone,
        };
        // Beyond its range, the past is as its beginning and the future repeats.
        let near = if moment > LATE { LATE - CYCLE + (moment - LATE).rem_euclid(CYCLE) } else { moment };
        let info = zone.to_offset_info(Timestamp::from_second(near).unwrap_or(Timestamp::MIN));
        Offset {
            name: Text::from(info.abbreviation()),
            seconds: info.offset().seconds(),
            daylight: info.dst().is_dst(),
        }
    }

    /// How far from UTC it is when it is called that, preferably at a moment that is given in its own time.
    pub(crate) fn by_name(&self, name: &[u8], moment: i64) -> Option<i32> {
        let all = match &self.rules {
            Rules::Fixed(shown, seconds) => return (**shown == *name).then_some(*seconds),
            Rules::Zone(zone) => offsets(zone, name),
        };
        let held = |seconds: &i32| {
            let then = self.at(moment.wrapping_sub((*seconds).into()));
            (*then.name == *name).then_some(then.seconds)
        };
        all.iter().find_map(held).or_else(|| all.first().copied())
    }
}

fn zone(name: &str) -> Option<TimeZone> {
    let zone = TimeZoneDatabase::bundled().get(name).ok()?;
    (zone.iana_name() == Some(name)).then_some(zone)
}

/// All that a name has ever meant in a zone, the oldest first.
fn offsets(zone: &TimeZone, name: &[u8]) -> Vec<i32> {
    // From 2038 on only rules repeat that were there before.
    let late = Timestamp::from_second(1 << 31).unwrap_or(Timestamp::MAX);
    let past = zone.preceding(late);
    let mut all: Vec<i32> = past
        .filter(|change| change.abbreviation().as_bytes() == name)
        .map(|change| change.offset().seconds())
        .collect();
    let first = zone.to_offset_info(Timestamp::MIN);
    if first.abbreviation().as_bytes() == name {
        all.push(first.offset().seconds());
    }
    all.reverse();
    all
}

/// The pointer to a location that templates see.
#[derive(Debug)]
pub(crate) struct LocationHost(pub(crate) Rc<Location>);

pub(crate) const LOCATION: Type = Type::Named("*time.Location");

impl Host for LocationHost {
    fn type_name(&self) -> &'static str {
        "*time.Location"
    }

    fn shape(&self) -> Shape {
        Shape::Pointer(Vec::new())
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn text(&self) -> Option<Text> {
        Some(Text::from(self.0.name()))
    }

    fn method(&self, name: &[u8]) -> Option<Rc<Function>> {
        let location = Rc::clone(&self.0);
        (name == b"String").then(|| Function::plain(&[], Type::String, move |_, _| Value::string(location.name())))
    }
}
