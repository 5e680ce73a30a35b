//! Single runs.
