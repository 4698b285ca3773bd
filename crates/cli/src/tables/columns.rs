//! Columns of text, as kubectl prints them: no borders, three spaces between.

use console::{Alignment, measure_text_width, pad_str, truncate_str};

use crate::output::Format;

const GAP: &str = "   ";

/// Ends a text that was cut.
const ELLIPSIS: &str = "…";

/// How tables are laid out: which columns they have, and how wide their lines may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Whether the columns of `-o wide` are shown.
    pub(crate) wide: bool,
    /// The width to which lines are cut; `None` leaves them whole.
    pub(crate) width: Option<usize>,
}

impl Layout {
    /// The layout for a format and the width of the terminal, which is `None` where the output is no terminal.
    pub(crate) fn new(format: Format, terminal_width: Option<usize>) -> Self {
        let wide = format == Format::Wide;
        Self { wide, width: terminal_width.filter(|_| !wide) }
    }
}

/// A table whose lines are whole.
pub(crate) fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    render(header, rows.into_iter().map(cells).collect())
}

/// A table in which the text of one column is cut, so that lines fit the width of the layout. The column keeps at least
/// the width of its header: the other columns are never cut, because names are copied from them.
pub(crate) fn fitted_table(
    header: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
    text_column: usize,
    layout: Layout,
) -> String {
    let mut rows: Vec<_> = rows.into_iter().map(cells).collect();
    if let Some(width) = layout.width {
        let widths = column_widths(header, &rows);
        let gaps = GAP.len() * header.len().saturating_sub(1);
        let others: usize =
            widths.iter().enumerate().filter(|(column, _)| *column != text_column).map(|(_, w)| w).sum();
        let least = header.get(text_column).map_or(0, |title| measure_text_width(title));
        let room = width.saturating_sub(others + gaps).max(least);
        for text in rows.iter_mut().filter_map(|row| row.get_mut(text_column)) {
            *text = truncate_str(text, room, ELLIPSIS).into_owned();
        }
    }
    render(header, rows)
}

/// The cells of a row, each on one line.
fn cells(row: Vec<String>) -> Vec<String> {
    row.into_iter().map(|cell| cell.lines().collect::<Vec<_>>().join(" ")).collect()
}

fn column_widths(header: &[&str], rows: &[Vec<String>]) -> Vec<usize> {
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| measure_text_width(cell)).max();
    let with_header = |(column, title): (usize, &&str)| width(column).unwrap_or(0).max(measure_text_width(title));
    header.iter().enumerate().map(with_header).collect()
}

fn render(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let widths = column_widths(header, &rows);
    let header = header.iter().map(|&title| title.to_owned()).collect();
    let line = |row: Vec<String>| {
        let padded = row.iter().zip(&widths).map(|(cell, width)| pad_str(cell, *width, Alignment::Left, None));
        padded.collect::<Vec<_>>().join(GAP).trim_end().to_owned() + "\n"
    };
    std::iter::once(header).chain(rows).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    const HEADER: [&str; 3] = ["NAME", "STATUS", "AGE"];

    fn rows() -> Vec<Vec<String>> {
        let row = |name: &str, status: &str| vec![name.to_owned(), status.to_owned(), "5m".to_owned()];
        vec![
            row("web", "3 of 8 objects are ready"),
            row("database", "image quay.io/example/database cannot be pulled:\nnot found"),
        ]
    }

    fn fitted(rows: Vec<Vec<String>>, width: Option<usize>) -> String {
        fitted_table(&HEADER, rows, 1, Layout { wide: false, width })
    }

    /// The width of the longest line.
    fn widest(text: &str) -> usize {
        text.lines().map(measure_text_width).max().unwrap()
    }

    #[test]
    fn narrow_terminal_cuts_the_text() {
        let text = fitted(rows(), Some(40));
        assert_eq!(widest(&text), 40);
        assert_snapshot!(text, @r"
        NAME       STATUS                    AGE
        web        3 of 8 objects are rea…   5m
        database   image quay.io/example/…   5m
        ");
    }

    #[test]
    fn exact_width_cuts_nothing() {
        let whole = fitted(rows(), None);
        assert_eq!(fitted(rows(), Some(widest(&whole))), whole);
        assert_eq!(widest(&fitted(rows(), Some(widest(&whole) - 1))), widest(&whole) - 1);
    }

    #[test]
    fn wide_terminal_and_no_terminal_show_all() {
        let whole = table(&HEADER, rows());
        assert_snapshot!(whole, @r"
        NAME       STATUS                                                       AGE
        web        3 of 8 objects are ready                                     5m
        database   image quay.io/example/database cannot be pulled: not found   5m
        ");
        assert_eq!(fitted(rows(), Some(200)), whole);
        assert_eq!(fitted(rows(), None), whole);
    }

    #[test]
    fn wide_output_is_never_cut() {
        assert_eq!(Layout::new(Format::Wide, Some(40)), Layout { wide: true, width: None });
        assert_eq!(Layout::new(Format::Table, Some(40)), Layout { wide: false, width: Some(40) });
        assert_eq!(Layout::new(Format::Table, None), Layout { wide: false, width: None });
    }

    #[test]
    fn too_narrow_terminal_keeps_the_other_columns() {
        assert_snapshot!(fitted(rows(), Some(10)), @r"
        NAME       STATUS   AGE
        web        3 of …   5m
        database   image…   5m
        ");
        assert_eq!(fitted(rows(), Some(0)), fitted(rows(), Some(10)));
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let rows = |status: &str| vec![vec!["日本".to_owned(), status.to_owned(), "5m".to_owned()]];
        let text = fitted(rows("証明書の更新を待っています"), Some(24));
        assert!(widest(&text) <= 24, "{text}");
        assert_snapshot!(text, @r"
        NAME   STATUS        AGE
        日本   証明書の更…   5m
        ");
    }

    #[test]
    fn colours_take_no_columns() {
        let red = |text: &str| format!("\x1b[1;31m{text}\x1b[0m");
        let coloured = vec![vec![red("web"), red("3 of 8 objects are ready"), "5m".to_owned()]];
        let plain = vec![vec!["web".to_owned(), "3 of 8 objects are ready".to_owned(), "5m".to_owned()]];
        for width in [None, Some(30)] {
            let text = fitted(coloured.clone(), width);
            assert_eq!(console::strip_ansi_codes(&text), fitted(plain.clone(), width));
            assert!(text.contains("\x1b[1;31m") && text.contains("\x1b[0m   5m"), "{text:?}");
        }
    }
}
