package main

import (
	"context"
	"fmt"
	"sort"

	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// discover finds the kinds, their documents and the version.
func discover(_ context.Context, config *rest.Config) error {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		return err
	}
	versions := []string{}
	for _, list := range lists {
		versions = append(versions, list.GroupVersion)
	}
	sort.Strings(versions)
	fmt.Println("resources of", versions)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: apiGroup, Kind: "Group"})
	if err != nil {
		return err
	}
	fmt.Println("Group is", mapping.Resource.Resource, "in scope", mapping.Scope.Name())
	paths, err := client.OpenAPIV3().Paths()
	if err != nil {
		return err
	}
	if _, err := paths["apis/"+apiGroup+"/"+version].Schema("application/json"); err != nil {
		return err
	}
	fmt.Println("it has an OpenAPI document")
	server, err := client.ServerVersion()
	if err != nil {
		return err
	}
	fmt.Println("it has a version:", server.GitVersion != "")
	return nil
}

// review asks who the caller is and what the caller may do.
func review(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	self, err := client.AuthenticationV1().SelfSubjectReviews().
		Create(ctx, &authentication.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	fmt.Println("a name:", self.Status.UserInfo.Username != "")
	access := &authorization.SelfSubjectAccessReview{Spec: authorization.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorization.ResourceAttributes{Group: apiGroup, Resource: "groups", Verb: "create"},
	}}
	access, err = client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, access, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	fmt.Println("may create groups:", access.Status.Allowed)
	rules, err := client.AuthorizationV1().SelfSubjectRulesReviews().
		Create(ctx, &authorization.SelfSubjectRulesReview{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	fmt.Println("has rules:", len(rules.Status.ResourceRules) > 0)
	return nil
}
