//! TOML as Go's library `github.com/BurntSushi/toml` reads and writes it.
