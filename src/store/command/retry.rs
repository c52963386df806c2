//! How a command comes to its answer: sent in a task of its own, and asked again with the same request id when that is
//! right (R21, R23, R24).

use std::sync::Arc;
use std::time::{Duration, Instant};

use backon::{BackoffBuilder, ExponentialBuilder};
use chrono::{DateTime, Utc};
use sqlx::postgres::PgConnection;

use crate::domain::{Answer, Refusal, Request, RequestId, ServerAnswer, ServerRequest, SiteId};
use crate::store::command::statements::{SendError, send, send_to_server};
use crate::store::connection::error::StoreError;
use crate::store::connection::faults::{Kind, fault, kind};
use crate::store::handle::{SiteStore, Store};

/// How long one statement may take before the connection counts as lost: longer than the server's own limit.
const STATEMENT_PATIENCE: Duration = Duration::from_secs(12);

/// How long the fate of a command is asked for before the desk is told that it is unknown.
const CHECKING_PATIENCE: Duration = Duration::from_secs(20);

/// How often a command that met contention is asked again before the answer is `busy` (R23).
const CONTENDED_TRIES: usize = 2;

/// What a desk can be told while it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Contention: it was rolled back and is asked again.
    Retrying,
    /// The connection broke: it may have been done or not, and the request id is being asked (R24).
    Checking,
}

/// What is asked under a request id, so that it is done once however often it is sent (R21).
trait Question: Send + Sync + 'static {
    type Answer: Send + 'static;
    fn id(&self) -> RequestId;
    fn send(
        &self,
        connection: &mut PgConnection,
    ) -> impl Future<Output = Result<Self::Answer, SendError>> + Send;

    /// The refusal in an answer.
    fn refusal(answer: &Self::Answer) -> Option<&Refusal>;

    /// The answer that refuses.
    fn refused(refusal: Refusal, now: DateTime<Utc>) -> Self::Answer;

    /// Where there may be something to see now.
    fn site(&self, answer: &Self::Answer) -> Option<SiteId>;
}
struct SiteRequest {
    site: SiteId,
    request: Request,
}

impl Question for SiteRequest {
    type Answer = Answer;

    fn id(&self) -> RequestId {
        self.request.id
    }

    async fn send(&self, connection: &mut PgConnection) -> Result<Answer, SendError> {
        send(connection, self.site, &self.request).await
    }

    fn refusal(answer: &Answer) -> Option<&Refusal> {
        answer.refusal()
    }

    fn refused(refusal: Refusal, now: DateTime<Utc>) -> Answer {
        Answer {
            outcome: Err(refusal.into()),
            repeated: false,
            now,
        }
    }

    fn site(&self, _: &Answer) -> Option<SiteId> {
        Some(self.site)
    }
}

impl Question for ServerRequest {
    type Answer = ServerAnswer;

    fn id(&self) -> RequestId {
        self.id
    }

    async fn send(&self, connection: &mut PgConnection) -> Result<ServerAnswer, SendError> {
        send_to_server(connection, self).await
    }

    fn refusal(answer: &ServerAnswer) -> Option<&Refusal> {
        answer.outcome.as_ref().err()
    }

    fn refused(refusal: Refusal, now: DateTime<Utc>) -> ServerAnswer {
        ServerAnswer {
            outcome: Err(refusal),
            repeated: false,
            now,
        }
    }

    fn site(&self, answer: &ServerAnswer) -> Option<SiteId> {
        answer.outcome.as_ref().ok().map(|change| change.site.id)
    }
}

impl SiteStore {
    /// Asks for a command and waits for the answer.
    ///
    /// Each statement runs in a task of its own: dropping this future does not cancel a write halfway. It is not asked
    /// again then.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] if nothing was sent, [`StoreError::Unknown`] if something was and nobody could say
    /// what became of it, and other faults: a guard, if a
    /// name is taken.
    pub async fn execute(&self, request: Request) -> Result<Answer, StoreError> {
        self.execute_reporting(request, |_| ()).await
    }

    /// The same, and tells when it is being asked again.
    ///
    /// # Errors
    /// As [`SiteStore::execute`].
    pub async fn execute_reporting(
        &self,
        request: Request,
        report: impl Fn(Progress) + Send,
    ) -> Result<Answer, StoreError> {
        let site = self.site.id;
        self.store
            .ask_until_answered(SiteRequest { site, request }, report)
            .await
    }
}

impl Store {
    /// Asks for a command to the server and waits for the answer, in the way of [`SiteStore::execute`].
    ///
    /// # Errors
    /// As [`SiteStore::execute`]; a guard also if the site is a demo's and can't be meant.
    pub async fn execute_server(&self, request: ServerRequest) -> Result<ServerAnswer, StoreError> {
        self.ask_until_answered(request, |_| ()).await
    }

