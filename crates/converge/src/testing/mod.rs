//! A cloud in memory, a clock that does not wait, and the laws every resource obeys.
//!
//! Not a simulation of any service: the cloud knows a kind by its facts alone.

mod clock;
mod cloud;
mod drift;
mod driver;
pub mod laws;
mod stage;

pub use clock::InstantClock;
pub use cloud::{FakeCloud, FakeObject, When};
pub use stage::without_slot;
