//! Gathers the questions asked within one short moment and has them answered by one call.
//!
//! Not a cache: an answer comes from a call that began after its question was asked, and is given once.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use converge::{Clock, Cx, Fault, FaultClass};
use tokio::sync::oneshot;

/// How long a question waits for others. Terraform asks for ten resources at once, a millisecond apart where the
/// machine is busy.
const MOMENT: Duration = Duration::from_millis(2);
/// While others keep coming, the wait is repeated so many times at most.
const MOMENTS: usize = 5;

type Answer<A> = Result<Option<A>, Fault>;
type Waiting<A> = Vec<(String, oneshot::Sender<Answer<A>>)>;

/// Questions by name that one call can answer together.
pub(crate) struct Gather<A> {
    waiting: Arc<Mutex<Waiting<A>>>,
    /// Most names that one call takes.
    most: usize,
}

impl<A: Clone + Send + 'static> Gather<A> {
    /// For calls that take up to `most` names.
    pub(crate) fn new(most: usize) -> Self {
        Self { waiting: Arc::default(), most }
    }

    /// What `answer` says of `name`; none where it says nothing. `answer` is called with all names of the moment.
    pub(crate) async fn ask<F, Fut>(&self, cx: &Cx, name: &str, answer: F) -> Answer<A>
    where
        F: Fn(BTreeSet<String>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<BTreeMap<String, A>, Fault>> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let is_first = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.push((name.to_owned(), sender));
            waiting.len() == 1
        };
        if is_first {
            // A task of its own, so that the others get their answers even if this asker is cancelled.
            tokio::spawn(collect(Arc::clone(&self.waiting), self.most, Arc::clone(&cx.clock), answer));
        }
        receiver.await.unwrap_or_else(|_| Err(Fault::new(FaultClass::Bug, name, "the question was lost")))
    }
}

async fn collect<A, F, Fut>(waiting: Arc<Mutex<Waiting<A>>>, most: usize, clock: Arc<dyn Clock>, answer: F)
where
    A: Clone,
    F: Fn(BTreeSet<String>) -> Fut,
    Fut: Future<Output = Result<BTreeMap<String, A>, Fault>>,
{
    let mut count = 1;
    for _ in 0..MOMENTS {
        clock.sleep(MOMENT).await;
        let asked = waiting.lock().unwrap_or_else(PoisonError::into_inner).len();
        if std::mem::replace(&mut count, asked) == asked {
            break;
        }
    }
    let mut asked = std::mem::take(&mut *waiting.lock().unwrap_or_else(PoisonError::into_inner));
    while !asked.is_empty() {
        let batch: Vec<_> = asked.drain(..most.min(asked.len())).collect();
        let answers = answer(batch.iter().map(|(name, _)| name.clone()).collect()).await;
        for (name, sender) in batch {
            let answer = match &answers {
                Ok(answers) => Ok(answers.get(&name).cloned()),
                Err(fault) => Err(copy(fault)),
            };
            // An asker that went away needs no answer.
            let _ = sender.send(answer);
        }
    }
}

fn copy(fault: &Fault) -> Fault {
    Fault {
        class: fault.class,
        action: fault.action.clone(),
        object: fault.object.clone(),
        code: fault.code.clone(),
        message: fault.message.clone(),
        request_id: fault.request_id.clone(),
        advice: fault.advice.clone(),
        source: None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use converge::testing::InstantClock;

    use super::*;

    fn lengths(names: BTreeSet<String>) -> BTreeMap<String, usize> {
        names.into_iter().filter(|name| name != "absent").map(|name| (name.clone(), name.len())).collect()
    }

    #[tokio::test]
    async fn questions_of_one_moment_are_one_call() {
        let (gather, cx, calls) = (Gather::new(100), Cx::default(), Arc::new(AtomicUsize::new(0)));
        let ask = |name| {
            let calls = Arc::clone(&calls);
            gather.ask(&cx, name, move |names| {
                calls.fetch_add(1, Ordering::Relaxed);
                async move { Ok(lengths(names)) }
            })
        };
        let (one, two, none) = tokio::join!(ask("a"), ask("bb"), ask("absent"));
        assert_eq!((one.unwrap(), two.unwrap(), none.unwrap()), (Some(1), Some(2), None));
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        assert_eq!(ask("a").await.unwrap(), Some(1), "a later question is a call of its own");
        assert_eq!(calls.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn a_burst_of_questions_longer_than_a_moment_is_one_call() {
        let (gather, cx, calls) = (Gather::new(100), InstantClock::cx(), Arc::new(AtomicUsize::new(0)));
        let asks = (0..4).map(|number| {
            let (gather, cx, calls) = (&gather, &cx, Arc::clone(&calls));
            async move {
                for _ in 0..number {
                    tokio::task::yield_now().await;
                }
                let answer = move |names| {
                    calls.fetch_add(1, Ordering::Relaxed);
                    async move { Ok(lengths(names)) }
                };
                gather.ask(cx, &number.to_string(), answer).await.unwrap()
            }
        });
        assert_eq!(futures::future::join_all(asks).await, [Some(1); 4]);
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn a_failed_call_fails_every_question_of_it() {
        let (gather, cx) = (Gather::<usize>::new(1), Cx::default());
        let ask = |name| {
            gather.ask(&cx, name, |names| async move {
                if names.contains("a") {
                    Err(Fault::new(FaultClass::Throttled, "", "slow down"))
                } else {
                    Ok(lengths(names))
                }
            })
        };
        let (failed, fine) = tokio::join!(ask("a"), ask("bb"));
        assert_eq!(failed.unwrap_err().class, FaultClass::Throttled);
        assert_eq!(fine.unwrap(), Some(2), "one name a call, so the other was not hit");
    }
}
