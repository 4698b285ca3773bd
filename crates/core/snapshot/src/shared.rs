//! Maps of shared values, written as if the values were not shared.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) fn serialize<T: Serialize, S: Serializer>(map: &BTreeMap<String, Arc<T>>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(map.iter().map(|(key, value)| (key, &**value)))
}

pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<BTreeMap<String, Arc<T>>, D::Error> {
    let map = BTreeMap::<String, T>::deserialize(from)?;
    Ok(map.into_iter().map(|(key, value)| (key, Arc::new(value))).collect())
}
