"""Uses the API with Kubernetes clients of Python, each as its quick start says, and prints what it sees.

program.py CONFIG CLIENT: CONFIG is a kubeconfig, CLIENT one of the functions below. Each watch is idle for
VESTIBULE_IDLE_SECONDS before the first change.
"""

import asyncio
import os
import sys
import threading
import time

IDLE = float(os.environ.get("VESTIBULE_IDLE_SECONDS", "0.2"))
# The longest that a watch is open, in seconds.
OPEN = int(IDLE) + 120
GROUP, VERSION, PLURAL = "id.vestibule.org", "v1beta1", "groups"


def draft(name, display_name="First"):
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "Group",
        "metadata": {"name": name},
        "spec": {"displayName": display_name},
    }


def named(name, event_type, found, display_name):
    if found == name:
        print(event_type, display_name, flush=True)


def change_later(config, name):
    """Changes the Group once the watch was idle, by a client of its own."""
    import kubernetes

    def change():
        time.sleep(IDLE)
        api = kubernetes.client.CustomObjectsApi(kubernetes.config.new_client_from_config(config))
        api.patch_cluster_custom_object(GROUP, VERSION, PLURAL, name, {"spec": {"displayName": "Second"}})

    threading.Thread(target=change, daemon=True).start()


def official(config):
    """The generated client: custom objects, and a watch that is changed once it is open."""
    import kubernetes

    kubernetes.config.load_kube_config(config)
    api = kubernetes.client.CustomObjectsApi()
    api.create_cluster_custom_object(GROUP, VERSION, PLURAL, draft("official"))
    listed = api.list_cluster_custom_object(GROUP, VERSION, PLURAL)
    print("listed", "official" in [one["metadata"]["name"] for one in listed["items"]])
    stream = kubernetes.watch.Watch()
    events = stream.stream(
        api.list_cluster_custom_object,
        GROUP,
        VERSION,
        PLURAL,
        resource_version=listed["metadata"]["resourceVersion"],
        allow_watch_bookmarks=True,
        timeout_seconds=OPEN,
    )
    change_later(config, "official")
    for event in events:
        if event["type"] == "BOOKMARK":
            continue
        found = event["object"]
        named("official", event["type"], found["metadata"]["name"], found["spec"]["displayName"])
        if found["metadata"]["name"] == "official":
            stream.stop()
    print("namespaces", [one.metadata.name for one in kubernetes.client.CoreV1Api().list_namespace().items])
    api.delete_cluster_custom_object(GROUP, VERSION, PLURAL, "official")


def dynamic(config):
    """The dynamic client of the official one."""
    import kubernetes

    client = kubernetes.dynamic.DynamicClient(kubernetes.config.new_client_from_config(config))
    groups = client.resources.get(api_version=f"{GROUP}/{VERSION}", kind="Group")
    groups.create(body=draft("dynamic"))
    version = groups.get().metadata.resourceVersion
    change_later(config, "dynamic")
    watcher = kubernetes.watch.Watch()
    for event in groups.watch(resource_version=version, timeout=OPEN, watcher=watcher):
        found = event["object"]
        named("dynamic", event["type"], found.metadata.name, found.spec.displayName)
        if found.metadata.name == "dynamic":
            watcher.stop()
    groups.server_side_apply(body=draft("dynamic", "Third"), field_manager="python", force_conflicts=True)
    print("applied", groups.get(name="dynamic").spec.displayName)
    groups.delete(name="dynamic")