    async fn ask_until_answered<Q: Question>(
        &self,
        question: Q,
        report: impl Fn(Progress) + Send,
    ) -> Result<Q::Answer, StoreError> {
        let question = Arc::new(question);
        let mut pauses = ExponentialBuilder::new()
            .with_min_delay(Duration::from_millis(20))
            .with_max_delay(Duration::from_secs(1))
            .with_jitter()
            .without_max_times()
            .build();
        let mut sent = false;
        let mut contended = 0;
        let mut text_changed = false;
        let asked_at = Instant::now();
        loop {
            let error = match self.ask_once(&question).await {
                Attempt::Answered(answer)
                    if is_busy::<Q>(&answer) && contended < CONTENDED_TRIES =>
                {
                    contended += 1;
                    report(Progress::Retrying);
                    None
                }
                // Nothing was done this time; what was sent before may still be under way (R24).
                Attempt::Answered(answer) if sent && is_busy::<Q>(&answer) => {
                    return Err(unknown(question.id()));
                }
                Attempt::Answered(answer) => return Ok(answer),
                Attempt::Unreadable(error) => return Err(error),
                Attempt::NotSent(error) if !sent => return Err(fault(&error)),
                Attempt::NotSent(error) => Some(error),
                Attempt::Failed(error) => {
                    match kind(&error) {
                        Kind::Lost => sent = true,
                        Kind::Contended if contended < CONTENDED_TRIES => {
                            contended += 1;
                            report(Progress::Retrying);
                        }
                        // The text of the protocol was replaced at this moment: once more, on a new connection.
                        Kind::Schema if !text_changed => {
                            text_changed = true;
                            self.connections.forget_idle();
                        }
                        // Whatever stands in the way of asking again says nothing about what was sent before.
                        _ if sent => {
                            tracing::warn!(error = %fault(&error), "asking again failed");
                            return Err(unknown(question.id()));
                        }
                        Kind::Contended => return Ok(self.busy(question.as_ref()).await),
                        Kind::Schema => return Err(self.explain_missing(&error).await),
                        _ => return Err(fault(&error)),
                    }
                    (kind(&error) == Kind::Lost).then_some(error)
                }
            };
            if error.is_some() {
                if asked_at.elapsed() > CHECKING_PATIENCE {
                    return Err(unknown(question.id()));
                }
                report(Progress::Checking);
            }
            tokio::time::sleep(pauses.next().unwrap_or(Duration::from_secs(1))).await;
        }
    }

    /// Sends the command once. The statement runs in a task that owns its connection: a time-out here, or a caller who
    /// goes away, leaves it to itself, and only a clean end brings the connection back.
    async fn ask_once<Q: Question>(&self, question: &Arc<Q>) -> Attempt<Q::Answer> {
        let (connections, hints) = (self.connections.clone(), self.hints.clone());
        let mut connection = match connections.take().await {
            Ok(connection) => connection,
            Err(error) => return Attempt::NotSent(error),
        };
        let question = Arc::clone(question);
        let statement = tokio::spawn(async move {
            let outcome = question.send(&mut connection).await;
            match &outcome {
                Ok(_) | Err(SendError::Unreadable(_)) => connections.give_back(connection),
                Err(SendError::Sql(error)) if matches!(kind(error), Kind::Lost | Kind::Schema) => {
                    connections.forget_idle();
                }
                Err(SendError::Sql(_)) => connections.give_back(connection),
            }
            if let Ok(answer) = &outcome
                && !is_busy::<Q>(answer)
                && let Some(site) = question.site(answer)
            {
                hints.hint(site);
            }
            outcome
        });
        match tokio::time::timeout(STATEMENT_PATIENCE, statement).await {
            Ok(Ok(Ok(answer))) => Attempt::Answered(answer),
            Ok(Ok(Err(SendError::Sql(error)))) => Attempt::Failed(error),
            Ok(Ok(Err(SendError::Unreadable(error)))) => Attempt::Unreadable(error),
            Ok(Err(_)) => Attempt::Failed(sqlx::Error::WorkerCrashed),
            Err(_) => Attempt::Failed(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())),
        }
    }

    /// The answer `busy`, with the last time that the database told.
    async fn busy<Q: Question>(&self, question: &Q) -> Q::Answer {
        tracing::warn!(request = %question.id(), "contended until patience ended");
        Q::refused(Refusal::Busy {}, self.now().await.unwrap_or_default())
    }
}

fn unknown(request_id: RequestId) -> StoreError {
    StoreError::Unknown { request_id }
}

fn is_busy<Q: Question>(answer: &Q::Answer) -> bool {
    matches!(Q::refusal(answer), Some(Refusal::Busy {}))
}

/// What became of sending a question once.
enum Attempt<Answer> {
    Answered(Answer),
    /// It was answered, and the answer makes no sense.
    Unreadable(StoreError),
    NotSent(sqlx::Error),
    Failed(sqlx::Error),
}
