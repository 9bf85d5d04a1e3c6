// What an engineer writes with the Go client of openapi-generator.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	vestibule "vestibule.example/clients/go"
)

func main() {
	configuration := vestibule.NewConfiguration()
	configuration.Servers = vestibule.ServerConfigurations{{URL: os.Args[1]}}
	ctx := context.WithValue(context.Background(), vestibule.ContextAccessToken, os.Args[2])
	groups := vestibule.NewAPIClient(configuration).GroupAPI

	list, _, err := groups.ListGroup(ctx).Limit(10).Execute()
	check(err)
	names := []string{}
	for _, group := range list.Items {
		names = append(names, group.Metadata.Name)
	}
	draft := vestibule.NewGroupDraft(*vestibule.NewGroupSpec("Typed"))
	metadata := vestibule.NewDraftMetadata()
	metadata.SetName("typed")
	draft.SetMetadata(*metadata)
	created, _, err := groups.CreateGroup(ctx).GroupDraft(*draft).FieldValidation("Strict").Execute()
	check(err)
	changed, _, err := groups.PatchGroup(ctx, created.Metadata.Name).
		RequestBody(map[string]any{"spec": map[string]any{"displayName": "Retyped"}}).Execute()
	check(err)
	_, response, err := groups.CreateGroup(ctx).GroupDraft(*draft).Execute()
	if err == nil {
		panic("created twice")
	}
	refused, ok := err.(*vestibule.GenericOpenAPIError).Model().(vestibule.Status)
	if !ok || response.StatusCode != 409 {
		panic(err)
	}
	gone, _, err := groups.DeleteGroup(ctx, "typed").Execute()
	check(err)
	text, err := json.Marshal(map[string]any{
		"names":       names,
		"displayName": changed.Spec.DisplayName,
		"refused":     refused.GetReason(),
		"gone":        gone.Status,
	})
	check(err)
	fmt.Println(string(text))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
