//! A text cannot make us use more than it is worth: of the stack, of memory, of time.

use fitout_go_yaml::{MAX_DEPTH, from_yaml, from_yaml_strict, to_yaml};
use serde_json::Value;

#[test]
fn what_is_nested_too_deeply_is_refused() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(from_yaml(&nested(MAX_DEPTH)).is_ok());
    for text in
        [nested(MAX_DEPTH + 1), nested(1_000_000), "- ".repeat(100_000), "? ".repeat(100_000), "{a: ".repeat(100_000)]
    {
        let error = from_yaml(&text).unwrap_err();
        assert!(error.to_string().contains("exceeded max depth of 200"), "{error}");
    }
}

#[test]
fn aliases_cannot_nest_more_deeply_than_text() {
    use std::fmt::Write;
    let mut text = String::from("- &a0 [1]\n");
    for number in 1..400 {
        writeln!(text, "- &a{number} [[[[*a{}]]]]", number - 1).unwrap();
    }
    let error = from_yaml(&text).unwrap_err();
    assert!(error.to_string().contains("exceeded max depth"), "{error}");
}

#[test]
fn aliases_cannot_multiply_without_end() {
    let levels = ["a: &a [x, x, x, x, x, x, x, x, x, x]".to_owned()].into_iter().chain(
        ["a", "b", "c", "d", "e", "f", "g", "h"]
            .windows(2)
            .map(|pair| format!("{}: &{} [{}]", pair[1], pair[1], vec![format!("*{}", pair[0]); 10].join(", "))),
    );
    let text = levels.collect::<Vec<_>>().join("\n");
    for read in [from_yaml, from_yaml_strict] {
        let error = read(&text).unwrap_err();
        assert_eq!(error.to_string(), "yaml: document contains excessive aliasing");
    }
}

#[test]
fn what_is_read_can_be_written_on_a_small_stack() {
    let depth = MAX_DEPTH - 1;
    let sequences = format!("{}1", "- ".repeat(depth));
    let mappings = format!("{}1", "{a: ".repeat(depth)) + &"}".repeat(depth);
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(move || {
        assert_eq!(to_yaml(&from_yaml(&sequences).unwrap()), format!("{sequences}\n"));
        to_yaml(&from_yaml(&mappings).unwrap());
    });
    thread.unwrap().join().unwrap();
}

#[test]
fn a_large_text_is_read_in_proportion_to_its_size() {
    let text = "- {a: 1, b: [x, 'y', \"z\"], c: {d: ~}}\n".repeat(20_000);
    assert_eq!(from_yaml(&text).unwrap().as_array().map(Vec::len), Some(20_000));
}

#[test]
fn an_error_says_where_it_happened() {
    let error = from_yaml("a: 1\nb: c: d\n").unwrap_err();
    assert_eq!((error.line(), error.column()), (Some(2), Some(5)));
    // Where Go's message names the line before, the error itself does not.
    let error = from_yaml("a: 1\nb: [c\nd: 1\n").unwrap_err();
    assert_eq!(error.to_string(), "yaml: line 2: did not find expected ',' or ']'");
    assert_eq!((error.line(), error.column()), (Some(3), Some(2)));
    assert_eq!(from_yaml("a: .nan").unwrap_err().line(), None);
}

#[test]
fn whole_numbers_and_floats_stay_what_they_are() {
    let value = from_yaml("[1, 1.5, 1.0, 1e3, 18446744073709551615, 1e20]").unwrap();
    let whole: Vec<_> = value.as_array().unwrap().iter().map(|number| !number.is_f64()).collect();
    assert_eq!(whole, [true, false, true, true, true, false]);
    assert_eq!(value[4], Value::from(u64::MAX));
}
