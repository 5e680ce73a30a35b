//! Gathers the questions asked within one short moment, or while a call is out, and has them answered by one call.
//!
//! Not a cache: an answer comes from a call that began after its question was asked, and is given once.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use converge::{Clock, Cx, Fault, FaultClass};
use futures::{FutureExt, future::BoxFuture};
use tokio::sync::oneshot;

/// How long a question waits for others. Terraform asks for ten resources at once, a millisecond apart where the
/// machine is busy.
const MOMENT: Duration = Duration::from_millis(2);
/// While others keep coming, the wait is repeated so many times at most.
const MOMENTS: usize = 5;

type Answer<A> = Result<Option<A>, Fault>;
type Answers<A> = Result<BTreeMap<String, A>, Fault>;
type Call<A> = Box<dyn Fn(BTreeSet<String>) -> BoxFuture<'static, Answers<A>> + Send>;

/// Questions by name that one call can answer together.
pub(crate) struct Gather<A> {
    state: Arc<Mutex<Waiting<A>>>,
    /// Most names that one call takes, however many ask for one of them.
    most: usize,
}

struct Waiting<A> {
    questions: Vec<Question<A>>,
    /// Whether a task is collecting questions, or waits for the answers to those before.
    is_collecting: bool,
}

struct Question<A> {
    name: String,
    call: Call<A>,
    sender: oneshot::Sender<Answer<A>>,
}

impl<A: Clone + Send + 'static> Gather<A> {
    /// For calls that take up to `most` names.
    pub(crate) fn new(most: usize) -> Self {
        let waiting = Waiting { questions: Vec::new(), is_collecting: false };
        Self { state: Arc::new(Mutex::new(waiting)), most }
    }

    /// What `answer` says of `name`; none where it says nothing. `answer` is called with all names of the moment.
    pub(crate) async fn ask<F, Fut>(&self, cx: &Cx, name: &str, answer: F) -> Answer<A>
    where
        F: Fn(BTreeSet<String>) -> Fut + Send + 'static,
        Fut: Future<Output = Answers<A>> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let question = Question { name: name.to_owned(), call: Box::new(move |names| answer(names).boxed()), sender };
        let is_first = {
            let mut waiting = lock(&self.state);
            waiting.questions.push(question);
            !std::mem::replace(&mut waiting.is_collecting, true)
        };
        if is_first {
            // A task of its own, so that the others get their answers even if this asker is cancelled.
            tokio::spawn(collect(Arc::clone(&self.state), self.most, Arc::clone(&cx.clock)));
        }
        receiver.await.unwrap_or_else(|_| Err(Fault::new(FaultClass::Bug, name, "the question was lost")))
    }
}

// What is asked while a call is out waits for the next: else resources that terraform starts one by one would each
// make a call of their own.
async fn collect<A: Clone>(state: Arc<Mutex<Waiting<A>>>, most: usize, clock: Arc<dyn Clock>) {
    let _end = End(&state);
    loop {
        wait_while_others_come(&state, &*clock).await;
        let mut asked = {
            let mut waiting = lock(&state);
            if waiting.questions.is_empty() {
                waiting.is_collecting = false;
                return;
            }
            std::mem::take(&mut waiting.questions)
        };
        while !asked.is_empty() {
            let names: BTreeSet<_> = asked.iter().map(|question| &question.name).collect();
            let first: BTreeSet<_> = names.into_iter().take(most).cloned().collect();
            let (now, later) = asked.into_iter().partition(|question| first.contains(&question.name));
            asked = later;
            answer(now).await;
        }
    }
}

/// Should a call panic, nobody waits for ever: those who wait are told, and the next question is collected.
struct End<'a, A>(&'a Mutex<Waiting<A>>);

impl<A> Drop for End<'_, A> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            *lock(self.0) = Waiting { questions: Vec::new(), is_collecting: false };
        }
    }
}

async fn wait_while_others_come<A>(state: &Mutex<Waiting<A>>, clock: &dyn Clock) {
    let mut count = lock(state).questions.len();
    for _ in 0..MOMENTS {
        clock.sleep(MOMENT).await;
        let asked = lock(state).questions.len();
        if std::mem::replace(&mut count, asked) == asked {
            return;
        }
    }
}

async fn answer<A: Clone>(questions: Vec<Question<A>>) {
    let Some(first) = questions.first() else { return };
    let answers = (first.call)(questions.iter().map(|question| question.name.clone()).collect()).await;
    for Question { name, sender, .. } in questions {
        let answer = match &answers {
            Ok(answers) => Ok(answers.get(&name).cloned()),
            Err(fault) => Err(copy(fault)),
        };
        // An asker that went away needs no answer.
        let _ = sender.send(answer);
    }
}

fn lock<A>(state: &Mutex<Waiting<A>>) -> MutexGuard<'_, Waiting<A>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
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
        at: fault.at.clone(),
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
    async fn those_who_ask_for_the_same_take_no_room_in_a_call() {
        let (gather, cx, calls) = (Gather::new(1), Cx::default(), Arc::new(AtomicUsize::new(0)));
        let ask = |name| {
            let calls = Arc::clone(&calls);
            gather.ask(&cx, name, move |names| {
                calls.fetch_add(1, Ordering::Relaxed);
                async move { Ok(lengths(names)) }
            })
        };
        let answers = tokio::join!(ask("a"), ask("bb"), ask("a"), ask("absent"), ask("a"));
        assert_eq!((answers.0.unwrap(), answers.2.unwrap(), answers.4.unwrap()), (Some(1), Some(1), Some(1)));
        assert_eq!((answers.1.unwrap(), answers.3.unwrap()), (Some(2), None));
        assert_eq!(calls.load(Ordering::Relaxed), 3);
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
    async fn what_is_asked_while_a_call_is_out_is_one_call_after_it() {
        let (gather, cx, calls) = (Gather::new(100), InstantClock::cx(), Arc::new(Mutex::new(Vec::new())));
        let out = Arc::new(tokio::sync::Semaphore::new(0));
        let ask = |name| {
            let (calls, out) = (Arc::clone(&calls), Arc::clone(&out));
            gather.ask(&cx, name, move |names| {
                calls.lock().unwrap().push(names.len());
                let out = Arc::clone(&out);
                async move {
                    out.acquire().await.unwrap().forget();
                    Ok(lengths(names))
                }
            })
        };
        let later = async {
            while calls.lock().unwrap().is_empty() {
                tokio::task::yield_now().await;
            }
            let asked = futures::future::join(ask("bb"), ask("ccc"));
            // The first call ends when both are waiting.
            let end = async { out.add_permits(2) };
            futures::future::join(asked, end).await.0
        };
        let (first, (second, third)) = futures::future::join(ask("a"), later).await;
        assert_eq!((first.unwrap(), second.unwrap(), third.unwrap()), (Some(1), Some(2), Some(3)));
        assert_eq!(*calls.lock().unwrap(), [1, 2]);
    }

    #[tokio::test]
    async fn a_call_that_panics_is_told_and_the_next_question_is_answered() {
        let (gather, cx) = (Gather::<usize>::new(100), InstantClock::cx());
        let lost = gather.ask(&cx, "a", |names| async move {
            assert!(!names.contains("a"), "a mistake in a call");
            Ok(lengths(names))
        });
        assert_eq!(lost.await.unwrap_err().class, FaultClass::Bug);
        assert_eq!(gather.ask(&cx, "bb", |names| async move { Ok(lengths(names)) }).await.unwrap(), Some(2));
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
