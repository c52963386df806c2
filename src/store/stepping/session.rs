//! The session that is stopped: a connection in a task of its own, which plays one command in one transaction. That the
//! task owns the connection is what makes cutting it possible at any moment, in the middle of a statement too.

use std::time::Duration;

use futures_util::FutureExt;
use sqlx::postgres::PgConnection;
use sqlx::{Connection, Executor};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tracing::instrument::WithSubscriber;

use crate::domain::{Answer, Request, SiteId};
use crate::store::command::statements::{SendError, send};
use crate::store::connection::connections::{Connections, session_name};
use crate::store::stepping::notices::{NoticeReader, StepReport};
use crate::store::stepping::view::StepLimits;

/// How soon the server looks whether a stopped session's client is still there.
const CLIENT_CHECK: &str = "50ms";
pub(super) type CommandOutcome = Result<Answer, SendError>;
type EndOutcome = Result<(), sqlx::Error>;

enum Job {
    Play(Box<Request>, NoticeReader, oneshot::Sender<CommandOutcome>),
    Commit(oneshot::Sender<EndOutcome>),
    CommitUnheard,
    RollBack(oneshot::Sender<EndOutcome>),
}

/// How long a goodbye may take.
const GOODBYE: Duration = Duration::from_secs(1);
pub(super) struct Session {
    pub(super) backend: i32,
    jobs: mpsc::UnboundedSender<Job>,
    /// None once it has ended.
    task: Option<JoinHandle<()>>,
}

impl Session {
    /// Opens one that will stop at the gates of a run. The limit is the database's own affair from here on.
    pub(super) async fn open(
        connections: &Connections,
        site: SiteId,
        request: &Request,
        run: i32,
        limits: StepLimits,
    ) -> Result<Self, sqlx::Error> {
        let limit = limits.total.as_millis().clamp(1, i32::MAX as u128);
        let options = connections
            .options()
            .clone()
            .application_name(&session_name(&request.desk))
            .options([
                ("stepwise.run", run.to_string()),
                ("stepwise.limit", limit.to_string()),
                ("statement_timeout", limit.to_string()),
                ("idle_in_transaction_session_timeout", limit.to_string()),
                // At a gate it waits for a lock, and for a person.
                ("lock_timeout", "0".to_owned()),
                ("client_connection_check_interval", CLIENT_CHECK.to_owned()),
            ]);
        let mut connection = connections.open_with(&options).await?;
        let backend = sqlx::query_scalar!(
            r#"
            SELECT pg_backend_pid() AS "backend!"
            FROM set_config('search_path', 'pg_catalog, keyrack_step, keyrack, pg_temp', false)
            "#
        )
        .fetch_one(&mut connection)
        .await?;
        let (jobs, mut inbox) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            // Whoever asked may have gone meanwhile; then nobody hears the answers.
            while let Some(job) = inbox.recv().await {
                match job {
                    Job::Play(request, notices, heard) => {
                        let _ = heard.send(play(&mut connection, site, &request, notices).await);
                    }
                    Job::Commit(heard) => {
                        let _ = heard.send(connection.execute("COMMIT").await.map(drop));
                    }
                    Job::RollBack(heard) => {
                        let _ = heard.send(connection.execute("ROLLBACK").await.map(drop));
                    }
                    Job::CommitUnheard => {
                        // Sent, and the line cut before the answer could come.
                        let _ = connection.execute("COMMIT").now_or_never();
                        return;
                    }
                }
            }
            // The server may be gone; then there is nobody to say goodbye to.
            let _ = connection.close().await;
        });
        Ok(Self {
            backend,
            jobs,
            task: Some(task),
        })
    }

    /// Begins the transaction and sends the command, the very statement that every desk sends.
    pub(super) fn play(
        &self,
        request: Request,
        run: i32,
        reports: mpsc::UnboundedSender<StepReport>,
    ) -> oneshot::Receiver<CommandOutcome> {
        let notices = NoticeReader::new(run, reports);
        self.give(|heard| Job::Play(Box::new(request), notices, heard))
    }

    pub(super) fn commit(&self) -> oneshot::Receiver<EndOutcome> {
        self.give(Job::Commit)
    }

    pub(super) fn roll_back(&self) -> oneshot::Receiver<EndOutcome> {
        self.give(Job::RollBack)
    }

    /// Sends COMMIT and closes the connection without hearing what became of it.
    pub(super) async fn commit_unheard(&mut self) {
        let _ = self.jobs.send(Job::CommitUnheard);
        if let Some(task) = self.task.take() {
            let _ = task.await;
        }
    }

    /// Closes the connection without a word, whatever it is doing.
    pub(super) async fn cut(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
            let _ = task.await;
        }
    }

    /// Says goodbye to the server.
    pub(super) async fn close(self) {
        drop(self.jobs);
        if let Some(mut task) = self.task
            && timeout(GOODBYE, &mut task).await.is_err()
        {
            task.abort();
        }
    }

    fn give<T>(&self, job: impl FnOnce(oneshot::Sender<T>) -> Job) -> oneshot::Receiver<T> {
        let (sender, receiver) = oneshot::channel();
        // If the task is gone, the receiver hears that its sender is.
        let _ = self.jobs.send(job(sender));
        receiver
    }
}

async fn play(
    connection: &mut PgConnection,
    site: SiteId,
    request: &Request,
    notices: NoticeReader,
) -> CommandOutcome {
    connection
        .execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        .await?;
    send(connection, site, request)
        .with_subscriber(notices)
        .await
}
