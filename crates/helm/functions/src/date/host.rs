//! Times, months and weekdays as templates see them.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;

use fitout_go_template::{Error, Field, Format, Function, Host, Shape, Text, Type, Unsigned, Value};

use super::calendar::{MONTHS, WEEKDAYS};
use super::duration::{DURATION, Duration};
use super::time::Time;
use super::zone::{LOCATION, Location, LocationHost};

/// The type, as parameters and results name it.
pub(crate) const TIME: Type = Type::Named("time.Time");

/// What Go prints of a time, and what it writes of one.
const SHOWN: &[u8] = b"2006-01-02 15:04:05.999999999 -0700 MST";
const WRITTEN: &[u8] = b"2006-01-02T15:04:05.999999999Z07:00";

/// A time in the hands of a template.
#[derive(Debug)]
struct TimeHost {
    time: Time,
    /// What `Local` means to it.
    local: Rc<Location>,
}

/// The value of a time, and what `Local` means to it.
pub(crate) fn to_value(time: Time, local: &Rc<Location>) -> Value {
    Value::Host(Rc::new(TimeHost { time, local: Rc::clone(local) }))
}

/// The time that a value is, if it is one.
pub(crate) fn of(value: &Value) -> Option<&Time> {
    let Value::Host(host) = value else { return None };
    host.as_any()?.downcast_ref::<TimeHost>().map(|host| &host.time)
}

impl Host for TimeHost {
    fn type_name(&self) -> &'static str {
        "time.Time"
    }

    fn shape(&self) -> Shape {
        // Two are the same where they point to the same place; UTC is nowhere in memory.
        let place = &self.time.location;
        let address = if place.name() == "UTC" { 0 } else { Rc::as_ptr(place).addr() };
        let location = Value::Uint(Unsigned::Uintptr, address as u64);
        let (seconds, nanoseconds) = (Value::int64(self.time.seconds), Value::int64(self.time.nanoseconds.into()));
        Shape::Struct(vec![("wall", nanoseconds), ("ext", seconds), ("loc", location)])
    }

    /// None that others may see.
    fn field(&self, _name: &[u8]) -> Option<Field> {
        None
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn marshal(&self, format: Format) -> Option<Result<Shape, Error>> {
        let year = self.time.civil().year;
        Some(match format {
            Format::Json if !(0..=9999).contains(&year) => Err(Error::new(
                "json: error calling MarshalJSON for type time.Time: Time.MarshalJSON: year outside of range [0,9999]",
            )),
            Format::Json => Ok(Shape::Like(Value::string(self.time.format(WRITTEN)))),
            Format::Yaml => Ok(Shape::Like(Value::Bytes(self.time.format(WRITTEN).into()))),
            Format::Toml => Ok(Shape::Like(Value::Bytes(self.toml().into()))),
        })
    }

    fn text(&self) -> Option<Text> {
        Some(self.time.format(SHOWN).into())
    }

    fn method(&self, name: &[u8]) -> Option<Rc<Function>> {
        let known = self.part(name).or_else(|| self.unix(name)).or_else(|| self.another(name));
        known.or_else(|| self.comparison(name)).or_else(|| unfit(name))
    }
}

/// Methods with more results than templates can take.
fn unfit(name: &[u8]) -> Option<Rc<Function>> {
    let shown = String::from_utf8_lossy(name);
    let second = match name {
        b"Date" | b"Clock" => {
            return Some(Function::unfit(format!("function {shown} has 3 return values; should be 1 or 2")));
        }
        b"ISOWeek" | b"Zone" => "int",
        b"ZoneBounds" => "time.Time",
        _ => return None,
    };
    let reason = format!("invalid function signature for {shown}: second return value should be error; is {second}");
    Some(Function::unfit(reason))
}

impl TimeHost {
    /// As TOML has it: in what it did not say when it was read, it does not say anything now.
    fn toml(&self) -> Vec<u8> {
        let layout: &[u8] = match self.time.location.name() {
            "datetime-local" => b"2006-01-02T15:04:05.999999999",
            "date-local" => b"2006-01-02",
            "time-local" => b"15:04:05.999999999",
            _ => return self.time.format(WRITTEN),
        };
        self.time.within(&Location::utc()).format(layout)
    }

    /// Methods that answer a part of it, or all of it in words.
    fn part(&self, name: &[u8]) -> Option<Rc<Function>> {
        let civil = self.time.civil();
        let int = |number: i64| Some(Function::plain(&[], Type::INT, move |_, _| Value::int(number)));
        let named = |named: Named| {
            Some(Function::plain(&[], Type::Named(named.type_name()), move |_, _| Value::Host(Rc::new(named))))
        };
        match name {
            b"Year" => int(civil.year),
            b"Month" => named(Named::Month(civil.month)),
            b"Day" => int(civil.day.into()),
            b"YearDay" => int(civil.year_day.into()),
            b"Weekday" => named(Named::Weekday(civil.weekday)),
            b"Hour" => int(civil.hour.into()),
            b"Minute" => int(civil.minute.into()),
            b"Second" => int(civil.second.into()),
            b"Nanosecond" => int(self.time.nanoseconds.into()),
            b"Format" => {
                let time = self.time.clone();
                Some(Function::plain(&[Type::String], Type::String, move |_, arguments| match &arguments[0] {
                    Value::String(layout) => Value::string(time.format(layout)),
                    _ => Value::string(""),
                }))
            }
            b"String" => {
                let shown = Text::from(self.time.format(SHOWN));
                Some(Function::plain(&[], Type::String, move |_, _| Value::String(shown.clone())))
            }
            b"Location" => {
                let location = Rc::clone(&self.time.location);
                Some(Function::plain(&[], LOCATION, move |_, _| {
                    Value::Host(Rc::new(LocationHost(Rc::clone(&location))))
                }))
            }
            _ => None,
        }
    }

