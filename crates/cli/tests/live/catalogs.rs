//! Catalogs and extensions on the command line: added, searched, pushed and sideloaded.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;

use anyhow::{Context, Result, ensure};
use fitout_testkit::{Registry, apply, object, paths, until};
use serde_json::{Value, json};

use crate::command::Fitout;
use crate::faults::{Faults, LIMIT};
