package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
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
	for version := range policyFields {
		if err = followClients(ctx, client, version, events); err != nil {
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

// followClients sends the address of the privacy policy of each Client, whenever it changes, in one version.
func followClients(ctx context.Context, client dynamic.Interface, version string, events chan<- string) error {
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, "",
		func(options *metav1.ListOptions) { options.LabelSelector = "feature=versions" })
	informer := factory.ForResource(clientsIn(version)).Informer()
	last := ""
	tell := func(event string, object any) {
		if ended, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = ended.Obj
		}
		uri, _, _ := unstructured.NestedString(object.(*unstructured.Unstructured).Object, "spec", policyFields[version])
		if line := fmt.Sprint(event, " ", uri, " in ", version); line != last {
			last = line
			events <- line
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { tell("is", object) },
		UpdateFunc: func(_, object any) { tell("is", object) },
		DeleteFunc: func(object any) { tell("was", object) },
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("the informer in %s did not synchronize", version)
	}
	return nil
}
