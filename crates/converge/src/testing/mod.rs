//! A cloud in memory, and the laws every resource obeys.
