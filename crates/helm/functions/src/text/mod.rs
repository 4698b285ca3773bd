//! Functions on text.

mod affix;
mod case;
mod character;
mod cut;
mod encoding;
mod layout;
mod letters;
mod network;
mod path;
mod quoting;
mod split;
mod url;
mod version;
mod words;
mod wrap;

use fitout_go_template::Type;

pub(crate) use encoding::{Corrupt, decode_base64};

use crate::declare::Declare;

const TEXT: Type = Type::String;
const INT: Type = Type::INT;

pub(crate) fn add(declare: &mut Declare<'_>) {
    declare.plain(&["hello"], &[], TEXT, |_| "Hello!".into());
    // Helm answers nothing unless it is told to ask the network.
    declare.plain(&["getHostByName"], &[TEXT], TEXT, |_| "".into());
    affix::add(declare);
    case::add(declare);
    cut::add(declare);
    encoding::add(declare);
    layout::add(declare);
    path::add(declare);
    quoting::add(declare);
    split::add(declare);
    url::add(declare);
    version::add(declare);
    words::add(declare);
    wrap::add(declare);
}
