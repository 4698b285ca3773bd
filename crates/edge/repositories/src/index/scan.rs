//! An index read as it arrives: of 20 MB no more is held than one version of the wanted chart.

use std::io::{self, Write};

use serde_json::Value;

use super::Release;
use super::line::{Line, Open, Unusual, go_on, indent, is_mark, read};

/// A line that is longer is for the whole parser, and so is a version of a chart.
const LONGEST: usize = 1 << 20;

/// Why there is nothing to be had from an index in this way.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Only a whole parser understands this.
    Unusual,
    /// It is no index.
    Wrong(String),
    /// It goes on for longer than it may.
    TooLarge,
}

/// Why a scan looks no further.
enum Stop {
    /// All that is wanted has been seen.
    Done,
    /// There is nothing to be had.
    Fault(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Unusual> for Stop {
    fn from(_: Unusual) -> Self {
        Self::Fault(Fault::Unusual)
    }
}

/// Where a scan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Before the first key.
    Start,
    /// At a key of the index itself that is none of ours.
    Outside,
    /// Below `entries`, before the first chart.
    Entries,
    /// At a chart that is not wanted; charts are in this column.
    Other(usize),
    /// At the wanted chart; charts are in the first column, and versions in the second, once there is one.
    Wanted(usize, Option<usize>),
}

/// Reads an index and keeps the versions of one chart.
pub(crate) struct Scan {
    chart: String,
    /// How many bytes it still may have.
    left: u64,
    /// The beginning of a line whose end is still to come.
    partial: Vec<u8>,
    open: Open,
    place: Place,
    begun: bool,
    versioned: bool,
    item: Vec<u8>,
    releases: Option<Vec<Release>>,
    stop: Option<Stop>,
}

impl Scan {
    /// A scan for this chart, in an index of at most so many bytes.
    pub(crate) fn new(chart: &str, limit: u64) -> Self {
        Self {
            chart: chart.to_owned(),
            left: limit,
            partial: Vec::new(),
            open: Open::Nothing,
            place: Place::Start,
            begun: false,
            versioned: false,
            item: Vec::new(),
            releases: None,
            stop: None,
        }
    }

    /// Whether it looks no further.
    pub(crate) fn has_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// The versions of the chart, when the index has ended or the scan has; none if the chart is not there.
    pub(crate) fn finish(mut self) -> Result<Option<Vec<Release>>, Fault> {
        if self.stop.is_none() {
            let last = std::mem::take(&mut self.partial);
            self.stop = self.line(&last).and_then(|()| self.settle()).err();
        }
        let wrong = |why: &str| Err(Fault::Wrong(why.to_owned()));
        match self.stop {
            Some(Stop::Fault(fault)) => Err(fault),
            None if matches!(self.open, Open::Quoted(_) | Open::Brackets(..)) => {
                wrong("it ends in the middle of a value")
            }
            _ if !self.versioned => wrong("it has no apiVersion"),
            _ => Ok(self.releases),
        }
    }

    fn chunk(&mut self, mut bytes: &[u8]) -> Result<(), Stop> {
        self.left = self.left.checked_sub(bytes.len() as u64).ok_or(Fault::TooLarge)?;
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            if self.partial.is_empty() {
                self.line(&bytes[..end])?;
            } else {
                let mut line = std::mem::take(&mut self.partial);
                line.extend_from_slice(&bytes[..end]);
                self.line(&line)?;
                line.clear();
                self.partial = line;
            }
            bytes = &bytes[end + 1..];
        }
        self.partial.extend_from_slice(bytes);
        if self.partial.len() > LONGEST { Err(Fault::Unusual.into()) } else { Ok(()) }
    }

