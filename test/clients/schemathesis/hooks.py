"""What a schema cannot say: which objects exist, which parameters go together, who is signed in."""

import json
import os
import random
import re
import urllib.error
import urllib.request

import schemathesis

with open(os.environ["OBJECTS"], encoding="utf-8") as file:
    OBJECTS = json.load(file)
SERVICE = OBJECTS["service"]
# An object of these kinds is created before each deletion.
DRAFTS = OBJECTS["drafts"]
# These are about the account of the caller alone.
OWN = re.compile(r"/accounts/\{name\}/(?!disable|enable)\w+")
BOOLEANS = ("watch", "allowWatchBookmarks", "sendInitialEvents", "force")

random.seed(1)
created = 0


def headers_of(name):
    """Headers of the browser that holds an interaction, or of the operator's."""
    return {
        "cookie": OBJECTS["cookies"].get(name, OBJECTS["cookies"]["operator"]),
        "sec-fetch-site": "same-origin",
        "origin": SERVICE,
    }


def send(method, path, body=None):
    request = urllib.request.Request(
        f"{SERVICE}/api/v1beta1/{path}",
        method=method,
        data=body and json.dumps(body).encode(),
        headers={**headers_of("operator"), "content-type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{method} {path}: {error.read().decode()}") from error


def create(plural):
    """Creates an object and returns its name."""
    global created
    created += 1
    draft = json.dumps(DRAFTS[plural]).replace("NUMBER", str(created))
    return send("POST", plural, json.loads(draft))["metadata"]["name"]


def is_valid(case, part):
    """Whether the path, query or body of a case is valid by the document."""
    components = case.meta.components if case.meta else {}
    return all(one.mode.is_positive for name, one in components.items() if name.value == part)


@schemathesis.serializer("text/yaml", "application/apply-patch+yaml")
def serialize(context, value):
    """As JSON, which YAML contains: a generator of YAML writes keys that the service does not read."""
    return json.dumps(value).encode()


@schemathesis.hook
def before_call(context, case, kwargs):
    match = re.match(r"/api/v1beta1/(\w+)(/\{name\})?", case.path)
    if match:
        query_of(case)
        if match[2] and is_valid(case, "path"):
            name_of(case, match[1])
        if case.method == "DELETE" and not (match[2] and match[1] in DRAFTS):
            case.query.setdefault("dryRun", "All")
        drop_null(case)
        if is_valid(case, "body"):
            case.body = plain(case.body)
            body_of(case, match[1])
    # Names of interactions occur in other paths too, where their browsers may do nothing.
    is_interaction = match and match[1] == "interactions"
    name = (case.path_parameters or {}).get("name") if is_interaction else None
    case.headers.update(headers_of(name))


def query_of(case):
    """No watch, which has the media type of a list; no parameters that contradict each other."""
    query = case.query
    odd = [name for name in BOOLEANS if str(query.get(name, "true")).lower() not in ("true", "false")]
    for name in odd:
        del query[name]
    # Every text is a boolean, as in Kubernetes: something else is wrong then.
    if odd and not is_valid(case, "query"):
        query["timeout"] = "soon"
    if str(query.get("watch")).lower() == "true":
        del query["watch"]
    if not is_valid(case, "query"):
        return
    for name, value in OBJECTS["selectors"].items():
        if name in query:
            query[name] = value
    for name in ("sendInitialEvents", "continue", "resourceVersion", "resourceVersionMatch"):
        query.pop(name, None)
    if case.media_type != "application/apply-patch+yaml":
        query.pop("force", None)
    if "fieldManager" in query:
        query["fieldManager"] = re.sub(r"[^ -~]", "-", str(query["fieldManager"]))


def name_of(case, plural):
    """Names an object that exists."""
    if OWN.search(case.path):
        case.path_parameters["name"] = "~"
    elif case.method == "DELETE" and plural in DRAFTS:
        case.path_parameters["name"] = create(plural)
    elif OBJECTS["names"].get(plural):
        case.path_parameters["name"] = random.choice(OBJECTS["names"][plural])


def body_of(case, plural):
    """Versions and names as they are stored."""
    if isinstance(case.body, list):
        for operation in case.body:
            operation["path"] = operation["path"] or "/spec"
    if not isinstance(case.body, dict):
        return
    if case.method == "DELETE":
        case.body.pop("preconditions", None)
        # That of the body wins, as in Kubernetes.
        if "propagationPolicy" in case.query:
            case.body.pop("propagationPolicy", None)
    if case.media_type == "application/merge-patch+json":
        for name in ("apiVersion", "kind", "metadata", "status"):
            case.body.pop(name, None)
    if case.media_type == "application/apply-patch+yaml":
        for name in ("name", "resourceVersion", "uid"):
            case.body.get("metadata", {}).pop(name, None)
    is_item = case.path.endswith("/{name}")
    if case.method != ("PUT" if is_item else "POST") or case.path.count("/") > 4:
        return
    if not is_valid(case, "path"):
        return
    metadata = case.body.setdefault("metadata", {})
    for name in ("name", "resourceVersion", "uid", "ownerReferences", "managedFields"):
        metadata.pop(name, None)
    if is_item:
        stored = send("GET", f"{plural}/{case.path_parameters['name']}")["metadata"]
        metadata.update({name: stored[name] for name in ("name", "resourceVersion")})
    else:
        metadata["generateName"] = "created-"


def drop_null(case):
    """A null counts as absent, as in Kubernetes; clients generated for Go send one for no body."""
    if case.method == "DELETE" and not isinstance(case.body, (dict, list, str, int, float)):
        case.body = {} if is_valid(case, "body") or case.body is None else []
    if not isinstance(case.body, dict) or case.media_type == "application/merge-patch+json":
        return
    case.body = {
        key: value
        for key, value in case.body.items()
        if value is not None or key not in ("apiVersion", "kind", "metadata", "spec", "status")
    }
    metadata = case.body.get("metadata")
    if isinstance(metadata, dict):
        case.body["metadata"] = {key: value for key, value in metadata.items() if value is not None}


def plain(value):
    """The value with neither numbers out of range nor keys that are refused."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items() if key != "__proto__"}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        largest = 2**53 - 1
        return max(-largest, min(largest, round(value, 3)))
    return value
