package main

import (
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "id.vestibule.org", Version: apiVersion()}

func apiVersion() string {
	if given := os.Getenv("API_VERSION"); given != "" {
		return given
	}
	return "v1beta1"
}

// GroupSpec is what this program uses of a Group's spec.
type GroupSpec struct {
	DisplayName string `json:"displayName"`
}

// Group is the kind Group as a controller's author would declare it.
type Group struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GroupSpec `json:"spec"`
}

// GroupList is a list of Groups.
type GroupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Group `json:"items"`
}

// DeepCopyObject returns a copy.
func (g *Group) DeepCopyObject() runtime.Object {
	copied := *g
	g.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	return &copied
}

// DeepCopyObject returns a copy.
func (l *GroupList) DeepCopyObject() runtime.Object {
	copied := *l
	copied.Items = make([]Group, len(l.Items))
	for i := range l.Items {
		copied.Items[i] = *l.Items[i].DeepCopyObject().(*Group)
	}
	return &copied
}

func newGroup(name, displayName string) *Group {
	return &Group{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: GroupSpec{DisplayName: displayName}}
}

func addMetadata(scheme *runtime.Scheme) {
	metav1.AddToGroupVersion(scheme, groupVersion)
}
