package main

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var pondVersion = schema.GroupVersion{Group: "wardle.example.com", Version: "v1"}

// PondSpec is what is wanted of a Pond.
type PondSpec struct {
	Fischers []string `json:"fischers,omitempty"`
}

// PondStatus is what is the case at a Pond.
type PondStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Fischers           int                `json:"fischers,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// Pond is a kind that this program owns.
type Pond struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              PondSpec   `json:"spec,omitempty"`
	Status            PondStatus `json:"status,omitempty"`
}

// PondList is a list of Ponds.
type PondList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Pond `json:"items"`
}

// FischerSpec says where a Fischer fishes.
type FischerSpec struct {
	Pond string `json:"pond"`
}

// Fischer is what Ponds own.
type Fischer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              FischerSpec `json:"spec"`
}

// FischerList is a list of Fischers.
type FischerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Fischer `json:"items"`
}

// DeepCopyObject returns a copy.
func (p *Pond) DeepCopyObject() runtime.Object {
	copied := *p
	p.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	copied.Spec.Fischers = slices.Clone(p.Spec.Fischers)
	copied.Status.Conditions = slices.Clone(p.Status.Conditions)
	return &copied
}

// DeepCopyObject returns a copy.
func (l *PondList) DeepCopyObject() runtime.Object {
	copied := *l
	copied.Items = make([]Pond, len(l.Items))
	for i := range l.Items {
		copied.Items[i] = *l.Items[i].DeepCopyObject().(*Pond)
	}
	return &copied
}

// DeepCopyObject returns a copy.
func (f *Fischer) DeepCopyObject() runtime.Object {
	copied := *f
	f.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	return &copied
}

// DeepCopyObject returns a copy.
func (l *FischerList) DeepCopyObject() runtime.Object {
	copied := *l
	copied.Items = make([]Fischer, len(l.Items))
	for i := range l.Items {
		copied.Items[i] = *l.Items[i].DeepCopyObject().(*Fischer)
	}
	return &copied
}

func addPonds(scheme *runtime.Scheme) {
	scheme.AddKnownTypes(pondVersion, &Pond{}, &PondList{}, &Fischer{}, &FischerList{})
	metav1.AddToGroupVersion(scheme, pondVersion)
}
