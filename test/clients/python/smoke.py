"""What an engineer writes with the Python client of openapi-generator."""

import json
import sys

import vestibule
from vestibule.exceptions import ApiException

base_url, token = sys.argv[1:]
configuration = vestibule.Configuration(host=base_url, access_token=token)

with vestibule.ApiClient(configuration) as client:
    groups = vestibule.GroupApi(client)
    names = [group.metadata.name for group in groups.list_group(limit=10).items]
    draft = vestibule.GroupDraft(
        metadata=vestibule.DraftMetadata(name="typed"),
        spec=vestibule.GroupSpec(displayName="Typed"),
    )
    created = groups.create_group(draft, field_validation="Strict")
    changed = groups.patch_group(
        created.metadata.name, {"spec": {"displayName": "Retyped"}}
    )
    try:
        groups.create_group(draft)
        raise SystemExit("created twice")
    except ApiException as error:
        refused = json.loads(error.body)["reason"]
    gone = groups.delete_group("typed")
    policies = vestibule.PolicyApi(client).list_policy(field_selector="status.inForce=true")
    print(
        json.dumps(
            {
                "names": names,
                "displayName": changed.spec.display_name,
                "refused": refused,
                "gone": gone.status,
                "condition": policies.items[0].status.conditions[0].type,
            }
        )
    )
