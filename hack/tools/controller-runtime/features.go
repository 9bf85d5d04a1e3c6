package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const annotation = "test.example/reconciled"

// reconciler writes the display name of a Group to an annotation.
type reconciler struct{ client client.Client }

func (r reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	group := &Group{}
	if err := r.client.Get(ctx, request.NamespacedName, group); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if group.Annotations[annotation] == group.Spec.DisplayName {
		return reconcile.Result{}, nil
	}
	former := group.DeepCopyObject().(*Group)
	if group.Annotations == nil {
		group.Annotations = map[string]string{}
	}
	group.Annotations[annotation] = group.Spec.DisplayName
	return reconcile.Result{}, r.client.Patch(ctx, group, client.MergeFrom(former))
}

// reconcileGroups has a controller reconcile Groups that were there, that are created and that change.
func reconcileGroups(ctx context.Context, m manager.Manager) error {
	direct, err := client.New(m.GetConfig(), client.Options{Scheme: m.GetScheme()})
	if err != nil {
		return err
	}
	if err = createMany(ctx, direct, "reconcile", 3); err != nil {
		return err
	}
	selected, err := predicate.LabelSelectorPredicate(metav1.LabelSelector{MatchLabels: map[string]string{"feature": "reconcile"}})
	if err != nil {
		return err
	}
	err = builder.ControllerManagedBy(m).Named("groups").For(&Group{}, builder.WithPredicates(selected)).Complete(reconciler{m.GetClient()})
	if err != nil {
		return err
	}
	if err = start(ctx, m); err != nil {
		return err
	}
	reconciled := func(text string, count int) error {
		err := settles(ctx, func() (bool, error) {
			groups := &GroupList{}
			err := m.GetClient().List(ctx, groups, client.MatchingLabels{"feature": "reconcile"})
			found := 0
			for _, group := range groups.Items {
				if group.Annotations[annotation] == text {
					found++
				}
			}
			return found == count, err
		})
		fmt.Println("reconciled", count, "as", text)
		return err
	}
	if err = reconciled("Many", 3); err != nil {
		return err
	}
	late := newGroup("reconcile-late", "Late")
	late.Labels = map[string]string{"feature": "reconcile"}
	if err = direct.Create(ctx, late); err != nil {
		return err
	}
	if err = reconciled("Late", 1); err != nil {
		return err
	}
	former := late.DeepCopyObject().(*Group)
	late.Spec.DisplayName = "Changed"
	if err = direct.Patch(ctx, late, client.MergeFrom(former)); err != nil {
		return err
	}
	return reconciled("Changed", 1)
}

// findByIndex finds Groups in the cache by an index of their display name.
func findByIndex(ctx context.Context, m manager.Manager) error {
	err := m.GetFieldIndexer().IndexField(ctx, &Group{}, "spec.displayName", func(object client.Object) []string {
		return []string{object.(*Group).Spec.DisplayName}
	})
	if err != nil {
		return err
	}
	if err = start(ctx, m); err != nil {
		return err
	}
	if err = m.GetClient().Create(ctx, newGroup("index", "Indexed")); err != nil {
		return err
	}
	groups := &GroupList{}
	err = settles(ctx, func() (bool, error) {
		err := m.GetClient().List(ctx, groups, client.MatchingFields{"spec.displayName": "Indexed"})
		return len(groups.Items) == 1, err
	})
	if err != nil {
		return err
	}
	fmt.Println("found", groups.Items[0].Name)
	return nil
}

// createOrUpdate creates a Group, leaves it as it is, and changes it.
func createOrUpdate(ctx context.Context, m manager.Manager) error {
	direct, err := client.New(m.GetConfig(), client.Options{Scheme: m.GetScheme()})
	if err != nil {
		return err
	}
	for _, text := range []string{"First", "First", "Second"} {
		group := newGroup("create-or-update", "")
		result, err := controllerutil.CreateOrUpdate(ctx, direct, group, func() error {
			group.Spec.DisplayName = text
			return nil
		})
		if err != nil {
			return err
		}
		fmt.Println(text, result)
	}
	return nil
}

// patchStale patches with the resource version of an object that changed meanwhile.
func patchStale(ctx context.Context, m manager.Manager) error {
	direct, err := client.New(m.GetConfig(), client.Options{Scheme: m.GetScheme()})
	if err != nil {
		return err
	}
	group := newGroup("patch", "First")
	if err = direct.Create(ctx, group); err != nil {
		return err
	}
	stale := group.DeepCopyObject().(*Group)
	group.Spec.DisplayName = "Second"
	if err = direct.Update(ctx, group); err != nil {
		return err
	}
	change := stale.DeepCopyObject().(*Group)
	change.Spec.DisplayName = "Third"
	err = direct.Patch(ctx, change, client.MergeFromWithOptions(stale, client.MergeFromWithOptimisticLock{}))
	fmt.Println("a conflict:", errors.IsConflict(err))
	return nil
}
