//! Commands: one autocommit statement each, asked again with the same request id when that is right (R21, R23, R24).

use std::time::{Duration, Instant};

use backon::{BackoffBuilder, ExponentialBuilder};
use sqlx::postgres::PgConnection;

use super::faults::{Kind, fault, kind};
use super::rows::{Head, ItemAnswerRow, ItemRow, SlotAnswerRow, SlotRow, StockAnswerRow, StockRow};
use super::{House, StoreError};
use crate::domain::{Answer, Claim, Command, Done, Refusal, Request, SiteId};

/// How long one statement may take before the connection counts as lost: longer than the server's own limit.
const STATEMENT_PATIENCE: Duration = Duration::from_secs(12);

/// How long the fate of a command is asked for before the desk is told that it is unknown.
const CHECKING_PATIENCE: Duration = Duration::from_secs(20);

/// How often a command that met contention is asked again before the answer is `busy` (R23).
const CONTENDED_TRIES: usize = 4;

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
                        Kind::Contended => return Ok(self.busy(request).await),
                        _ => return Err(fault(&error)),
                    }
                    (kind(&error) == Kind::Lost).then_some(error)
                }
            };
            if error.is_some() {
                if asked_at.elapsed() > CHECKING_PATIENCE {
                    return Err(StoreError::Unknown {
                        request_id: request.id,
                    });
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
            outcome: Err(Refusal::Busy {}),
            claim: None,
            repeated: false,
            now: self.now().await.unwrap_or_default(),
        }
    }
}

fn is_busy(answer: &Answer) -> bool {
    matches!(answer.outcome, Err(Refusal::Busy {}))
}

enum Asked {
    Answered(Box<Answer>),
    NotSent(sqlx::Error),
    Failed(sqlx::Error),
}

enum SendError {
    Sql(sqlx::Error),
    Unreadable(StoreError),
}

impl From<sqlx::Error> for SendError {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for SendError {
    fn from(error: StoreError) -> Self {
        Self::Unreadable(error)
    }
}

/// One command, one statement, one round trip.
async fn send(
    connection: &mut PgConnection,
    site: SiteId,
    request: &Request,
) -> Result<Answer, SendError> {
    let (site, id, desk) = (site.0, request.id.0, request.desk.0.as_str());
    Ok(match &request.command {
        Command::HoldSlot {
            room,
            period,
            ttl,
            guest,
            note,
            party,
        } => slot_answer(
            sqlx::query_as!(
                SlotAnswerRow,
                "SELECT * FROM hold_slot($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
                site,
                id,
                desk,
                room.0,
                period.start(),
                period.end(),
                *ttl as _,
                guest,
                note,
                *party
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::BlockSlot {
            room,
            period,
            reason,
        } => slot_answer(
            sqlx::query_as!(
                SlotAnswerRow,
                "SELECT * FROM block_slot($1, $2, $3, $4, $5, $6, $7)",
                site,
                id,
                desk,
                room.0,
                period.start(),
                period.end(),
                reason
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::ImportSlot {
            room,
            period,
            guest,
            note,
            party,
        } => slot_answer(
            sqlx::query_as!(
                SlotAnswerRow,
                "SELECT * FROM import_slot($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                site,
                id,
                desk,
                room.0,
                period.start(),
                period.end(),
                guest,
                note,
                *party
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::ConfirmSlot {
            hold,
            expect_version,
        } => slot_answer(
            sqlx::query_as!(
                SlotAnswerRow,
                "SELECT * FROM confirm_slot($1, $2, $3, $4, $5)",
                site,
                id,
                desk,
                hold.0,
                expect_version.map(|version| version.0)
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::CancelSlot {
            hold,
            expect_version,
            reason,
        } => slot_answer(
            sqlx::query_as!(
                SlotAnswerRow,
                "SELECT * FROM cancel_slot($1, $2, $3, $4, $5, $6)",
                site,
                id,
                desk,
                hold.0,
                reason,
                expect_version.map(|version| version.0)
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::EditSlot {
            hold,
            expect_version,
            guest,
            note,
            party,
        } => slot_answer(
            sqlx::query_as!(
                SlotAnswerRow,
                "SELECT * FROM edit_slot($1, $2, $3, $4, $5, $6, $7, $8)",
                site,
                id,
                desk,
                hold.0,
                guest.as_deref(),
                note.as_deref(),
                *party,
                expect_version.map(|version| version.0)
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::HoldStock {
            item,
            quantity,
            ttl,
            guest,
            note,
        } => stock_answer(
            sqlx::query_as!(
                StockAnswerRow,
                "SELECT * FROM hold_stock($1, $2, $3, $4, $5, $6, $7, $8)",
                site,
                id,
                desk,
                item.0,
                quantity,
                *ttl as _,
                guest,
                note
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::ConfirmStock {
            hold,
            expect_version,
        } => stock_answer(
            sqlx::query_as!(
                StockAnswerRow,
                "SELECT * FROM confirm_stock($1, $2, $3, $4, $5)",
                site,
                id,
                desk,
                hold.0,
                expect_version.map(|version| version.0)
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::CancelStock {
            hold,
            expect_version,
            reason,
        } => stock_answer(
            sqlx::query_as!(
                StockAnswerRow,
                "SELECT * FROM cancel_stock($1, $2, $3, $4, $5, $6)",
                site,
                id,
                desk,
                hold.0,
                reason,
                expect_version.map(|version| version.0)
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::ReceiveStock {
            item,
            quantity,
            reason,
        } => item_answer(
            sqlx::query_as!(
                ItemAnswerRow,
                "SELECT * FROM receive_stock($1, $2, $3, $4, $5, $6)",
                site,
                id,
                desk,
                item.0,
                quantity,
                reason
            )
            .fetch_one(connection)
            .await?,
        )?,
        Command::AdjustStock {
            item,
            change,
            reason,
        } => item_answer(
            sqlx::query_as!(
                ItemAnswerRow,
                "SELECT * FROM adjust_stock($1, $2, $3, $4, $5, $6)",
                site,
                id,
                desk,
                item.0,
                change,
                reason
            )
            .fetch_one(connection)
            .await?,
        )?,
    })
}

fn answer(head: Head, done: Option<Done>, claim: Option<Claim>) -> Result<Answer, StoreError> {
    let outcome = match (head.refusal, done) {
        (Some(refusal), _) => Err(refusal),
        (None, Some(done)) => Ok(done),
        (None, None) => {
            return Err(StoreError::Fault(
                "The database said done and sent no claim.".into(),
            ));
        }
    };
    Ok(Answer {
        outcome,
        claim,
        repeated: head.repeated,
        now: head.now,
    })
}

fn slot_answer(row: SlotAnswerRow) -> Result<Answer, StoreError> {
    let (head, row): (Head, SlotRow) = row.split()?;
    let hold = row.hold_id.map(|_| row.try_into()).transpose()?;
    answer(head, hold.clone().map(Done::Slot), hold.map(Claim::Slot))
}

fn stock_answer(row: StockAnswerRow) -> Result<Answer, StoreError> {
    let (head, row): (Head, StockRow) = row.split()?;
    let hold = row.hold_id.map(|_| row.try_into()).transpose()?;
    answer(head, hold.clone().map(Done::Stock), hold.map(Claim::Stock))
}

fn item_answer(row: ItemAnswerRow) -> Result<Answer, StoreError> {
    let (head, row): (Head, ItemRow) = row.split()?;
    let item = row.item_id.map(|_| row.try_into()).transpose()?;
    answer(head, item.map(Done::Item), None)
}
