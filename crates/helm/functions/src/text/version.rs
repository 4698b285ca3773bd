//! Versions and ranges of them.

use std::cmp::Ordering;
use std::rc::Rc;

use fitout_go_template::{Error, Format, Function, Host, Shape, Signature, Text, Type, Unsigned, Value, quote};
use fitout_helm_ranges::{Range, Version};

use super::TEXT;
use crate::argument::{nil_dereference, text};
use crate::declare::Declare;

const VERSION: Type = Type::Named("semver.Version");
const POINTER: Type = Type::Named("*semver.Version");
const UINT64: Type = Type::Uint(Unsigned::Uint64);

pub(super) fn add(declare: &mut Declare<'_>) {
    declare.fallible(&["semver"], &[TEXT], POINTER, |a| Ok(Semver::value(parse(&a[0])?, true)));
    declare.fallible(&["semverCompare"], &[TEXT, TEXT], Type::Bool, |a| {
        Ok(range(text(&a[0]))?.matches(&parse(&a[1])?).into())
    });
}

/// A range. What is no UTF-8 is none, and is shown as it is: while it is read, characters that nobody has stand for bytes.
fn range(text: &[u8]) -> Result<Range, Error> {
    const BYTES: u32 = 0x0010_FE00;
    let mut readable = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        readable.push_str(chunk.valid());
        readable.extend(chunk.invalid().iter().filter_map(|byte| char::from_u32(BYTES + u32::from(*byte))));
    }
    Range::parse_of_length(&readable, text.len()).map_err(|error| match error {
        fitout_helm_ranges::Error::NoRange(said) => {
            let mut shown = Vec::with_capacity(said.len());
            for c in said.chars() {
                match u32::from(c).checked_sub(BYTES).and_then(|byte| u8::try_from(byte).ok()) {
                    Some(byte) => shown.push(byte),
                    None => fitout_go_template::rune::push(&mut shown, c),
                }
            }
            Error::new(format!("improper constraint: {}", quote(&shown)))
        }
        error => refused(error),
    })
}

/// A version. A byte that is no UTF-8 is read as a character that no version has, and that is as long.
fn parse(value: &Value) -> Result<Version, Error> {
    let mut readable = String::new();
    for chunk in text(value).utf8_chunks() {
        readable.push_str(chunk.valid());
        readable.extend(chunk.invalid().iter().map(|_| '\u{1}'));
    }
    Version::parse(&readable).map_err(refused)
}

#[expect(clippy::needless_pass_by_value, reason = "errors are mapped with it")]
fn refused(error: fitout_helm_ranges::Error) -> Error {
    Error::new(error.to_string())
}

/// A version as templates see it: a struct, or a pointer to one.
#[derive(Debug)]
struct Semver {
    version: Version,
    pointer: bool,
}

impl Semver {
    fn value(version: Version, pointer: bool) -> Value {
        Value::Host(Rc::new(Self { version, pointer }))
    }
}

impl Host for Semver {
    fn type_name(&self) -> &'static str {
        if self.pointer { "*semver.Version" } else { "semver.Version" }
    }

    fn shape(&self) -> Shape {
        let Self { version, .. } = self;
        let fields = vec![
            ("major", Value::Uint(Unsigned::Uint64, version.major())),
            ("minor", Value::Uint(Unsigned::Uint64, version.minor())),
            ("patch", Value::Uint(Unsigned::Uint64, version.patch())),
            ("pre", version.prerelease().into()),
            ("metadata", version.metadata().into()),
            ("original", version.original().into()),
        ];
        if self.pointer { Shape::Pointer(fields) } else { Shape::Struct(fields) }
    }

    /// None of the fields is copied.
    fn copied(&self) -> Option<Value> {
        Some(Self::value(Version::default(), self.pointer))
    }

    /// Every format writes the text.
    fn marshal(&self, _format: Format) -> Option<Result<Shape, Error>> {
        Some(Ok(Shape::Like(Value::string(self.version.to_string()))))
    }

    fn text(&self) -> Option<Text> {
        Some(self.version.to_string().into())
    }

    fn method(&self, name: &[u8]) -> Option<Rc<Function>> {
        let version = &self.version;
        let number = |number| Some(constant(UINT64, Value::Uint(Unsigned::Uint64, number)));
        let written = |text: &str| Some(constant(TEXT, text.into()));
        match name {
            b"Major" => number(version.major()),
            b"Minor" => number(version.minor()),
            b"Patch" => number(version.patch()),
            b"Prerelease" => written(version.prerelease()),
            b"Metadata" => written(version.metadata()),
            b"String" => written(&version.to_string()),
            b"Original" if self.pointer => written(version.original()),
            b"IncMajor" | b"IncMinor" | b"IncPatch" => Some(next(version, name)),
            b"SetPrerelease" | b"SetMetadata" => Some(replacing(version, name == b"SetPrerelease")),
            b"MarshalText" => Some(marshalled(version.to_string())),
            b"MarshalJSON" => Some(marshalled(format!("\"{version}\""))),
            b"Value" => Some(fallible(&[], Type::Any, {
                let written = Value::string(version.to_string());
                move |_| Ok(written.clone())
            })),
            _ if self.pointer => comparison(version, name),
            _ => None,
        }
    }
}

