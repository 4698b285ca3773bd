//! A world without chance, and templates that are run in it: the same as in `testbed/oracle/functions`.

#[allow(dead_code, reason = "it has more than values")]
#[path = "../../../../go/template/tests/world/mod.rs"]
mod templates;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use fitout_go_template::{Error, Functions, MissingKey, Set, Text, Value};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

#[allow(unused_imports, reason = "not every test program has values from rows")]
pub(crate) use templates::decode;

/// What a question says about the world.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    /// Where the stream of random bytes begins.
    pub(crate) seed: u64,
    /// The name of the local zone; none is UTC.
    pub(crate) zone: String,
    /// Nanoseconds since 1970.
    pub(crate) now: i64,
    /// Whether a key that is missing is refused.
    pub(crate) strict: bool,
}

impl World {
    /// The world that a row speaks of.
    #[allow(dead_code, reason = "not every test program has rows")]
    pub(crate) fn of(json: &Json) -> Self {
        let zone = json["zone"].as_str().unwrap_or_default().to_owned();
        Self {
            seed: json["seed"].as_u64().unwrap_or(0),
            zone,
            now: json["now"].as_i64().unwrap_or(0),
            strict: json["strict"].as_bool().unwrap_or(false),
        }
    }
}

/// A world whose random bytes are SHA-256 of the seed and a counter, block after block.
#[derive(Debug)]
struct Fixed {
    world: RefCell<World>,
    stream: RefCell<Stream>,
}

#[derive(Debug, Default)]
struct Stream {
    counter: u64,
    rest: Vec<u8>,
}

impl fitout_helm_functions::Environment for Fixed {
    fn fill(&self, bytes: &mut [u8]) {
        let mut stream = self.stream.borrow_mut();
        for byte in bytes {
            if stream.rest.is_empty() {
                let hash = Sha256::new_with_prefix(self.world.borrow().seed.to_le_bytes());
                stream.rest = hash.chain_update(stream.counter.to_le_bytes()).finalize().to_vec();
                // Taken from the end.
                stream.rest.reverse();
                stream.counter += 1;
            }
            *byte = stream.rest.pop().unwrap_or_default();
        }
    }

    fn now(&self) -> (i64, u32) {
        let second = 1_000_000_000;
        let now = self.world.borrow().now;
        (now.div_euclid(second), u32::try_from(now.rem_euclid(second)).unwrap())
    }

    fn zone(&self) -> String {
        let zone = self.world.borrow().zone.clone();
        if zone.is_empty() { "UTC".to_owned() } else { zone }
    }
}

/// A world and the functions in it. The zone is asked for once, the rest whenever it is needed.
struct Inhabited {
    fixed: Rc<Fixed>,
    functions: Rc<Functions>,
}

impl Inhabited {
    fn new(world: World) -> Self {
        let fixed = Rc::new(Fixed { world: RefCell::new(world), stream: RefCell::default() });
        let functions = fitout_helm_chart::render::functions(
            &(Rc::clone(&fixed) as Rc<dyn fitout_helm_functions::Environment>),
            false,
            None,
        );
        Self { fixed, functions: Rc::new(functions) }
    }
}

thread_local! {
    /// By zone: there are many questions, and many functions.
    static INHABITED: RefCell<HashMap<String, Inhabited>> = RefCell::default();
}

/// All functions, in a world that has just begun.
pub(crate) fn functions(world: &World) -> Rc<Functions> {
    INHABITED.with_borrow_mut(|all| {
        let Inhabited { fixed, functions } =
            all.entry(world.zone.clone()).or_insert_with(|| Inhabited::new(world.clone()));
        fixed.world.replace(world.clone());
        fixed.stream.take();
        Rc::clone(functions)
    })
}

/// What a template "t" makes of a value, with others beside it.
pub(crate) fn run(text: &str, others: &[(String, String)], data: &Value, world: &World) -> Result<Text, Error> {
    let missing = if world.strict { MissingKey::Error } else { MissingKey::Zero };
    let set = Set::new("gotpl", functions(world), missing);
    for (name, text) in others {
        set.parse(name.as_str(), text.as_str())?;
    }
    set.parse("t", text)?;
    set.execute(b"t", data)
}