    /// Methods that count since 1970.
    fn unix(&self, name: &[u8]) -> Option<Rc<Function>> {
        let units = match name {
            b"Unix" => 1,
            b"UnixMilli" => 1000,
            b"UnixMicro" => 1_000_000,
            b"UnixNano" => 1_000_000_000,
            _ => return None,
        };
        let count = self.time.unix(units);
        Some(Function::plain(&[], Type::INT64, move |_, _| Value::int64(count)))
    }

    /// Methods that answer another time.
    fn another(&self, name: &[u8]) -> Option<Rc<Function>> {
        let (time, local) = (self.time.clone(), Rc::clone(&self.local));
        let int = |value: &Value| if let Value::Int(_, number) = value { *number } else { 0 };
        Some(match name {
            b"Add" => Function::plain(&[DURATION], TIME, move |_, arguments| {
                to_value(time.add(Duration::given(&arguments[0])), &local)
            }),
            b"AddDate" => Function::plain(&[Type::INT; 3], TIME, move |_, arguments| {
                to_value(time.add_date(int(&arguments[0]), int(&arguments[1]), int(&arguments[2])), &local)
            }),
            b"Truncate" => Function::plain(&[DURATION], TIME, move |_, arguments| {
                to_value(time.truncate(Duration::given(&arguments[0])), &local)
            }),
            b"Round" => Function::plain(&[DURATION], TIME, move |_, arguments| {
                to_value(time.round(Duration::given(&arguments[0])), &local)
            }),
            b"UTC" => Function::plain(&[], TIME, move |_, _| to_value(time.within(&Location::utc()), &local)),
            b"Local" => Function::plain(&[], TIME, move |_, _| to_value(time.within(&local), &local)),
            b"In" => Function::plain(&[LOCATION], TIME, move |_, arguments| {
                let place = match &arguments[0] {
                    Value::Host(host) => host.as_any().and_then(|any| any.downcast_ref::<LocationHost>()),
                    _ => None,
                };
                let place = place.map_or_else(Location::utc, |host| Rc::clone(&host.0));
                to_value(time.within(&place), &local)
            }),
            _ => return None,
        })
    }

    /// Methods that compare it with another.
    fn comparison(&self, name: &[u8]) -> Option<Rc<Function>> {
        let time = self.time.clone();
        let compared = |value: &Value, time: &Time| of(value).map_or(Ordering::Equal, |other| time.compare(other));
        let holds = |wanted: Ordering| {
            let time = time.clone();
            Function::plain(&[TIME], Type::Bool, move |_, arguments| {
                Value::Bool(compared(&arguments[0], &time) == wanted)
            })
        };
        let fact = |holds: bool| Function::plain(&[], Type::Bool, move |_, _| Value::Bool(holds));
        Some(match name {
            b"After" => holds(Ordering::Greater),
            b"Before" => holds(Ordering::Less),
            b"Equal" => holds(Ordering::Equal),
            b"Compare" => Function::plain(&[TIME], Type::INT, move |_, arguments| {
                Value::int(compared(&arguments[0], &time) as i64)
            }),
            b"Sub" => Function::plain(&[TIME], DURATION, move |_, arguments| {
                of(&arguments[0]).map_or(Duration(0), |other| time.sub(other)).to_value()
            }),
            b"IsZero" => fact(time.is_zero()),
            b"IsDST" => fact(time.location.at(time.seconds).daylight),
            _ => return None,
        })
    }
}

/// `time.Month` and `time.Weekday`: numbers with a name.
#[derive(Clone, Copy, Debug)]
enum Named {
    Month(u8),
    Weekday(u8),
}

impl Named {
    fn name(self) -> String {
        let (names, at, type_name) = match self {
            Self::Month(number) => (&MONTHS[..], i64::from(number) - 1, "Month"),
            Self::Weekday(number) => (&WEEKDAYS[..], i64::from(number), "Weekday"),
        };
        let name = usize::try_from(at).ok().and_then(|at| names.get(at));
        name.map_or_else(|| format!("%!{type_name}({at})"), |name| (*name).to_owned())
    }
}

impl Host for Named {
    fn type_name(&self) -> &'static str {
        match self {
            Self::Month(_) => "time.Month",
            Self::Weekday(_) => "time.Weekday",
        }
    }

    fn shape(&self) -> Shape {
        let (Self::Month(number) | Self::Weekday(number)) = self;
        Shape::Like(Value::int((*number).into()))
    }

    fn text(&self) -> Option<Text> {
        Some(self.name().into())
    }

    fn method(&self, name: &[u8]) -> Option<Rc<Function>> {
        let text = self.name();
        (name == b"String").then(|| Function::plain(&[], Type::String, move |_, _| Value::string(text.as_str())))
    }
}
