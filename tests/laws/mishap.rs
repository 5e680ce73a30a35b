//! What goes wrong in the sweep, and which of it each call meets.

use converge::{FaultClass, testing::When};

use crate::world::World;

/// What goes wrong.
#[derive(Clone, Copy)]
pub(crate) enum Mishap {
    Write(FaultClass, When),
    Read(FaultClass),
    KilledAtWrite(When),
    KilledAtRead,
}

/// The classes by what they lead to, which `retry` and `bring` of the engine decide: whether a call is tried again, and
/// after what look. Those of a group lead to the same, so that each call meets one of each group, and the next call the
/// next of it.
const OF_WRITES: [&[FaultClass]; 8] = [
    &[FaultClass::Throttled, FaultClass::Unavailable],
    &[FaultClass::MaybeSent],
    &[FaultClass::NotYetConsistent],
    &[FaultClass::Busy],
    &[FaultClass::NotFound],
    &[FaultClass::AlreadyExists],
    &[FaultClass::Cancelled],
    &[
        FaultClass::Denied,
        FaultClass::Invalid,
        FaultClass::Quota,
        FaultClass::Capacity,
        FaultClass::Broken,
        FaultClass::TimedOut,
        FaultClass::HoldsData,
        FaultClass::Foreign,
        FaultClass::Unauthenticated,
        FaultClass::Unreachable,
        FaultClass::Bug,
    ],
];

/// The same of a call that changes nothing.
const OF_READS: [&[FaultClass]; 6] = [
    &[FaultClass::Throttled, FaultClass::MaybeSent, FaultClass::Unavailable],
    &[FaultClass::NotYetConsistent],
    &[FaultClass::Unreachable],
    &[FaultClass::Busy],
    &[FaultClass::Cancelled],
    &[FaultClass::Denied, FaultClass::NotFound, FaultClass::Invalid, FaultClass::Unauthenticated, FaultClass::TimedOut],
];

// === impl Mishap ===

impl Mishap {
    /// Those that each write meets.
    pub(crate) fn at_write(k: usize) -> Vec<Self> {
        let both = [When::Before, When::After];
        let faults = one_of_each(&OF_WRITES, k).flat_map(|class| both.map(|when| Self::Write(class, when)));
        faults.chain(both.map(Self::KilledAtWrite)).collect()
    }

    /// Those that each observation meets.
    pub(crate) fn at_read(k: usize) -> Vec<Self> {
        one_of_each(&OF_READS, k).map(Self::Read).chain([Self::KilledAtRead]).collect()
    }

    pub(crate) fn is_read(self) -> bool {
        matches!(self, Self::Read(_) | Self::KilledAtRead)
    }

    /// Whether the run has to go on by itself: the fault passes, and nothing happened that the run cannot know of.
    pub(crate) fn is_retried(self) -> bool {
        let passes = |class: FaultClass| class.is_transient() && class != FaultClass::NotYetConsistent;
        match self {
            Self::Write(class, When::Before) | Self::Read(class) => passes(class),
            Self::Write(class, When::After) => class == FaultClass::MaybeSent,
            Self::KilledAtWrite(_) | Self::KilledAtRead => false,
        }
    }

    pub(crate) fn arrange(self, world: &World, k: usize) {
        match self {
            Self::Write(class, when) => world.cloud.fail(k, when, class),
            Self::Read(class) => world.cloud.fail_read(k, class),
            Self::KilledAtWrite(when) => world.cloud.crash(k, when),
            Self::KilledAtRead => world.cloud.crash_at_read(k),
        }
    }

    pub(crate) fn word(self) -> String {
        match self {
            Self::Write(class, when) => format!("{class:?} {when:?}"),
            Self::Read(class) => format!("{class:?}"),
            Self::KilledAtWrite(when) => format!("kill {when:?}"),
            Self::KilledAtRead => "kill".to_owned(),
        }
    }
}

fn one_of_each(groups: &[&[FaultClass]], k: usize) -> impl Iterator<Item = FaultClass> {
    groups.iter().filter_map(move |group| group.iter().copied().cycle().nth(k))
}
