//! Dates and durations made up by chance are shown, read and moved as Go does it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod oracle;
#[allow(dead_code, reason = "there are no tables here")]
mod rows;
mod world;

use anyhow::Result;
use fitout_testkit::sample;
use rows::Question;
use serde_json::{Value as Json, json};
use world::World;

/// How many cases there are in all, and how many of them a run takes.
const CASES: u64 = 1_000_000;
const TAKEN: usize = 10_000;
const AT_ONCE: usize = 1000;

const ELEMENTS: &[&str] = &[
    "2006",
    "06",
    "January",
    "Jan",
    "01",
    "1",
    "Monday",
    "Mon",
    "02",
    "_2",
    "2",
    "002",
    "__2",
    "15",
    "03",
    "3",
    "04",
    "4",
    "05",
    "5",
    "PM",
    "pm",
    "MST",
    "Z0700",
    "Z070000",
    "Z07",
    "Z07:00",
    "Z07:00:00",
    "-0700",
    "-070000",
    "-07",
    "-07:00",
    "-07:00:00",
    ".000",
    ".999",
    ",00",
    ".9",
    ".000000000",
    ".999999999",
    "_2006",
];
const BETWEEN: &[&str] = &["-", "/", " ", ":", "", "T", "  ", ", ", "x", "é", ".", "0", "\""];
const ZONES: &[&str] = &[
    "",
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Australia/Sydney",
    "America/Sao_Paulo",
    "Asia/Tokyo",
    "Europe/Lisbon",
    "Europe/London",
    "Pacific/Auckland",
    "America/Anchorage",
];
const VALUES: &[&str] = &[
    "2026",
    "26",
    "March",
    "mar",
    "03",
    "3",
    "Tuesday",
    "Tue",
    "09",
    " 9",
    "9",
    "31",
    "060",
    "366",
    "23",
    "11",
    "59",
    "7",
    "60",
    "24",
    "PM",
    "am",
    "CET",
    "CEST",
    "EST",
    "UTC",
    "GMT+2",
    "Z",
    "+0100",
    "-0500",
    "+01:00",
    "+05:30",
    "-00:00:30",
    ".5",
    ".123",
    ",25",
    ".123456789012",
    "0000",
    "-5",
    "+",
];
const UNITS: &[&str] = &["ns", "us", "µs", "ms", "s", "m", "h", "d", "", " s", "mm"];

/// A source of chance: the same number makes the same things.
struct Chance(u64);

impl Chance {
    fn new(number: u64) -> Self {
        Self(number.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0xD1B5_4A32_D192_ED03))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 3
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next()).unwrap_or(0) % limit
    }

    fn one_of(&mut self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len())]
    }

    fn row(&mut self, of: &[&'static str]) -> String {
        let mut text = String::new();
        for _ in 0..=self.below(5) {
            text += self.one_of(of);
            text += self.one_of(BETWEEN);
        }
        text
    }

    /// Seconds since 1970: mostly within some centuries, now and then anywhere.
    fn moment(&mut self) -> i64 {
        let bits = [20, 31, 33, 34, 34, 34, 38, 55][self.below(8)];
        let seconds = i64::try_from(self.next() >> (61 - bits)).unwrap_or(0);
        if self.below(2) == 0 { -seconds } else { seconds }
    }

    fn duration(&mut self) -> String {
        let mut text = ["", "-", "+"][self.below(3)].to_owned();
        for _ in 0..=self.below(3) {
            text += &(self.next() >> self.below(61)).to_string();
            if self.below(3) == 0 {
                text += ".";
                text += &(self.next() >> (20 + self.below(41))).to_string();
            }
            text += self.one_of(UNITS);
        }
        text
    }

    fn question(&mut self) -> Question {
        let world = World {
            zone: self.one_of(ZONES).to_owned(),
            now: self.moment().clamp(-9_000_000_000, 9_000_000_000) * 1_000_000_000 + 123_456_000,
            ..World::default()
        };
        let layout = self.row(ELEMENTS);
        let (text, data): (&str, Json) = match self.below(7) {
            0 => ("{{dateInZone .l .t .z}}", json!({"l": layout, "t": self.moment(), "z": self.one_of(ZONES)})),
            1 => ("{{now | date .l}}|{{now.YearDay}}|{{now.Weekday}}|{{now.IsDST}}", json!({"l": layout})),
            2 => ("{{mustToDate .l .v}}", json!({"l": layout, "v": self.row(VALUES)})),
            // What was written is read again.
            3 | 4 => {
                let value = format!("{{{{mustToDate .l (dateInZone .l {} .z)}}}}", self.moment());
                let data = json!({"l": layout, "z": self.one_of(ZONES)});
                return Question { text: value, others: Vec::new(), data, world };
            }
            5 => ("{{mustDateModify .d now}} {{durationRound .d}}", json!({"d": self.duration()})),
            _ => {
                let (years, months, days) = (self.below(400), self.below(40), self.below(900));
                let text = "{{$t := now.AddDate .y .m .d}}{{$t}} {{$t.Sub now}} {{$d := now.Sub (toDate \"15:04\" \"10:11\")}}{{$t.Round $d}} {{$t.Truncate $d}} {{$d.Round ($t.Sub now)}} {{toJson $t}}";
                (
                    text,
                    json!({"y": i64::try_from(years).unwrap() - 200, "m": i64::try_from(months).unwrap() - 20, "d": i64::try_from(days).unwrap() - 450}),
                )
            }
        };
        Question { text: text.to_owned(), others: Vec::new(), data, world }
    }
}

#[test]
fn dates_are_the_same() -> Result<()> {
    let mut oracle = oracle::start()?;
    let cases = sample((0..CASES).collect(), TAKEN);
    let (mut answered, mut wrong) = (0, Vec::new());
    for some in cases.chunks(AT_ONCE) {
        let questions: Vec<_> = some.iter().map(|case| Chance::new(*case).question()).collect();
        for (question, theirs) in questions.iter().zip(oracle::ask(&mut oracle, &questions)?) {
            let ours = question.ours();
            answered += usize::from(!matches!(theirs, rows::Answer::Refusal(_)));
            if ours != theirs {
                wrong.push(format!("{question:?}\n  Go:   {theirs:?}\n  ours: {ours:?}"));
            }
        }
    }
    println!("{answered} of {} were answered", cases.len());
    assert!(answered * 3 > cases.len(), "only {answered} of {} were answered", cases.len());
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n"));
    Ok(())
}
