"""An operator that owns the kind Pond, with what kopf does by default.

It makes a Fischer for each name of a Pond's spec, owned by the Pond, and a warden that no one owns, which goes when
the Pond does. KUBECONFIG names the server: `kopf run --all-namespaces kopf_operator.py`.
"""

from datetime import datetime, timezone

import kopf
import kubernetes

GROUP, VERSION = "wardle.example.com", "v1"
NOT_FOUND, CONFLICT = 404, 409

kubernetes.config.load_kube_config()
api = kubernetes.client.CustomObjectsApi()


def ignoring(status, call, *args):
    """Calls and returns the answer, or None if that status is the answer."""
    try:
        return call(GROUP, VERSION, *args)
    except kubernetes.client.ApiException as error:
        if error.status != status:
            raise
        return None


def create(pond, name, is_owned):
    """Creates a Fischer of a Pond, if there is none of that name."""
    fischer = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "Fischer",
        "metadata": {"name": name},
        "spec": {"pond": pond["metadata"]["name"]},
    }
    if is_owned:
        kopf.append_owner_reference(fischer, owner=pond)
    ignoring(CONFLICT, api.create_cluster_custom_object, "fischers", fischer)


def delete(name):
    ignoring(NOT_FOUND, api.delete_cluster_custom_object, "fischers", name)


def make_fischers(pond):
    """Creates what a Pond lacks and deletes what it has too many; returns how many it wants."""
    prefix = pond["metadata"]["name"]
    wanted = [f"{prefix}-{name}" for name in pond["spec"]["fischers"]]
    create(pond, f"{prefix}-warden", is_owned=False)
    for name in wanted:
        create(pond, name, is_owned=True)
    for fischer in api.list_cluster_custom_object(GROUP, VERSION, "fischers")["items"]:
        metadata = fischer["metadata"]
        owners = [reference["uid"] for reference in metadata.get("ownerReferences", [])]
        if pond["metadata"]["uid"] in owners and metadata["name"] not in wanted:
            delete(metadata["name"])
    return len(wanted)


@kopf.on.resume(GROUP, VERSION, "ponds")
@kopf.on.create(GROUP, VERSION, "ponds")
@kopf.on.update(GROUP, VERSION, "ponds")
def reconcile(body, meta, status, patch, **_):
    fischers = make_fischers(body)
    former = [one for one in status.get("conditions", []) if one["type"] == "Ready"]
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    patch.status["observedGeneration"] = meta["generation"]
    patch.status["fischers"] = fischers
    patch.status["conditions"] = [
        {
            "type": "Ready",
            "status": "True",
            "reason": "Fished",
            "message": f"{fischers} fish here",
            "observedGeneration": meta["generation"],
            "lastTransitionTime": former[0]["lastTransitionTime"] if former else now,
        }
    ]


@kopf.on.delete(GROUP, VERSION, "ponds")
def clean_up(name, **_):
    delete(f"{name}-warden")


@kopf.on.event(GROUP, VERSION, "fischers")
def make_again(type, meta, **_):
    if type != "DELETED":
        return
    for reference in meta.get("ownerReferences", []):
        pond = ignoring(NOT_FOUND, api.get_cluster_custom_object, "ponds", reference["name"])
        if pond and pond["metadata"]["uid"] == reference["uid"] and "deletionTimestamp" not in pond["metadata"]:
            make_fischers(pond)
