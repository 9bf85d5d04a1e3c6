package main

import (
	"context"
	"fmt"
	"sort"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	watchtools "k8s.io/client-go/tools/watch"
)

// labelled returns a Group with a label by which a feature selects its own.
func labelled(name, displayName, feature string) *unstructured.Unstructured {
	group := newGroup(name, displayName)
	group.SetLabels(map[string]string{"feature": feature})
	return group
}

// createMany creates Groups with the label of a feature.
func createMany(ctx context.Context, client dynamic.ResourceInterface, feature string, count int) error {
	for i := 0; i < count; i++ {
		group := labelled(fmt.Sprintf("%s-%d", feature, i), "Many", feature)
		if _, err := client.Create(ctx, group, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// deleteMany deletes the Groups with the label of a feature.
func deleteMany(ctx context.Context, client dynamic.ResourceInterface, feature string) error {
	list, err := client.List(ctx, metav1.ListOptions{LabelSelector: "feature=" + feature})
	if err != nil {
		return err
	}
	for _, group := range list.Items {
		if err = client.Delete(ctx, group.GetName(), metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// readPages reads a collection by pages of one revision.
func readPages(ctx context.Context, config *rest.Config) error {
	client, err := groupClient(config)
	if err != nil {
		return err
	}
	if err = createMany(ctx, client, "pages", 25); err != nil {
		return err
	}
	pages := 0
	reader := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		pages++
		return client.List(ctx, options)
	})
	reader.PageSize = 10
	names := map[string]bool{}
	options := metav1.ListOptions{LabelSelector: "feature=pages"}
	err = reader.EachListItem(ctx, options, func(object runtime.Object) error {
		names[object.(*unstructured.Unstructured).GetName()] = true
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Println(len(names), "objects in", pages, "pages")
	return deleteMany(ctx, client, "pages")
}

// readMetadata reads metadata only.
func readMetadata(ctx context.Context, config *rest.Config) error {
	client, err := groupClient(config)
	if err != nil {
		return err
	}
	if err = createMany(ctx, client, "metadata", 3); err != nil {
		return err
	}
	reader, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	list, err := reader.Resource(groups).List(ctx, metav1.ListOptions{LabelSelector: "feature=metadata"})
	if err != nil {
		return err
	}
	for _, object := range list.Items {
		fmt.Println(object.Kind, object.Name)
	}
	return deleteMany(ctx, client, "metadata")
}

// inform follows the Groups with a label through an informer and its cache.
func inform(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	own := client.Resource(groups)
	if err = createMany(ctx, own, "informer", 2); err != nil {
		return err
	}
	events := make(chan string, 100)
	err = follow(ctx, client, groups, "informer", func(event string, group *unstructured.Unstructured) {
		events <- fmt.Sprint(event, " ", group.GetName(), " ", displayName(group))
	})
	if err != nil {
		return err
	}
	if err = printEvents(ctx, events, 2); err != nil {
		return err
	}
	if _, err = own.Create(ctx, labelled("informer-late", "Late", "informer"), metav1.CreateOptions{}); err != nil {
		return err
	}
	late := labelled("informer-late", "Changed", "informer")
	if _, err = own.Apply(ctx, "informer-late", late, metav1.ApplyOptions{FieldManager: "test", Force: true}); err != nil {
		return err
	}
	if err = deleteMany(ctx, own, "informer"); err != nil {
		return err
	}
	if err = printEvents(ctx, events, 2); err != nil {
		return err
	}
	return printEvents(ctx, events, 3)
}

// follow has an informer tell of each change to the objects with the label of a feature, once it knows those that exist.
func follow(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource, feature string, tell func(string, *unstructured.Unstructured)) error {
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, "",
		func(options *metav1.ListOptions) { options.LabelSelector = "feature=" + feature })
	informer := factory.ForResource(resource).Informer()
	of := func(object any) *unstructured.Unstructured {
		if ended, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = ended.Obj
		}
		return object.(*unstructured.Unstructured)
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { tell("added", of(object)) },
		UpdateFunc: func(_, object any) { tell("updated", of(object)) },
		DeleteFunc: func(object any) { tell("deleted", of(object)) },
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("the informer of %s did not synchronize", resource)
	}
	return nil
}

// printEvents prints the next events, sorted: those of several objects come in any order.
func printEvents(ctx context.Context, events <-chan string, count int) error {
	seen := []string{}
	for len(seen) < count {
		select {
		case event := <-events:
			seen = append(seen, event)
		case <-ctx.Done():
			return fmt.Errorf("%d of %d events came", len(seen), count)
		}
	}
	sort.Strings(seen)
	for _, event := range seen {
		fmt.Println(event)
	}
	return nil
}

// watchOn follows one Group by a watch that connects again after its end, from where it was.
func watchOn(ctx context.Context, config *rest.Config) error {
	client, err := groupClient(config)
	if err != nil {
		return err
	}
	created, err := client.Create(ctx, newGroup("watch", "First"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	connections := make(chan bool, 100)
	watcher, err := watchtools.NewRetryWatcher(created.GetResourceVersion(), &cache.ListWatch{
		WatchFunc: func(options metav1.ListOptions) (watch.Interface, error) {
			connections <- true
			second := int64(1)
			options.FieldSelector, options.TimeoutSeconds = "metadata.name=watch", &second
			return client.Watch(ctx, options)
		},
	})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for _, text := range []string{"Second", "Third"} {
		<-connections
		update := newGroup("watch", text)
		if _, err = client.Apply(ctx, "watch", update, metav1.ApplyOptions{FieldManager: "test", Force: true}); err != nil {
			return err
		}
		for seen := false; !seen; {
			select {
			case event := <-watcher.ResultChan():
				group, ok := event.Object.(*unstructured.Unstructured)
				if seen = ok && displayName(group) == text; seen {
					fmt.Println(event.Type, text)
				}
			case <-ctx.Done():
				return fmt.Errorf("no event came for %s", text)
			}
		}
	}
	return client.Delete(ctx, "watch", metav1.DeleteOptions{})
}
