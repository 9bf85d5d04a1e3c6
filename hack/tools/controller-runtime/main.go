// Command controller-runtime uses the API with one feature of controller-runtime.
//
//	controller-runtime KUBECONFIG FEATURE
//
// It prints what it saw, one fact a line, and exits with 1 if a call failed that should not have. The feature
// operator goes on until a signal, and logs on standard error. The others use the API version of $API_VERSION,
// v1beta1 without it.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const timeout = 60 * time.Second

var features = map[string]func(context.Context, manager.Manager) error{
	"reconcile":        reconcileGroups,
	"index":            findByIndex,
	"create-or-update": createOrUpdate,
	"patch":            patchStale,
	"operator":         operate,
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 || features[args[1]] == nil {
		return fmt.Errorf("usage: controller-runtime KUBECONFIG FEATURE")
	}
	config, err := clientcmd.BuildConfigFromFlags("", args[0])
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 100, 100
	log.SetLogger(funcr.New(func(prefix, args string) { fmt.Fprintln(os.Stderr, prefix, args) }, funcr.Options{}))
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(groupVersion, &Group{}, &GroupList{})
	addMetadata(scheme)
	addPonds(scheme)
	m, err := manager.New(config, manager.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return features[args[1]](ctx, m)
}

// start starts the manager and returns once its cache is synchronized.
func start(ctx context.Context, m manager.Manager) error {
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	synchronized := make(chan bool, 1)
	go func() { synchronized <- m.GetCache().WaitForCacheSync(ctx) }()
	select {
	case err := <-ended:
		return fmt.Errorf("the manager ended: %w", err)
	case ok := <-synchronized:
		if !ok {
			return fmt.Errorf("the cache did not synchronize")
		}
		return nil
	}
}

// settles repeats a check until it holds.
func settles(ctx context.Context, check func() (bool, error)) error {
	for {
		holds, err := check()
		if err != nil || holds {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// createMany creates Groups with the label of a feature.
func createMany(ctx context.Context, c client.Client, feature string, count int) error {
	for i := 0; i < count; i++ {
		group := newGroup(fmt.Sprintf("%s-%d", feature, i), "Many")
		group.Labels = map[string]string{"feature": feature}
		if err := c.Create(ctx, group); err != nil {
			return err
		}
	}
	return nil
}