def asyncio_client(config):
    """kubernetes_asyncio, which sends `watch=True`."""
    import kubernetes_asyncio as kubernetes

    async def run():
        await kubernetes.config.load_kube_config(config)
        async with kubernetes.client.ApiClient() as client:
            api = kubernetes.client.CustomObjectsApi(client)
            await api.create_cluster_custom_object(GROUP, VERSION, PLURAL, draft("asyncio"))
            listed = await api.list_cluster_custom_object(GROUP, VERSION, PLURAL)
            change_later(config, "asyncio")
            async with kubernetes.watch.Watch().stream(
                api.list_cluster_custom_object,
                GROUP,
                VERSION,
                PLURAL,
                resource_version=listed["metadata"]["resourceVersion"],
                timeout_seconds=OPEN,
            ) as events:
                async for event in events:
                    found = event["object"]
                    named("asyncio", event["type"], found["metadata"]["name"], found["spec"]["displayName"])
                    if found["metadata"]["name"] == "asyncio":
                        break
            await api.delete_cluster_custom_object(GROUP, VERSION, PLURAL, "asyncio")

    asyncio.run(run())


def lightkube_client(config):
    import lightkube
    from lightkube.generic_resource import create_global_resource

    groups = create_global_resource(GROUP, VERSION, "Group", PLURAL)
    client = lightkube.Client(config=lightkube.KubeConfig.from_file(config))
    client.create(groups(metadata={"name": "lightkube"}, spec={"displayName": "First"}))
    print("listed", "lightkube" in [one.metadata.name for one in client.list(groups)])
    version = client.get(groups, "lightkube").metadata.resourceVersion
    change_later(config, "lightkube")
    for event_type, found in client.watch(groups, resource_version=version, server_timeout=OPEN):
        named("lightkube", event_type, found.metadata.name, found.spec["displayName"])
        if found.metadata.name == "lightkube":
            break
    applied = client.apply(
        groups(metadata={"name": "lightkube"}, spec={"displayName": "Third"}), field_manager="lightkube", force=True
    )
    print("applied", applied.spec["displayName"])
    client.delete(groups, "lightkube")


def kr8s_client(config):
    import kr8s

    api = kr8s.api(kubeconfig=config)
    print("ours", sorted({one["version"] for one in api.api_resources() if one["name"] == PLURAL}))
    print("namespaces", [one.name for one in api.get("namespaces")])
    kind = kr8s.objects.new_class("Group", f"{GROUP}/{VERSION}", namespaced=False, plural=PLURAL)
    group = kind(draft("kr8s"), api=api)
    group.create()
    print("listed", "kr8s" in [one.name for one in api.get("groups")])
    change_later(config, "kr8s")
    for event_type, found in api.watch("groups"):
        named("kr8s", event_type, found.name, found.spec.displayName)
        if found.name == "kr8s" and found.spec.displayName == "Second":
            break
    group.delete()


def kopf_client(config):
    """An operator that names the resource by its plural alone, for the whole cluster."""
    os.environ["KUBECONFIG"] = config
    import kopf
    import kubernetes

    kubernetes.config.load_kube_config(config)
    api = kubernetes.client.CustomObjectsApi()
    ready, seen, stop = threading.Event(), threading.Event(), threading.Event()

    @kopf.on.startup()
    def configure(settings, **_):
        settings.posting.enabled = False

    @kopf.on.event(PLURAL)
    def event(type, name, spec, **_):
        if name != "kopf":
            return
        named("kopf", type, name, spec["displayName"])
        ready.set()
        if spec["displayName"] == "Second":
            seen.set()

    api.create_cluster_custom_object(GROUP, VERSION, PLURAL, draft("kopf"))
    thread = threading.Thread(target=lambda: asyncio.run(kopf.operator(clusterwide=True, stop_flag=stop)))
    thread.start()
    ready.wait(60)
    change_later(config, "kopf")
    seen.wait(OPEN)
    stop.set()
    thread.join()
    api.delete_cluster_custom_object(GROUP, VERSION, PLURAL, "kopf")


CLIENTS = {
    "official": official,
    "dynamic": dynamic,
    "kubernetes_asyncio": asyncio_client,
    "lightkube": lightkube_client,
    "kr8s": kr8s_client,
    "kopf": kopf_client,
}

if __name__ == "__main__":
    CLIENTS[sys.argv[2]](sys.argv[1])
