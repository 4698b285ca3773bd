//! Following an instance until the hub is done with it.

use std::io::IsTerminal;
use std::pin::pin;
use std::time::Duration;

use fitout_api::ExtensionInstance;
use futures::StreamExt;
use indicatif::{ProgressBar, ProgressStyle};
use kube::runtime::{WatchStreamExt, watcher};

use crate::ages::span;
use crate::connection::Session;
use crate::failure::{Failure, refused};
use crate::progress;
use crate::verdict::{Verdict, out_of_time, verdict};

/// What is waited for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// That it is as it is wanted.
    Ready,
    /// That it is no more.
    Gone,
}

impl Until {
    fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Gone => "gone",
        }
    }
}

/// Follows an instance until it is what is waited for, cannot go on, or the time is over. Each state it is seen in is
/// shown on the standard error: as a bar where that is a terminal, as lines elsewhere. Losing the hub is no end: it is
/// found again.
pub(crate) async fn follow(
    session: &Session,
    instance: ExtensionInstance,
    until: Until,
    limit: Duration,
) -> Result<Option<ExtensionInstance>, Failure> {
    let name = instance.metadata.name.clone().unwrap_or_default();
    let display = Display::new(&name);
    display.show(&instance);
    let mut last = instance;
    let watched = watcher::watch_object(session.own::<ExtensionInstance>(), &name).default_backoff();
    let mut watched = pin!(watched);
    let ended = tokio::time::timeout(limit, async {
        while let Some(seen) = watched.next().await {
            match seen {
                Ok(Some(seen)) => {
                    display.show(&seen);
                    last = seen;
                    match verdict(&last) {
                        Verdict::Stuck(failure) => return Err(failure),
                        Verdict::Ready if until == Until::Ready => return Ok(Some(last.clone())),
                        Verdict::Ready | Verdict::Working => {}
                    }
                }
                Ok(None) if until == Until::Gone => return Ok(None),
                Ok(None) => return Err(Failure::new(format!("instance {name} was deleted by somebody else"))),
                Err(error) => lost(&name, &display, &error)?,
            }
        }
        Err(Failure::new(format!("the hub's API server no longer says anything about instance {name}")))
    })
    .await;
    display.end();
    ended.unwrap_or_else(|_| Err(out_of_time(&last, until.word(), &span(limit))))
}

/// What came between: a missing right stays missing, everything else passes.
fn lost(name: &str, display: &Display, error: &watcher::Error) -> Result<(), Failure> {
    if let watcher::Error::InitialListFailed(error) | watcher::Error::WatchStartFailed(error) = error
        && let kube::Error::Api(status) = error
        && matches!(status.code, 401 | 403)
    {
        return Err(refused(&format!("watch ExtensionInstance {name}"), error));
    }
    display.say("the hub's API server does not answer; trying again");
    Ok(())
}

/// Where progress is shown.
struct Display {
    name: String,
    bar: Option<ProgressBar>,
    said: std::cell::RefCell<String>,
}

impl Display {
    fn new(name: &str) -> Self {
        let bar = std::io::stderr().is_terminal().then(ProgressBar::new_spinner);
        if let Some(bar) = &bar {
            bar.set_style(style(false));
            bar.set_prefix(name.to_owned());
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        Self { name: name.to_owned(), bar, said: std::cell::RefCell::default() }
    }

    fn show(&self, instance: &ExtensionInstance) {
        if let Some(bar) = &self.bar {
            let objects = progress::objects(instance);
            bar.set_style(style(objects.is_some()));
            if let Some(objects) = objects {
                bar.set_position(objects.ready.into());
                bar.set_length(objects.total.into());
            }
        }
        self.say(&progress::line(instance));
    }

    /// Each line once, as long as nothing else was said.
    fn say(&self, line: &str) {
        if *self.said.borrow() == line {
            return;
        }
        line.clone_into(&mut self.said.borrow_mut());
        match &self.bar {
            Some(bar) => bar.set_message(line.to_owned()),
            None => eprintln!("{}: {line}", self.name),
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn style(counted: bool) -> ProgressStyle {
    let template = if counted {
        "{spinner} {prefix} [{bar:20}] {pos} of {len} objects ready, {elapsed}\n  {wide_msg}"
    } else {
        "{spinner} {prefix} {elapsed}\n  {wide_msg}"
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner()).progress_chars("##-")
}
