//! Scans an index line by line while it is received: memory for one version of the chart, not for 20 MB.

use serde_json::Value;

use super::line::{Line, Open, Unsupported, continue_value, indent, is_document_marker, read};
use super::{Charts, Found, block};
use crate::IndexError;

/// The longest line, and the longest version of a chart, to scan; a longer one is left to the YAML parser.
const MAX_LENGTH: usize = 1 << 20;

/// The reason why a scan fails.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ScanError {
    /// YAML that only the YAML parser supports.
    Unsupported,
    /// Not a valid index.
    Invalid(IndexError),
    /// Larger than the limit.
    TooLarge,
}

impl From<IndexError> for ScanError {
    fn from(error: IndexError) -> Self {
        Self::Invalid(error)
    }
}

/// The reason why a scan ends before the end of the index.
enum Stop {
    /// All wanted charts are read.
    Done,
    /// The scan failed.
    Failed(ScanError),
}

impl From<ScanError> for Stop {
    fn from(error: ScanError) -> Self {
        Self::Failed(error)
    }
}

impl From<IndexError> for Stop {
    fn from(error: IndexError) -> Self {
        Self::Failed(ScanError::Invalid(error))
    }
}

impl From<Unsupported> for Stop {
    fn from(_: Unsupported) -> Self {
        Self::Failed(ScanError::Unsupported)
    }
}

/// The position of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// Before the first key.
    Start,
    /// At another top-level key than `entries`.
    Outside,
    /// Below `entries`, before the first chart.
    Entries,
    /// At a chart that is not wanted; charts are in this column.
    Other(usize),
    /// At a wanted chart; charts are in the first column, and versions in the second, once one is read.
    Wanted(usize, Option<usize>),
}

/// A scan of an index, which finds the versions of the wanted charts.
pub(crate) struct Scan<C> {
    charts: C,
    /// The start of an incomplete line.
    partial: Vec<u8>,
    open: Open,
    position: Position,
    /// Whether the document has started.
    started: bool,
    /// Whether the index has an `apiVersion`.
    has_version: bool,
    /// The time at which the index was generated.
    generated: Option<String>,
    /// Whether `generated` is the current key. Its value has one line.
    in_generated: bool,
    /// The number of lines so far.
    lines: usize,
    /// The lines of the current version.
    item: Vec<u8>,
    /// The number of lines before them.
    item_start: usize,
    stop: Option<Stop>,
}

impl<C: Charts> Scan<C> {
    /// Creates a scan for these charts.
    pub(crate) fn new(charts: C) -> Self {
        Self {
            charts,
            partial: Vec::new(),
            open: Open::Nothing,
            position: Position::Start,
            started: false,
            has_version: false,
            generated: None,
            in_generated: false,
            lines: 0,
            item: Vec::new(),
            item_start: 0,
            stop: None,
        }
    }

