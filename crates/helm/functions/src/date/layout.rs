//! Layouts: how Go describes the text of a time, by what the text of a certain time would be.

/// An element of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    LongMonth,
    Month,
    /// A number, padded with a zero or not.
    MonthNumber(bool),
    LongWeekday,
    Weekday,
    Day(Pad),
    YearDay(Pad),
    Hour,
    Hour12(bool),
    Minute(bool),
    Second(bool),
    LongYear,
    Year,
    /// In upper case or in lower.
    Noon(bool),
    ZoneName,
    Zone(Zone),
    /// A fraction of a second.
    Fraction(Fraction),
}

/// With what a number is padded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pad {
    None,
    Space,
    Zero,
}

/// How an offset is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Zone {
    /// Whether `Z` stands for none.
    pub(super) letter: bool,
    pub(super) colon: bool,
    /// How many numbers there are: hours, minutes, seconds.
    pub(super) numbers: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fraction {
    pub(super) digits: usize,
    /// Whether zeros at the end are left out.
    pub(super) trimmed: bool,
    pub(super) separator: u8,
}

/// What comes before the first element, the element and its text, and what comes after it.
pub(super) struct Piece<'l> {
    pub(super) before: &'l [u8],
    pub(super) element: Option<Element>,
    pub(super) written: &'l [u8],
    pub(super) after: &'l [u8],
}

/// Cuts a layout at its first element.
pub(super) fn first(layout: &[u8]) -> Piece<'_> {
    for at in 0..layout.len() {
        if let Some((element, length)) = element(&layout[at..]) {
            // An underscore before a year stands for itself.
            let skipped = usize::from(element == Element::LongYear && layout[at] == b'_');
            let (begin, end) = (at + skipped, at + length);
            let (before, written, after) = (&layout[..begin], &layout[begin..end], &layout[end..]);
            return Piece { before, element: Some(element), written, after };
        }
    }
    Piece { before: layout, element: None, written: &[], after: &[] }
}

/// Texts that are elements by themselves; of two that begin alike, the one that counts comes first.
const ELEMENTS: &[(&[u8], Element)] = &[
    (b"January", Element::LongMonth),
    (b"Monday", Element::LongWeekday),
    (b"MST", Element::ZoneName),
    (b"01", Element::MonthNumber(true)),
    (b"02", Element::Day(Pad::Zero)),
    (b"03", Element::Hour12(true)),
    (b"04", Element::Minute(true)),
    (b"05", Element::Second(true)),
    (b"06", Element::Year),
    (b"002", Element::YearDay(Pad::Zero)),
    (b"15", Element::Hour),
    (b"1", Element::MonthNumber(false)),
    (b"2006", Element::LongYear),
    (b"2", Element::Day(Pad::None)),
    (b"_2006", Element::LongYear),
    (b"_2", Element::Day(Pad::Space)),
    (b"__2", Element::YearDay(Pad::Space)),
    (b"3", Element::Hour12(false)),
    (b"4", Element::Minute(false)),
    (b"5", Element::Second(false)),
    (b"PM", Element::Noon(true)),
    (b"pm", Element::Noon(false)),
];

/// Offsets after their sign or letter.
const ZONES: &[(&[u8], bool, usize)] =
    &[(b"070000", false, 3), (b"07:00:00", true, 3), (b"0700", false, 2), (b"07:00", true, 2), (b"07", false, 1)];

/// The element at the beginning, and how long it is.
fn element(layout: &[u8]) -> Option<(Element, usize)> {
    match layout {
        [sign @ (b'-' | b'Z'), rest @ ..] => {
            let (text, colon, numbers) = ZONES.iter().find(|(text, ..)| rest.starts_with(text))?;
            let zone = Zone { letter: *sign == b'Z', colon: *colon, numbers: *numbers };
            return Some((Element::Zone(zone), text.len() + 1));
        }
        [separator @ (b'.' | b','), digit @ (b'0' | b'9'), ..] => {
            let digits = layout[1..].iter().take_while(|byte| *byte == digit).count();
            if layout.get(digits + 1).is_some_and(u8::is_ascii_digit) {
                return None;
            }
            // Go keeps no more than 12 bits of the number of digits.
            let fraction = Fraction { digits: digits & 0xFFF, trimmed: *digit == b'9', separator: *separator };
            return Some((Element::Fraction(fraction), digits + 1));
        }
        _ => {}
    }
    if let Some((text, element)) = ELEMENTS.iter().find(|(text, _)| layout.starts_with(text)) {
        return Some((*element, text.len()));
    }
    // A name that goes on is another word.
    let word = |text: &[u8]| layout.starts_with(text) && !layout.get(text.len()).is_some_and(u8::is_ascii_lowercase);
    if word(b"Jan") { Some((Element::Month, 3)) } else { word(b"Mon").then_some((Element::Weekday, 3)) }
}
