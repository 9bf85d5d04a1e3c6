// Package v1alpha1 has the kind Fischer, and Flunder as it was before v1beta1.
// +kubebuilder:object:generate=true
// +groupName=wardle.example.com
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and the version of this package.
var GroupVersion = schema.GroupVersion{Group: "wardle.example.com", Version: "v1alpha1"}

// AddToScheme adds the kinds of this package to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Flunder{}, &FlunderList{}, &Fischer{}, &FischerList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// ReferenceType says what a Flunder refers to.
// +kubebuilder:validation:Enum=Flunder;Fischer
type ReferenceType string

// FlunderSpec is the specification of a Flunder.
// +kubebuilder:validation:XValidation:rule="!has(self.referenceType) || self.?reference.orValue('') != ''",message="cannot be empty if referenceType is set",fieldPath=".reference"
type FlunderSpec struct {
	// The name of another Flunder or of a Fischer.
	// +optional
	Reference string `json:"reference,omitempty"`
	// Which of the two it is; Flunder by default.
	// +optional
	ReferenceType *ReferenceType `json:"referenceType,omitempty"`
}

// FlunderStatus is the status of a Flunder.
type FlunderStatus struct{}

// Flunder refers to another one, or to a Fischer.
// +kubebuilder:object:root=true
type Flunder struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   FlunderSpec   `json:"spec,omitempty"`
	Status FlunderStatus `json:"status,omitempty"`
}

// FlunderList is a list of Flunders.
// +kubebuilder:object:root=true
type FlunderList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Flunder `json:"items"`
}

// Fischer disallows names of Flunders.
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster
type Fischer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Names that no new Flunder may have.
	// +optional
	DisallowedFlunders []string `json:"disallowedFlunders,omitempty"`
}

// FischerList is a list of Fischers.
// +kubebuilder:object:root=true
type FischerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Fischer `json:"items"`
}
