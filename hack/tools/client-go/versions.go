package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// policyFields is what each version calls the address of a Client's privacy policy.
var policyFields = map[string]string{"v1alpha1": "policyURI", "v1beta1": "privacyPolicyURI"}

func clientsIn(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: apiGroup, Version: version, Resource: "clients"}
}

// followVersions follows a Client through an informer in each version, while it is applied in one after the other.
func followVersions(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	events := make(chan string, 100)
	for version, field := range policyFields {
		last := ""
		err = follow(ctx, client, clientsIn(version), "versions", func(event string, object *unstructured.Unstructured) {
			uri, _, _ := unstructured.NestedString(object.Object, "spec", field)
			verb := "is"
			if event == "deleted" {
				verb = "was"
			}
			if line := fmt.Sprint(verb, " ", uri, " in ", version); line != last {
				last = line
				events <- line
			}
		})
		if err != nil {
			return err
		}
	}
	for _, step := range []struct{ version, path string }{{"v1alpha1", "first"}, {"v1beta1", "second"}, {"v1alpha1", "third"}} {
		applied := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": apiGroup + "/" + step.version,
			"kind":       "Client",
			"metadata":   map[string]any{"name": "versions", "labels": map[string]any{"feature": "versions"}},
			"spec": map[string]any{
				"displayName":              "Versions",
				"redirectURIs":             []any{"https://app.example.test/callback"},
				policyFields[step.version]: "https://app.example.test/" + step.path,
			},
		}}
		options := metav1.ApplyOptions{FieldManager: "test"}
		if _, err = client.Resource(clientsIn(step.version)).Apply(ctx, "versions", applied, options); err != nil {
			return err
		}
		if err = printEvents(ctx, events, len(policyFields)); err != nil {
			return err
		}
	}
	if err = client.Resource(clientsIn("v1beta1")).Delete(ctx, "versions", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return printEvents(ctx, events, len(policyFields))
}
