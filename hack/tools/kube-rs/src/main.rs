//! Uses the API by kube-rs, with a watcher of its runtime, and prints what it sees. The second argument is for how
//! many seconds nothing happens between two changes; the watcher must then see no event and no error.
use futures::{StreamExt, TryStreamExt};
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams,
};
use kube::runtime::{watcher, WatchStreamExt};
use kube::{config::Kubeconfig, Client, Config};
use serde_json::json;
use std::time::Duration;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("the path of a kubeconfig is missing")?;
    let idle = std::env::args().nth(2).unwrap_or_default().parse().unwrap_or(0);
    let config = Config::from_custom_kubeconfig(Kubeconfig::read_from(path)?, &Default::default()).await?;
    let client = Client::try_from(config)?;
    let kind = ApiResource::from_gvk_with_plural(
        &GroupVersionKind::gvk("id.vestibule.org", "v1beta1", "Group"),
        "groups",
    );
    let groups: Api<DynamicObject> = Api::all_with(client, &kind);
    let draft = DynamicObject::new("kube-rs", &kind).data(json!({ "spec": { "displayName": "First" } }));
    groups.create(&PostParams::default(), &draft).await?;
    let listed = groups.list(&ListParams::default()).await?;
    println!("listed {}", listed.items.iter().any(|group| group.metadata.name.as_deref() == Some("kube-rs")));
    println!("got {}", groups.get("kube-rs").await?.data["spec"]["displayName"]);
    let mut seen = watcher(groups.clone(), watcher::Config::default()).applied_objects().boxed();
    for display_name in ["First", "Second"] {
        while let Some(group) = seen.try_next().await? {
            if group.metadata.name.as_deref() == Some("kube-rs") {
                println!("{}", group.data["spec"]["displayName"]);
                break;
            }
        }
        if display_name == "First" {
            let early = tokio::time::timeout(Duration::from_secs(idle), seen.try_next()).await;
            if let (true, Ok(event)) = (idle > 0, early) {
                return Err(format!("while nothing happened: {event:?}").into());
            }
            let change = json!({ "spec": { "displayName": "Second" } });
            groups.patch("kube-rs", &PatchParams::default(), &Patch::Merge(&change)).await?;
        }
    }
    let applied = json!({
        "apiVersion": "id.vestibule.org/v1beta1", "kind": "Group", "spec": { "displayName": "Third" }
    });
    let force = PatchParams::apply("kube-rs").force();
    let group = groups.patch("kube-rs", &force, &Patch::Apply(&applied)).await?;
    println!("applied {}", group.data["spec"]["displayName"]);
    groups.delete("kube-rs", &DeleteParams::default()).await?;
    println!("gone {}", groups.get_opt("kube-rs").await?.is_none());
    Ok(())
}
