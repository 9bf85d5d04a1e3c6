package main

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
)

// writeObjects creates, reads, updates and deletes, and sees each refusal as the error that client-go has
// for it.
func writeObjects(ctx context.Context, config *rest.Config) error {
	client, err := groupClient(config)
	if err != nil {
		return err
	}
	created, err := client.Create(ctx, newGroup("objects", "First"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	_, err = client.Create(ctx, newGroup("objects", "Second"), metav1.CreateOptions{})
	fmt.Println("the name is taken:", errors.IsAlreadyExists(err))
	_, err = client.Create(ctx, newGroup("Not a name", "Second"), metav1.CreateOptions{})
	fmt.Println("that name is invalid:", errors.IsInvalid(err))
	changed := created.DeepCopy()
	setDisplayName(changed, "Third")
	if _, err = client.Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return err
	}
	_, err = client.Update(ctx, created, metav1.UpdateOptions{})
	fmt.Println("the version is stale:", errors.IsConflict(err))
	read, err := client.Get(ctx, "objects", metav1.GetOptions{})
	if err != nil {
		return err
	}
	fmt.Println("it is called", displayName(read))
	other := types.UID("00000000-0000-4000-8000-000000000000")
	err = client.Delete(ctx, "objects", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}})
	fmt.Println("another uid is deleted:", err == nil, errors.IsConflict(err))
	uid := read.GetUID()
	if err = client.Delete(ctx, "objects", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}); err != nil {
		return err
	}
	_, err = client.Get(ctx, "objects", metav1.GetOptions{})
	fmt.Println("it is gone:", errors.IsNotFound(err))
	return nil
}

// patchObjects patches by merge patch and JSON patch, and by a strategic merge patch, which is not supported.
func patchObjects(ctx context.Context, config *rest.Config) error {
	client, err := groupClient(config)
	if err != nil {
		return err
	}
	if _, err = client.Create(ctx, newGroup("patches", "First"), metav1.CreateOptions{}); err != nil {
		return err
	}
	merged := []byte(`{"spec":{"displayName":"Merged"}}`)
	group, err := client.Patch(ctx, "patches", types.MergePatchType, merged, metav1.PatchOptions{})
	if err != nil {
		return err
	}
	fmt.Println("after a merge patch:", displayName(group))
	operations := []byte(`[{"op":"test","path":"/spec/displayName","value":"Merged"},` +
		`{"op":"replace","path":"/spec/displayName","value":"Replaced"}]`)
	if group, err = client.Patch(ctx, "patches", types.JSONPatchType, operations, metav1.PatchOptions{}); err != nil {
		return err
	}
	fmt.Println("after a JSON patch:", displayName(group))
	_, err = client.Patch(ctx, "patches", types.JSONPatchType, operations, metav1.PatchOptions{})
	fmt.Println("a test that fails is invalid:", errors.IsInvalid(err))
	_, err = client.Patch(ctx, "patches", types.StrategicMergePatchType, merged, metav1.PatchOptions{})
	fmt.Println("a strategic merge patch is unsupported:", errors.IsUnsupportedMediaType(err))
	return client.Delete(ctx, "patches", metav1.DeleteOptions{})
}

// apply applies as two managers, of whom the second takes over a field.
func apply(ctx context.Context, config *rest.Config) error {
	client, err := groupClient(config)
	if err != nil {
		return err
	}
	first := metav1.ApplyOptions{FieldManager: "first"}
	if _, err = client.Apply(ctx, "apply", newGroup("apply", "First"), first); err != nil {
		return err
	}
	second := metav1.ApplyOptions{FieldManager: "second"}
	_, err = client.Apply(ctx, "apply", newGroup("apply", "Second"), second)
	fmt.Println("a conflict:", errors.IsConflict(err))
	if status, ok := err.(errors.APIStatus); ok {
		for _, cause := range status.Status().Details.Causes {
			fmt.Println(cause.Type, cause.Field)
		}
	}
	second.Force = true
	group, err := client.Apply(ctx, "apply", newGroup("apply", "Second"), second)
	if err != nil {
		return err
	}
	fmt.Println("by force:", displayName(group))
	for _, entry := range group.GetManagedFields() {
		fmt.Println("managed by", entry.Manager, entry.Operation)
	}
	return client.Delete(ctx, "apply", metav1.DeleteOptions{})
}

// retryConflicts has eight writers of one object, each of which repeats a write that conflicts.
func retryConflicts(ctx context.Context, config *rest.Config) error {
	client, err := groupClient(config)
	if err != nil {
		return err
	}
	if _, err = client.Create(ctx, newGroup("retry", "Retry"), metav1.CreateOptions{}); err != nil {
		return err
	}
	var writers sync.WaitGroup
	failures := make(chan error, 8)
	for writer := 0; writer < 8; writer++ {
		writers.Add(1)
		go func(label string) {
			defer writers.Done()
			many := retry.DefaultBackoff
			many.Steps = 100
			failures <- retry.RetryOnConflict(many, func() error {
				group, err := client.Get(ctx, "retry", metav1.GetOptions{})
				if err != nil {
					return err
				}
				labels := group.GetLabels()
				if labels == nil {
					labels = map[string]string{}
				}
				labels[label] = "yes"
				group.SetLabels(labels)
				_, err = client.Update(ctx, group, metav1.UpdateOptions{})
				return err
			})
		}(fmt.Sprintf("writer-%d", writer))
	}
	writers.Wait()
	close(failures)
	for err := range failures {
		if err != nil {
			return err
		}
	}
	group, err := client.Get(ctx, "retry", metav1.GetOptions{})
	if err != nil {
		return err
	}
	fmt.Println("labels:", len(group.GetLabels()))
	return client.Delete(ctx, "retry", metav1.DeleteOptions{})
}
