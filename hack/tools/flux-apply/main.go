// Command flux-apply applies and prunes a file of objects with the library of Flux's
// kustomize-controller.
//
//	flux-apply KUBECONFIG FILE [FORMER_FILE]
//
// It applies the objects of FILE, waits until all of them are ready, and deletes those of FORMER_FILE
// that FILE no longer has. It prints one line for each object.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/pkg/ssa"
	ssautil "github.com/fluxcd/pkg/ssa/utils"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	config, err := clientcmd.BuildConfigFromFlags("", args[0])
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 100, 100
	manager, err := newManager(config)
	if err != nil {
		return err
	}
	objects, err := read(args[1])
	if err != nil {
		return err
	}
	manager.SetOwnerLabels(objects, "vestibule", "flux-system")
	changes, err := manager.ApplyAllStaged(ctx, objects, ssa.DefaultApplyOptions())
	if err != nil {
		return err
	}
	for _, entry := range changes.Entries {
		fmt.Println(entry.Subject, entry.Action)
	}
	if err := manager.Wait(objects, ssa.WaitOptions{Interval: 100 * time.Millisecond, Timeout: 10 * time.Second}); err != nil {
		return err
	}
	fmt.Println("ready")
	if len(args) < 3 {
		return nil
	}
	former, err := read(args[2])
	if err != nil {
		return err
	}
	deleted, err := manager.DeleteAll(ctx, without(former, objects), ssa.DefaultDeleteOptions())
	if err != nil {
		return err
	}
	for _, entry := range deleted.Entries {
		fmt.Println(entry.Subject, entry.Action)
	}
	return nil
}

func newManager(config *rest.Config) (*ssa.ResourceManager, error) {
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	if err != nil {
		return nil, err
	}
	kubeClient, err := client.New(config, client.Options{HTTPClient: httpClient, Mapper: mapper})
	if err != nil {
		return nil, err
	}
	poller := polling.NewStatusPoller(kubeClient, mapper, polling.Options{})
	return ssa.NewResourceManager(kubeClient, poller, ssa.Owner{
		Field: "kustomize-controller",
		Group: "kustomize.toolkit.fluxcd.io",
	}), nil
}

func read(file string) ([]*unstructured.Unstructured, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return ssautil.ReadObjects(bytes.NewReader(content))
}

// without returns the objects of former that current does not have.
func without(former, current []*unstructured.Unstructured) []*unstructured.Unstructured {
	declared := map[string]bool{}
	for _, object := range current {
		declared[object.GetKind()+"/"+object.GetName()] = true
	}
	var left []*unstructured.Unstructured
	for _, object := range former {
		if !declared[object.GetKind()+"/"+object.GetName()] {
			left = append(left, object)
		}
	}
	return left
}
