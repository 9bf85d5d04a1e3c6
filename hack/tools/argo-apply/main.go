// Command argo-apply keeps the objects of a folder with the engine of Argo CD, as an Application with
// automated sync, prune and self-heal does.
//
//	argo-apply KUBECONFIG FOLDER [HEALTH.lua KIND]
//
// It applies the objects of FOLDER, deletes those that an earlier application has left and that FOLDER no
// longer has, and repeats this when a file or a live object changes. It prints a line for each result, and
// then one for the health of each object. HEALTH.lua is the health check of KIND, as in Argo CD's ConfigMap.
// The program ends with its standard input.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"time"

	"github.com/argoproj/gitops-engine/pkg/cache"
	"github.com/argoproj/gitops-engine/pkg/diff"
	"github.com/argoproj/gitops-engine/pkg/engine"
	"github.com/argoproj/gitops-engine/pkg/health"
	"github.com/argoproj/gitops-engine/pkg/sync"
	"github.com/argoproj/gitops-engine/pkg/utils/kube"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	application        = "vestibule"
	trackingAnnotation = "argocd.argoproj.io/tracking-id"
	interval           = 200 * time.Millisecond
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if err := run(ctx, os.Args[1:]); err != nil {
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
	check := healthCheck{}
	if len(args) > 2 {
		check = healthCheck{script: args[2], kind: args[3]}
	}
	live := cache.NewClusterCache(config,
		cache.SetLogr(logr.Discard()),
		cache.SetPopulateResourceInfoHandler(func(object *unstructured.Unstructured, _ bool) (interface{}, bool) {
			tracked := object.GetAnnotations()[trackingAnnotation] == trackingID(object)
			return tracked, tracked
		}),
	)
	synchronizer := engine.NewEngine(config, live, engine.WithLogr(logr.Discard()))
	stop, err := synchronizer.Run()
	if err != nil {
		return err
	}
	defer stop()
	for first := true; ctx.Err() == nil; first = false {
		if err := reconcile(ctx, synchronizer, live, args[1], check, first); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(interval):
		}
	}
	return nil
}

// reconcile synchronizes the objects of folder if they differ from the live ones, or in any case at first.
func reconcile(
	ctx context.Context,
	synchronizer engine.GitOpsEngine,
	live cache.ClusterCache,
	folder string,
	check healthCheck,
	first bool,
) error {
	targets, err := read(folder)
	if err != nil {
		return err
	}
	differs, err := isOutOfSync(live, targets)
	if err != nil || !differs && !first {
		return err
	}
	options := []sync.SyncOpt{sync.WithPrune(true), sync.WithLogr(logr.Discard())}
	results, err := synchronizer.Sync(ctx, targets, isTracked, "revision", "", options...)
	if err != nil {
		return err
	}
	for _, result := range results {
		fmt.Printf("%s/%s %s: %s\n", result.ResourceKey.Kind, result.ResourceKey.Name, result.Status, result.Message)
	}
	return printHealth(live, targets, check)
}

func isTracked(resource *cache.Resource) bool {
	return resource.Info.(bool)
}

// isOutOfSync reports whether a target differs from its live object, or a live object has no target.
func isOutOfSync(live cache.ClusterCache, targets []*unstructured.Unstructured) (bool, error) {
	managed, err := live.GetManagedLiveObjs(targets, isTracked)
	if err != nil {
		return false, err
	}
	pairs := sync.Reconcile(targets, managed, "", live)
	if slices.Contains(pairs.Target, nil) {
		return true, nil
	}
	result, err := diff.DiffArray(pairs.Target, pairs.Live, diff.WithLogr(logr.Discard()))
	if err != nil {
		return false, err
	}
	return result.Modified, nil
}

// printHealth waits until the live objects show what was applied, then prints their health.
func printHealth(live cache.ClusterCache, targets []*unstructured.Unstructured, check healthCheck) error {
	for differs := true; differs; time.Sleep(interval) {
		var err error
		if differs, err = isOutOfSync(live, targets); err != nil {
			return err
		}
	}
	managed, err := live.GetManagedLiveObjs(targets, isTracked)
	if err != nil {
		return err
	}
	lines := []string{}
	for key, object := range managed {
		status, err := health.GetResourceHealth(object, check)
		if err != nil {
			return err
		}
		if status != nil {
			lines = append(lines, fmt.Sprintf("%s/%s is %s", key.Kind, key.Name, status.Status))
		}
	}
	sort.Strings(lines)
	for _, line := range append(lines, "Synced") {
		fmt.Println(line)
	}
	return nil
}

// trackingID returns what Argo CD writes into the annotation of an object of this application.
func trackingID(object *unstructured.Unstructured) string {
	kind := object.GroupVersionKind()
	return fmt.Sprintf("%s:%s/%s:%s/%s", application, kind.Group, kind.Kind, object.GetNamespace(), object.GetName())
}

// read returns the objects of a folder's YAML files, with the annotation of this application.
func read(folder string) ([]*unstructured.Unstructured, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		objects, err := kube.SplitYAML(content)
		if err != nil {
			return nil, err
		}
		all = append(all, objects...)
	}
	for _, object := range all {
		annotations := object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[trackingAnnotation] = trackingID(object)
		object.SetAnnotations(annotations)
	}
	return all, nil
}
