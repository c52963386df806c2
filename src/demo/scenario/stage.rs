//! Where a scenario plays: a demo's house like its own, and a scratch schema if it wants one. Both are gone afterwards.

use crate::demo::scenario::{Pace, Scenario};
use crate::domain::Desk;
use crate::store::lab::Lab;
use crate::store::{DemoSite, SiteStore, Store, StoreError};

/// A stage, as long as a play lasts. [`Stage::strike`] removes it; what a killed demo leaves is removed by the next one.
#[derive(Debug)]
pub struct Stage {
    site: DemoSite,
    scratch: Option<Lab>,
}

impl Stage {
    /// Builds it. Where nobody watches, holds last as long as the scenario says for that.
    ///
    /// # Errors
    /// If the database can't be asked, or does not let this user make a scratch schema.
    pub async fn build(store: &Store, scenario: &Scenario, pace: Pace) -> Result<Self, StoreError> {
        let site_store = match pace {
            Pace::Headless => scenario.headless_site_file(),
            Pace::Slow | Pace::Sandbox => scenario.site_file.clone(),
        };
        let scratch = match &scenario.scratch {
            Some(_) => Some(store.open_lab().await?),
            None => None,
        };
        let desk = Desk("scenario".to_owned());
        match store.open_demo_site(&desk, &site_store).await {
            Ok(site) => Ok(Self { site, scratch }),
            Err(error) => {
                if let Some(scratch) = scratch {
                    scratch.close().await?;
                }
                Err(error)
            }
        }
    }

    /// The site.
    pub fn site_store(&self) -> &SiteStore {
        self.site.site_store()
    }

    /// The name of the scratch schema, if there is one.
    pub fn scratch(&self) -> Option<&str> {
        self.scratch.as_ref().map(Lab::schema)
    }

    /// Removes everything.
    ///
    /// # Errors
    /// If the database can't be asked; then the next demo removes it.
    pub async fn strike(self) -> Result<(), StoreError> {
        let scratch = match self.scratch {
            Some(scratch) => scratch.close().await,
            None => Ok(()),
        };
        self.site.remove().await.and(scratch)
    }
}
