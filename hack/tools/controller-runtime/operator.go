package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/manager/signals"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const finalizer = "wardle.example.com/ponds"

// pondReconciler makes a Fischer for each name of a Pond's spec, owned by the Pond, and a warden that no one owns,
// which goes when the Pond does.
type pondReconciler struct{ client client.Client }

// operate owns the kind Pond until the process gets a signal.
func operate(_ context.Context, m manager.Manager) error {
	err := builder.ControllerManagedBy(m).For(&Pond{}).Owns(&Fischer{}).Complete(pondReconciler{m.GetClient()})
	if err != nil {
		return err
	}
	return m.Start(signals.SetupSignalHandler())
}

func (r pondReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	pond := &Pond{}
	if err := r.client.Get(ctx, request.NamespacedName, pond); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !pond.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, r.cleanUp(ctx, pond)
	}
	if controllerutil.AddFinalizer(pond, finalizer) {
		if err := r.client.Update(ctx, pond); err != nil {
			return reconcile.Result{}, err
		}
	}
	if err := r.makeFischers(ctx, pond); err != nil {
		return reconcile.Result{}, err
	}
	pond.Status.ObservedGeneration = pond.Generation
	pond.Status.Fischers = len(pond.Spec.Fischers)
	meta.SetStatusCondition(&pond.Status.Conditions, metav1.Condition{
		Type:               "Ready",
		Status:             metav1.ConditionTrue,
		Reason:             "Fished",
		Message:            fmt.Sprintf("%d fish here", len(pond.Spec.Fischers)),
		ObservedGeneration: pond.Generation,
	})
	return reconcile.Result{}, r.client.Status().Update(ctx, pond)
}

// makeFischers makes what a Pond lacks and deletes what it has too many.
func (r pondReconciler) makeFischers(ctx context.Context, pond *Pond) error {
	warden := wardenOf(pond)
	_, err := controllerutil.CreateOrUpdate(ctx, r.client, warden, func() error {
		warden.Spec.Pond = pond.Name
		return nil
	})
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, name := range pond.Spec.Fischers {
		fischer := &Fischer{ObjectMeta: metav1.ObjectMeta{Name: pond.Name + "-" + name}}
		wanted[fischer.Name] = true
		_, err := controllerutil.CreateOrUpdate(ctx, r.client, fischer, func() error {
			fischer.Spec.Pond = pond.Name
			return controllerutil.SetControllerReference(pond, fischer, r.client.Scheme())
		})
		if err != nil {
			return err
		}
	}
	existing := &FischerList{}
	if err := r.client.List(ctx, existing); err != nil {
		return err
	}
	for i := range existing.Items {
		fischer := &existing.Items[i]
		if metav1.IsControlledBy(fischer, pond) && !wanted[fischer.Name] {
			if err := client.IgnoreNotFound(r.client.Delete(ctx, fischer)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r pondReconciler) cleanUp(ctx context.Context, pond *Pond) error {
	if !controllerutil.ContainsFinalizer(pond, finalizer) {
		return nil
	}
	if err := client.IgnoreNotFound(r.client.Delete(ctx, wardenOf(pond))); err != nil {
		return err
	}
	controllerutil.RemoveFinalizer(pond, finalizer)
	return client.IgnoreNotFound(r.client.Update(ctx, pond))
}

func wardenOf(pond *Pond) *Fischer {
	return &Fischer{ObjectMeta: metav1.ObjectMeta{Name: pond.Name + "-warden"}}
}
