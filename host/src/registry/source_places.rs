//! Files and folders of the code of plugins. A program that can write them decides what the host
//! executes after its next start.

use super::host_places::RestrictedPlace;
use super::source;
use crate::config::Config;

/// Returns the sources of all plugins. A plugin may read them.
pub(super) fn places(config: &Config) -> Vec<RestrictedPlace> {
    let mut places = Vec::new();
    for plugin in &config.plugins {
        let what = format!("source of plugin {:?}", plugin.name);
        // A source that is missing may be a folder later.
        if !plugin.source.is_file() {
            places.push(RestrictedPlace::folder(what.clone(), &plugin.source).readable());
        }
        // In a source folder, a link may lead to a component elsewhere. A source without a component is refused for
        // that reason.
        let component = source::component_file(&plugin.source);
        places.extend(component.ok().map(|file| RestrictedPlace::file(what, &file).readable()));
    }
    places
}
