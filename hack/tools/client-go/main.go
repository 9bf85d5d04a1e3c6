// Command client-go uses the API with one feature of client-go.
//
//	client-go KUBECONFIG FEATURE
//
// It prints what it saw, one fact a line, and exits with 1 if a call failed that should not have. It uses
// the API version of $API_VERSION, v1beta1 without it.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	apiGroup = "id.vestibule.org"
	timeout  = 60 * time.Second
)

var version = apiVersion()

func apiVersion() string {
	if given := os.Getenv("API_VERSION"); given != "" {
		return given
	}
	return "v1beta1"
}

var groups = schema.GroupVersionResource{Group: apiGroup, Version: version, Resource: "groups"}

var features = map[string]func(context.Context, *rest.Config) error{
	"discovery": discover,
	"objects":   writeObjects,
	"patches":   patchObjects,
	"apply":     apply,
	"pages":     readPages,
	"metadata":  readMetadata,
	"informer":  inform,
	"retry":     retryConflicts,
	"watch":     watchOn,
	"reviews":   review,
	"versions":  followVersions,
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 || features[args[1]] == nil {
		return fmt.Errorf("usage: client-go KUBECONFIG FEATURE")
	}
	config, err := clientcmd.BuildConfigFromFlags("", args[0])
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 100, 100
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return features[args[1]](ctx, config)
}

// groupClient returns the client of Groups.
func groupClient(config *rest.Config) (dynamic.ResourceInterface, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return client.Resource(groups), nil
}

// newGroup returns a Group as it is created or applied.
func newGroup(name, displayName string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiGroup + "/" + version,
		"kind":       "Group",
		"metadata":   map[string]any{"name": name},
		"spec":       map[string]any{"displayName": displayName},
	}}
}

func displayName(group *unstructured.Unstructured) string {
	text, _, _ := unstructured.NestedString(group.Object, "spec", "displayName")
	return text
}

func setDisplayName(group *unstructured.Unstructured, text string) {
	_ = unstructured.SetNestedField(group.Object, text, "spec", "displayName")
}
