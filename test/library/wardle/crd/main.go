// The webhooks of the kinds Flunder and Fischer as CustomResourceDefinitions.
//
//	crd DIRECTORY PORT PROBES
//
// DIRECTORY has tls.crt and tls.key, PORT is that of the webhooks, and PROBES that of /readyz. KUBECONFIG names the
// server.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"vestibule/test/library/wardle/crd/api/v1alpha1"
	"vestibule/test/library/wardle/crd/api/v1beta1"
)

// +kubebuilder:webhook:path=/validate-wardle-example-com-v1beta1-flunder,mutating=false,failurePolicy=fail,sideEffects=None,groups=wardle.example.com,resources=flunders,verbs=create,versions=v1beta1,name=flunders.wardle.example.com,admissionReviewVersions=v1

// ban refuses Flunders whose names a Fischer disallows.
type ban struct{ client client.Reader }

func (b ban) ValidateCreate(ctx context.Context, flunder *v1beta1.Flunder) (admission.Warnings, error) {
	fischers := &v1alpha1.FischerList{}
	if err := b.client.List(ctx, fischers); err != nil {
		return nil, err
	}
	for _, fischer := range fischers.Items {
		if slices.Contains(fischer.DisallowedFlunders, flunder.Name) {
			flunders := schema.GroupResource{Group: v1beta1.GroupVersion.Group, Resource: "flunders"}
			return nil, apierrors.NewForbidden(flunders, flunder.Name, errors.New("this name may not be used"))
		}
	}
	return nil, nil
}

func (ban) ValidateUpdate(context.Context, *v1beta1.Flunder, *v1beta1.Flunder) (admission.Warnings, error) {
	return nil, nil
}

func (ban) ValidateDelete(context.Context, *v1beta1.Flunder) (admission.Warnings, error) {
	return nil, nil
}

func run(directory string, port int, probes string) error {
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(v1alpha1.AddToScheme, v1beta1.AddToScheme)
	if err := builder.AddToScheme(scheme); err != nil {
		return err
	}
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "127.0.0.1:" + probes,
		WebhookServer:          webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: directory}),
	})
	if err != nil {
		return err
	}
	flunders := ctrl.NewWebhookManagedBy(manager, &v1beta1.Flunder{}).WithValidator(ban{manager.GetClient()})
	if err := flunders.Complete(); err != nil {
		return err
	}
	if err := manager.AddReadyzCheck("webhooks", manager.GetWebhookServer().StartedChecker()); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func main() {
	port, err := strconv.Atoi(os.Args[2])
	if err == nil {
		err = run(os.Args[1], port, os.Args[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