    fn line(&mut self, line: &[u8]) -> Result<(), Stop> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = if self.begun { line } else { line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line) };
        if breaks(line) {
            return Err(Fault::Unusual.into());
        }
        let continues = match self.open {
            Open::Nothing => false,
            Open::Text(parent) => indent(line).is_none_or(|column| column > parent),
            Open::Quoted(_) | Open::Brackets(..) => true,
        };
        if continues {
            self.open = go_on(line, self.open)?;
        } else if is_mark(line) {
            self.mark(line)?;
        } else {
            self.open = Open::Nothing;
            if let Some(read) = read(line)? {
                self.begun = true;
                self.open = read.open;
                self.stand(&read)?;
            }
        }
        if let Place::Wanted(_, Some(_)) = self.place {
            self.keep(line)?;
        }
        Ok(())
    }

    /// Between documents: only the first one counts, and only a mark alone may be before it.
    fn mark(&mut self, line: &[u8]) -> Result<(), Stop> {
        match self.begun {
            true => self.settle().and(Err(Stop::Done)),
            false if line == b"---" => Ok(()),
            false => Err(Fault::Unusual.into()),
        }
    }

    /// A line that stands for itself moves the scan on.
    fn stand(&mut self, line: &Line<'_>) -> Result<(), Stop> {
        match (self.place, line.column) {
            (Place::Outside, 0) if line.dash => Ok(()),
            (_, 0) if line.dash => Err(Fault::Unusual.into()),
            (_, 0) => self.top(line),
            (Place::Outside, _) => Ok(()),
            (Place::Entries, column) if !line.dash => self.entry(line, column),
            (Place::Other(charts) | Place::Wanted(charts, _), column) if column == charts && !line.dash => {
                self.entry(line, charts)
            }
            (Place::Other(charts), column) if column >= charts => Ok(()),
            (Place::Wanted(charts, None), column) if column >= charts && line.dash => {
                self.place = Place::Wanted(charts, Some(column));
                Ok(())
            }
            (Place::Wanted(_, Some(versions)), column) if column == versions && line.dash => self.settle(),
            (Place::Wanted(_, Some(versions)), column) if column > versions => Ok(()),
            _ => Err(Fault::Unusual.into()),
        }
    }

    /// A key of the index itself.
    fn top(&mut self, line: &Line<'_>) -> Result<(), Stop> {
        self.leave()?;
        match name(line)?.as_str() {
            "entries" if line.value.is_empty() => self.place = Place::Entries,
            "entries" if line.value != b"{}" => return Err(Fault::Unusual.into()),
            "apiVersion" => self.versioned = !line.value.is_empty(),
            _ => {}
        }
        Ok(())
    }

    /// A chart.
    fn entry(&mut self, line: &Line<'_>, column: usize) -> Result<(), Stop> {
        self.leave()?;
        self.place = Place::Other(column);
        if name(line)? == self.chart {
            if !matches!(line.value, b"" | b"[]") {
                return Err(Fault::Unusual.into());
            }
            self.place = Place::Wanted(column, None);
            self.releases = Some(Vec::new());
        }
        Ok(())
    }

    /// After the wanted chart there is nothing to look for, once it is known that this is an index.
    fn leave(&mut self) -> Result<(), Stop> {
        self.settle()?;
        self.place = Place::Outside;
        if self.versioned && self.releases.is_some() { Err(Stop::Done) } else { Ok(()) }
    }

    fn keep(&mut self, line: &[u8]) -> Result<(), Stop> {
        self.item.extend_from_slice(line);
        self.item.push(b'\n');
        if self.item.len() > LONGEST { Err(Fault::Unusual.into()) } else { Ok(()) }
    }

    /// The version whose lines have been kept.
    fn settle(&mut self) -> Result<(), Stop> {
        let item = std::mem::take(&mut self.item);
        if item.is_empty() {
            return Ok(());
        }
        let text = std::str::from_utf8(&item).map_err(|_| Fault::Wrong("it is no UTF-8".to_owned()))?;
        let value = fitout_go_yaml::from_yaml_strict(text).map_err(|error| Fault::Wrong(error.to_string()))?;
        let read = value.as_array().into_iter().flatten().filter_map(Release::read);
        self.releases.get_or_insert_default().extend(read);
        Ok(())
    }
}

/// Bytes of an index as they arrive. What comes after the scan has stopped is let pass.
impl Write for Scan {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stop.is_none() {
            self.stop = self.chunk(bytes).err();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A line's key as YAML understands it: `yes` is `true`.
fn name(line: &Line<'_>) -> Result<String, Stop> {
    let key = line.key.and_then(|key| std::str::from_utf8(key).ok()).ok_or(Fault::Unusual)?;
    if line.dash {
        return Err(Fault::Unusual.into());
    }
    match fitout_go_yaml::from_yaml(&format!("{key}: 0")) {
        Ok(Value::Object(read)) => read.into_iter().next().map(|(name, _)| name).ok_or(Fault::Unusual.into()),
        _ => Err(Fault::Unusual.into()),
    }
}

/// Whether YAML 1.1 sees more than one line here.
fn breaks(line: &[u8]) -> bool {
    let wide = |mark: &str| memchr::memmem::find(line, mark.as_bytes()).is_some();
    memchr::memchr(b'\r', line).is_some()
        || !line.is_ascii() && (wide("\u{85}") || wide("\u{2028}") || wide("\u{2029}"))
}