    /// Whether the scan needs no more bytes.
    pub(crate) fn has_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// Whether the scan has failed.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.stop, Some(Stop::Failed(_)))
    }

    /// Reads bytes of an index; those after the end of the scan are discarded.
    pub(crate) fn read(&mut self, bytes: &[u8]) {
        if self.stop.is_none() {
            self.stop = self.chunk(bytes).err();
        }
    }

    /// Returns the charts at the end of the index or the scan.
    pub(crate) fn finish(mut self) -> Result<Found<C>, ScanError> {
        if self.stop.is_none() {
            let last = std::mem::take(&mut self.partial);
            self.stop = self.line(&last).and_then(|()| self.finish_chart()).err();
        }
        match self.stop {
            Some(Stop::Failed(error)) => Err(error),
            None if matches!(self.open, Open::Quoted(_) | Open::Brackets(..)) => {
                Err(ScanError::Invalid(IndexError::Incomplete))
            }
            _ if !self.has_version => Err(ScanError::Invalid(IndexError::NoApiVersion)),
            _ => Ok(Found { charts: self.charts, generated: self.generated }),
        }
    }

    fn chunk(&mut self, mut bytes: &[u8]) -> Result<(), Stop> {
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
        if self.partial.len() > MAX_LENGTH { Err(ScanError::Unsupported.into()) } else { Ok(()) }
    }

    fn line(&mut self, line: &[u8]) -> Result<(), Stop> {
        self.lines += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = if self.started { line } else { line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line) };
        if has_line_break(line) {
            return Err(ScanError::Unsupported.into());
        }
        let continues = match self.open {
            Open::Nothing => false,
            Open::Text(parent) => indent(line).is_none_or(|column| column > parent),
            Open::Quoted(_) | Open::Brackets(..) => true,
        };
        if continues && self.in_generated && indent(line).is_some() {
            return Err(ScanError::Unsupported.into());
        }
        if continues {
            self.open = continue_value(line, self.open)?;
        } else if is_document_marker(line) {
            self.document_marker(line)?;
        } else {
            self.open = Open::Nothing;
            if let Some(read) = read(line)? {
                self.started = true;
                self.open = read.open;
                self.advance(&read)?;
            }
        }
        if let Position::Wanted(_, Some(_)) = self.position {
            self.keep(line)?;
        }
        Ok(())
    }

    /// Handles a marker between documents: only the first document counts, and only `---` alone may precede it.
    fn document_marker(&mut self, line: &[u8]) -> Result<(), Stop> {
        match self.started {
            true => self.finish_chart().and(Err(Stop::Done)),
            false if line == b"---" => Ok(()),
            false => Err(ScanError::Unsupported.into()),
        }
    }

    /// Advances the scan by a line that does not continue a value.
    fn advance(&mut self, line: &Line<'_>) -> Result<(), Stop> {
        match (self.position, line.column) {
            (Position::Outside, 0) if line.dash => Ok(()),
            (_, 0) if line.dash => Err(ScanError::Unsupported.into()),
            (_, 0) => self.top_level_key(line),
            (Position::Outside, _) => Ok(()),
            (Position::Entries, column) if !line.dash => self.chart(line, column),
            (Position::Other(charts) | Position::Wanted(charts, _), column) if column == charts && !line.dash => {
                self.chart(line, charts)
            }
            (Position::Other(charts), column) if column >= charts => Ok(()),
            (Position::Wanted(charts, None), column) if column >= charts && line.dash => {
                self.position = Position::Wanted(charts, Some(column));
                Ok(())
            }
            (Position::Wanted(_, Some(versions)), column) if column == versions && line.dash => self.finish_item(),
            (Position::Wanted(_, Some(versions)), column) if column > versions => Ok(()),
            _ => Err(ScanError::Unsupported.into()),
        }
    }

    fn top_level_key(&mut self, line: &Line<'_>) -> Result<(), Stop> {
        self.finish_chart()?;
        let name = name(line)?;
        self.in_generated = name == "generated";
        match name.as_str() {
            "entries" if line.value.is_empty() => self.position = Position::Entries,
            "entries" if line.value != b"{}" => return Err(ScanError::Unsupported.into()),
            "apiVersion" => self.has_version = !line.value.is_empty(),
            "generated" => self.generated = scalar(line.value),
            _ => {}
        }
        Ok(())
    }

    fn chart(&mut self, line: &Line<'_>, column: usize) -> Result<(), Stop> {
        self.finish_chart()?;
        self.position = Position::Other(column);
        if self.charts.begin(&name(line)?)? {
            self.position = Position::Wanted(column, None);
            if !matches!(line.value, b"" | b"[]") {
                return Err(ScanError::Unsupported.into());
            }
        }
        Ok(())
    }

    /// Ends the current chart, and the scan if no other chart is wanted and the index has an `apiVersion`.
    fn finish_chart(&mut self) -> Result<(), Stop> {
        self.finish_item()?;
        if let Position::Wanted(..) = self.position {
            self.charts.end();
        }
        self.position = Position::Outside;
        if self.has_version && self.charts.is_complete() { Err(Stop::Done) } else { Ok(()) }
    }

    fn keep(&mut self, line: &[u8]) -> Result<(), Stop> {
        if self.item.is_empty() {
            self.item_start = self.lines - 1;
        }
        self.item.extend_from_slice(line);
        self.item.push(b'\n');
        if self.item.len() > MAX_LENGTH { Err(ScanError::Unsupported.into()) } else { Ok(()) }
    }

    /// Parses the kept lines of a version.
    fn finish_item(&mut self) -> Result<(), Stop> {
        if self.item.is_empty() {
            return Ok(());
        }
        let text = std::str::from_utf8(&self.item).map_err(|_| IndexError::NotUtf8)?;
        let value = match block::parse(text) {
            Some(value) => value,
            None => fitout_go_yaml::from_yaml_strict(text)
                .map_err(|error| IndexError::Yaml(error.after_lines(self.item_start)))?,
        };
        self.item.clear();
        if let Value::Array(entries) = value {
            for entry in entries {
                self.charts.add(entry)?;
            }
        }
        Ok(())
    }
}

/// The text of a scalar on one line; none for anything else.
fn scalar(value: &[u8]) -> Option<String> {
    match fitout_go_yaml::from_yaml(std::str::from_utf8(value).ok()?) {
        Ok(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// The key of a line as YAML 1.1 parses it: `yes` is `true`.
fn name(line: &Line<'_>) -> Result<String, Stop> {
    let key = line.key.and_then(|key| std::str::from_utf8(key).ok()).ok_or(ScanError::Unsupported)?;
    if line.dash {
        return Err(ScanError::Unsupported.into());
    }
    match fitout_go_yaml::from_yaml(&format!("{key}: 0")) {
        Ok(Value::Object(read)) => read.into_iter().next().map(|(name, _)| name).ok_or(ScanError::Unsupported.into()),
        _ => Err(ScanError::Unsupported.into()),
    }
}

/// Whether a line contains a line break of YAML 1.1.
fn has_line_break(line: &[u8]) -> bool {
    let wide = |mark: &str| memchr::memmem::find(line, mark.as_bytes()).is_some();
    memchr::memchr(b'\r', line).is_some()
        || !line.is_ascii() && (wide("\u{85}") || wide("\u{2028}") || wide("\u{2029}"))
}
