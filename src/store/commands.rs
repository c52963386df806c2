//! Commands: one autocommit statement each, asked again with the same request id when that is right (R21, R23, R24).

use std::time::{Duration, Instant};

use super::faults::{Kind, fault, kind};
use super::send::{SendError, send};
use super::{House, StoreError};
use crate::domain::{Answer, Refusal, Request};
use backon::{BackoffBuilder, ExponentialBuilder};

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

impl House {
    /// Asks for a command and waits for the answer.
    ///
    /// The command runs in a task of its own: dropping this future does not cancel a write halfway.
    ///
    /// # Errors
    /// [`StoreError::OutOfReach`] if nothing was sent, [`StoreError::Unknown`] if something was and nobody could say
    /// what became of it, and faults.
    pub async fn execute(&self, request: Request) -> Result<Answer, StoreError> {
        self.execute_reporting(request, |_| ()).await
    }

    /// The same, and tells when it is being asked again.
    ///
    /// # Errors
    /// As [`House::execute`].
    pub async fn execute_reporting(
        &self,
        request: Request,
        report: impl Fn(Progress) + Send + 'static,
    ) -> Result<Answer, StoreError> {
        let house = self.clone();
        tokio::spawn(async move {
            let answer = house.ask_until_answered(&request, report).await;
            if answer.is_ok() {
                house.hint();
            }
            answer
        })
        .await
        .unwrap_or_else(|error| {
            Err(StoreError::Fault(format!(
                "The command's task ended early: {error}"
            )))
        })
    }

    async fn ask_until_answered(
        &self,
        request: &Request,
        report: impl Fn(Progress) + Send,
    ) -> Result<Answer, StoreError> {
        let mut pauses = ExponentialBuilder::new()
            .with_min_delay(Duration::from_millis(20))
            .with_max_delay(Duration::from_secs(1))
            .with_jitter()
            .without_max_times()
            .build();
        let mut sent = false;
        let mut contended = 0;
        let asked_at = Instant::now();
        loop {
            let error = match self.ask_once(request.clone()).await {
                Asked::Answered(answer) if is_busy(&answer) && contended < CONTENDED_TRIES => {
                    contended += 1;
                    report(Progress::Retrying);
                    None
                }
                // Nothing was done this time; what was sent before may still be under way (R24).
                Asked::Answered(answer) if sent && is_busy(&answer) => {
                    return Err(unknown(request));
                }
                Asked::Answered(answer) => return Ok(*answer),
                Asked::NotSent(error) if !sent => return Err(fault(&error)),
                Asked::NotSent(error) => Some(error),
                Asked::Failed(error) => {
                    match kind(&error) {
                        Kind::Lost => sent = true,
                        Kind::Contended if contended < CONTENDED_TRIES => {
                            contended += 1;
                            report(Progress::Retrying);
                        }
                        // Whatever stands in the way of asking again says nothing about what was sent before.
                        _ if sent => {
                            tracing::warn!(error = %fault(&error), "asking again failed");
                            return Err(unknown(request));
                        }
                        Kind::Contended => return Ok(self.busy(request).await),
                        _ => return Err(fault(&error)),
                    }
                    (kind(&error) == Kind::Lost).then_some(error)
                }
            };
            if error.is_some() {
                if asked_at.elapsed() > CHECKING_PATIENCE {
                    return Err(unknown(request));
                }
                report(Progress::Checking);
            }
            tokio::time::sleep(pauses.next().unwrap_or(Duration::from_secs(1))).await;
        }
    }

    /// Sends the command once. The statement runs in a task that owns its connection: a time-out here leaves it to
    /// itself, and only a clean end brings the connection back.
    async fn ask_once(&self, request: Request) -> Asked {
        let connections = self.store.connections.clone();
        let mut connection = match connections.take().await {
            Ok(connection) => connection,
            Err(error) => return Asked::NotSent(error),
        };
        let site = self.site.id;
        let statement = tokio::spawn(async move {
            let outcome = send(&mut connection, site, &request).await;
            match &outcome {
                Ok(_) | Err(SendError::Unreadable(_)) => connections.give_back(connection),
                Err(SendError::Sql(error)) if kind(error) == Kind::Lost => {
                    connections.forget_idle()
                }
                Err(SendError::Sql(_)) => connections.give_back(connection),
            }
            outcome
        });
        match tokio::time::timeout(STATEMENT_PATIENCE, statement).await {
            Ok(Ok(Ok(answer))) => Asked::Answered(Box::new(answer)),
            Ok(Ok(Err(SendError::Sql(error)))) => Asked::Failed(error),
            Ok(Ok(Err(SendError::Unreadable(error)))) => {
                Asked::Failed(sqlx::Error::Decode(error.to_string().into()))
            }
            Ok(Err(_)) => Asked::Failed(sqlx::Error::WorkerCrashed),
            Err(_) => Asked::Failed(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())),
        }
    }

    /// The answer `busy`, with the last time that the database told.
    async fn busy(&self, request: &Request) -> Answer {
        tracing::warn!(request = %request.id, "contended until patience ended");
        Answer {
            outcome: Err(Refusal::Busy {}.into()),
            repeated: false,
            now: self.now().await.unwrap_or_default(),
        }
    }
}

fn unknown(request: &Request) -> StoreError {
    StoreError::Unknown {
        request_id: request.id,
    }
}

fn is_busy(answer: &Answer) -> bool {
    matches!(answer.refusal(), Some(Refusal::Busy {}))
}

enum Asked {
    Answered(Box<Answer>),
    NotSent(sqlx::Error),
    Failed(sqlx::Error),
}