fn constant(kind: Type, value: Value) -> Rc<Function> {
    Function::plain(&[], kind, move |_, _| value.clone())
}

fn fallible(params: &[Type], result: Type, body: impl Fn(&[Value]) -> Result<Value, Error> + 'static) -> Rc<Function> {
    let signature = Signature { params: params.to_vec(), variadic: false, result, fails: true };
    Function::new(signature, move |_, arguments| body(arguments))
}

fn marshalled(text: String) -> Rc<Function> {
    let bytes = Value::Bytes(text.into());
    fallible(&[], Type::BYTES, move |_| Ok(bytes.clone()))
}

/// A version with these parts, written as the other was: with its `v`.
fn like(other: &Version, numbers: [u64; 3], prerelease: &str, metadata: &str) -> Result<Version, Error> {
    let prefix = if other.original().starts_with('v') { "v" } else { "" };
    let [major, minor, patch] = numbers;
    let mut text = format!("{prefix}{major}.{minor}.{patch}");
    for (mark, part) in [('-', prerelease), ('+', metadata)] {
        if !part.is_empty() {
            text.push(mark);
            text.push_str(part);
        }
    }
    Version::parse(&text).map_err(refused)
}

/// The next version: of a pre-release, the next patch is its release.
fn next(version: &Version, name: &[u8]) -> Rc<Function> {
    let (version, which) = (version.clone(), name[3..].to_ascii_lowercase());
    let signature = Signature { params: Vec::new(), variadic: false, result: VERSION, fails: false };
    Function::new(signature, move |_, _| {
        let (major, minor, patch) = (version.major(), version.minor(), version.patch());
        let up = |number: u64| {
            let which = String::from_utf8_lossy(&which);
            let beyond = || Error::new(format!("{which} version increment would overflow uint64"));
            number.checked_add(1).ok_or_else(beyond)
        };
        let numbers = match &*which {
            b"major" => [up(major)?, 0, 0],
            b"minor" => [major, up(minor)?, 0],
            _ if version.is_prerelease() => [major, minor, patch],
            _ => [major, minor, up(patch)?],
        };
        Ok(Semver::value(like(&version, numbers, "", "")?, false))
    })
}

/// The same version with another pre-release or other metadata.
fn replacing(version: &Version, prerelease: bool) -> Rc<Function> {
    let version = version.clone();
    fallible(&[TEXT], VERSION, move |arguments| {
        let part = String::from_utf8_lossy(text(&arguments[0])).into_owned();
        let numbers = [version.major(), version.minor(), version.patch()];
        let (pre, metadata) = if prerelease { (&*part, version.metadata()) } else { (version.prerelease(), &*part) };
        if !part.is_empty() {
            // Strictly, which is how the part is held against the specification.
            let mark = if prerelease { '-' } else { '+' };
            Version::parse_strict(&format!("0.0.0{mark}{part}")).map_err(refused)?;
        }
        Ok(Semver::value(like(&version, numbers, pre, metadata)?, false))
    })
}

/// A method that compares with another version.
fn comparison(version: &Version, name: &[u8]) -> Option<Rc<Function>> {
    let (result, answer): (_, fn(Ordering) -> Value) = match name {
        b"Compare" => (Type::INT, |ordering| Value::int(ordering as i64)),
        b"Equal" => (Type::Bool, |ordering| ordering.is_eq().into()),
        b"LessThan" => (Type::Bool, |ordering| ordering.is_lt().into()),
        b"LessThanEqual" => (Type::Bool, |ordering| ordering.is_le().into()),
        b"GreaterThan" => (Type::Bool, |ordering| ordering.is_gt().into()),
        b"GreaterThanEqual" => (Type::Bool, |ordering| ordering.is_ge().into()),
        _ => return None,
    };
    let (version, equal) = (version.clone(), name == b"Equal");
    let signature = Signature { params: vec![POINTER], variadic: false, result, fails: false };
    Some(Function::new(signature, move |_, arguments| {
        let Value::Host(other) = &arguments[0] else {
            return if equal { Ok(false.into()) } else { Err(nil_dereference()) };
        };
        let other = Version::parse(&other.text().unwrap_or_else(|| "".into()).to_str()).map_err(refused)?;
        Ok(answer(version.cmp(&other)))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_count_once_in_the_length_of_a_range() {
        let of_length = |length: usize| [vec![b'x'; length - 1], vec![0xff]].concat();
        let message = |text: &[u8]| range(text).unwrap_err().to_string();
        assert!(message(&of_length(512)).starts_with("improper constraint: "), "{}", message(&of_length(512)));
        assert_eq!(message(&of_length(513)), "constraint string is too long (max 512 bytes)");
    }
}
