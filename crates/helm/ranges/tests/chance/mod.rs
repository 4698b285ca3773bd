//! Versions and ranges made up by chance, near enough to each other that it matters how they compare.

/// A source of chance: the same number makes the same things.
pub(crate) struct Chance(u64);

const NUMBERS: &[&str] = &["0", "0", "1", "1", "2", "3", "10", "02", "18446744073709551615", "99999999999999999999"];
const WILDCARDS: &[&str] = &["x", "X", "*", "*", "xx", "|", "1x", ""];
const IDENTIFIERS: &[&str] = &["0", "1", "2", "10", "alpha", "beta", "rc", "a-b", "-", "A", "01", "0a", "gke", ""];
const OPERATORS: &[&str] = &["", "=", "!=", ">", "<", ">=", "<=", "=>", "=<", "~", "~>", "^"];
const SPACES: &[&str] = &["", "", "", " ", "  ", "\t", "\n", "\u{b}", "\u{a0}"];
const JOINTS: &[&str] = &[" ", " ", ", ", ",", " , ", " - ", " - ", "||", " || ", "|", " -", ",,", ""];
const DAMAGE: &[char] = &[' ', '-', '.', ',', '|', '=', '<', '>', '~', '^', '+', 'v', 'x', '*', '0', '1', 'a', 'é'];

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        // Neighbouring numbers make things that have nothing to do with each other.
        Self(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A number below the given one, which is small.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % end
    }

    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A version, mostly of small numbers.
    pub(crate) fn version(&mut self) -> String {
        let length = 3 - usize::from(self.once_in(6)) - usize::from(self.once_in(12));
        let mut version = self.numbers(length, false);
        self.suffixes(&mut version, 2);
        version
    }

    /// A range, mostly a good one.
    pub(crate) fn range(&mut self) -> String {
        let mut range = self.comparison();
        for _ in 0..self.below(4) {
            // The odd joints come last.
            let joints = if self.once_in(8) { JOINTS } else { &JOINTS[..9] };
            range += self.pick(joints);
            range += &self.comparison();
        }
        range
    }

    /// A text with a few characters put in or taken out.
    pub(crate) fn damage(&mut self, text: &str) -> String {
        let mut characters: Vec<char> = text.chars().collect();
        for _ in 0..=self.below(3) {
            let place = self.below(characters.len() + 1);
            if self.once_in(2) || place == characters.len() {
                characters.insert(place, self.pick(DAMAGE));
            } else {
                characters.remove(place);
            }
        }
        characters.into_iter().collect()
    }

    fn comparison(&mut self) -> String {
        // A hyphen wants no operator.
        let operator = if self.once_in(3) { "" } else { self.pick(OPERATORS) };
        let space = if self.once_in(40) { self.pick(SPACES) } else { self.pick(&SPACES[..5]) };
        let length = 1 + self.below(3);
        let mut comparison = format!("{operator}{space}{}", self.numbers(length, true));
        self.suffixes(&mut comparison, 4);
        comparison
    }

    fn numbers(&mut self, length: usize, wildcards: bool) -> String {
        let numbers: Vec<_> = (0..length)
            .map(|_| match () {
                () if wildcards && self.once_in(6) => self.pick(&WILDCARDS[..4]),
                () if wildcards && self.once_in(60) => self.pick(WILDCARDS),
                () if self.once_in(30) => self.pick(NUMBERS),
                () => self.pick(&NUMBERS[..7]),
            })
            .collect();
        format!("{}{}", if self.once_in(6) { "v" } else { "" }, numbers.join("."))
    }

    /// Adds a pre-release and metadata, the first once in so many times.
    fn suffixes(&mut self, to: &mut String, often: usize) {
        for (mark, times) in [("-", often), ("+", 8)] {
            if self.once_in(times) {
                let parts: Vec<_> = (0..=self.below(3))
                    .map(|_| {
                        let odd = self.once_in(15);
                        self.pick(if odd { IDENTIFIERS } else { &IDENTIFIERS[..10] })
                    })
                    .collect();
                *to += mark;
                *to += &parts.join(".");
            }
        }
    }
}
