#![allow(clippy::unwrap_used, reason = "tests")]

use fitout_go_yaml::from_yaml_strict;

use super::block::parse;

/// A version of a chart as Go writes it.
const ENTRY: &str = r#"  - annotations:
      artifacthub.io/changes: |
        - kind: fixed
          description: "a mistake: # not a comment"

        - kind: added
      artifacthub.io/license: Apache-2.0
      artifacthub.io/links: |-
        - name: source
          url: https://example.com
      category: Database
    apiVersion: v2
    appVersion: 1.16.0
    created: "2026-01-01T00:00:00.123456789Z"
    dependencies:
    - condition: postgresql.enabled
      name: postgresql
      repository: oci://registry.example.com/charts
      tags:
      - a-tag
      version: 12.x.x
    - alias: other
      name: common
      repository: https://example.com/charts
      version: ^2.0.0
    deprecated: true
    description: A chart that does what charts do, with a text that is folded because it's
      long, as most of them are (really)
    digest: 5b6cf8b8d5a3b1fae0a3b5ba2fd4b3d4b9c2b7f6c2f3f41ef8e9b9d2a6e5d0c1
    home: https://example.com/#readme
    icon: https://example.com/icon.svg
    keywords:
    - one
    - überall
    kubeVersion: '>=1.22.0-0 <1.40.0'
    maintainers:
    - email: someone@example.com
      name: Some One
      url: https://example.com
    name: podinfo
    sources: []
    type: application
    urls:
    - https://example.com/charts/podinfo-6.0.0.tgz
    version: 6.0.0
"#;

#[test]
fn entry_as_go_writes_it_is_parsed() {
    let parsed = parse(ENTRY).unwrap();
    assert_eq!(parsed, from_yaml_strict(ENTRY).unwrap());
    assert_eq!(parsed[0]["annotations"]["artifacthub.io/links"], "- name: source\n  url: https://example.com");
}

/// Values that are parsed, each as a value of a key.
#[test]
fn values_are_those_of_the_yaml_parser() {
    let rows = [
        "text",
        "1.2.3",
        "v1",
        "0.1.0-rc.1+build",
        "5b6cf8b8",
        "true",
        "{}",
        "[]",
        "''",
        "\"\"",
        "'it''s'",
        "''''",
        "'a: b # c'",
        "'one\n    two'",
        "'one''\n    two'''",
        "\"one\n    two\"",
        r#""a \"b\" \\ \n \t c""#,
        "\"one \\\"\n    two\"",
        "one\n    two\n    - three",
        "|\n    one\n\n      two\n    three",
        "|-\n    one\n    # two",
        "|\n    one\n\n\n",
        "\n  - a\n  - b",
        "\n    - a\n    - b: c\n      d: e",
        "\n    b: c\n    d:\n    - e",
        "",
        "~1.2",
        "^1.2",
        "a:b#c",
        "[]   ",
        "é, ü und \u{1f600}",
    ];
    for row in rows {
        let text = format!("- k: {row}\n  z: end\n");
        assert_eq!(parse(&text), Some(from_yaml_strict(&text).unwrap()), "{text}");
    }
}

#[test]
fn uncertain_yaml_is_left_to_the_yaml_parser() {
    let rows = [
        "1",
        "1.2",
        "1e5",
        "0x1f",
        "0b1",
        "12_000",
        "12:30:45",
        "yes",
        "No",
        "~",
        "null",
        ".5",
        "+1",
        "-1",
        "<<",
        "=",
        "2001-01-01",
        "a # comment",
        "a: b",
        "a:",
        "&a b",
        "*a",
        "!a b",
        "{a: b}",
        "[a]",
        ">\n    folded",
        "|+\n    kept\n",
        "|2\n    indented",
        "\"\\u00e9\"",
        "\"a\" b",
        "'a' b",
        "'a' # b",
        "# comment",
        "a\tb",
        "one\n\n    two",
        "\"one\n\n    two\"",
        "\"one \\\n    two\"",
        "one\n    two: three",
        "a\n    # comment",
        "\n    - a\n   - b",
        "\n    - - a",
        "\n    -",
        "a\n    b: c\n    d: e",
        "|\n    \tx",
        "\u{feff}",
        "a\u{7f}",
        "b\n  k: c",
        "\n    no: c",
        "\n    1: c",
        "\n    x: c\n    x: d",
    ];
    for row in rows {
        let text = format!("- k: {row}\n  z: end\n");
        assert_eq!(parse(&text), None, "{text}");
    }
    assert_eq!(parse("- a: b"), None, "the last line has no end");
    assert_eq!(parse(&format!("- {}x", "a:\n  ".repeat(40))), None);
}

/// For random texts of these lines, the parser finds the same as the YAML parser, or nothing.
#[test]
fn block_finds_the_same_as_the_yaml_parser() {
    const STARTS: [&str; 22] = [
        "- a: ",
        "- b: ",
        "  a: ",
        "  b: ",
        "  c: ",
        "    d: ",
        "    e: ",
        "      f: ",
        "  - g: ",
        "  - ",
        "    - ",
        "    ",
        "  ",
        "      ",
        "",
        "- ",
        "    - h: ",
        "  'q': ",
        "  yes: ",
        "  # ",
        "   ",
        "  i/j.k: ",
    ];
    const ENDS: [&str; 36] = [
        "",
        "",
        "",
        "x",
        "word",
        "1.2.3",
        "12",
        "true",
        "two words",
        "'q'",
        "\"q\"",
        "'open",
        "\"open",
        "close'",
        "close\"",
        "|",
        "|-",
        ">",
        "{}",
        "[]",
        "[x]",
        "x: y",
        "x # y",
        "it's",
        "a \\\" b\"",
        "'it''s",
        "''",
        "- x",
        "x:",
        "#",
        "0e1",
        "\"\\n\"",
        "https://a.io",
        " ",
        "é",
        "5e3a",
    ];
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    let (mut same, mut left) = (0, 0);
    for _ in 0..60_000 {
        let mut text = "- a: x\n".to_owned();
        for _ in 0..=next(5) {
            text.push_str(STARTS[next(STARTS.len())]);
            text.push_str(ENDS[next(ENDS.len())]);
            text.push('\n');
        }
        match parse(&text) {
            Some(parsed) => {
                assert_eq!(Ok(parsed), from_yaml_strict(&text), "{text}");
                same += 1;
            }
            None => left += usize::from(from_yaml_strict(&text).is_ok()),
        }
    }
    assert!(same > 3000 && left > 1000, "{same} the same, {left} left");
}
