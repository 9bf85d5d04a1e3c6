// Package v1beta1 has the kind Flunder as it is stored.
// +kubebuilder:object:generate=true
// +groupName=wardle.example.com
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and the version of this package.
var GroupVersion = schema.GroupVersion{Group: "wardle.example.com", Version: "v1beta1"}

// AddToScheme adds the kinds of this package to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Flunder{}, &FlunderList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// ReferenceType says what a Flunder refers to.
// +kubebuilder:validation:Enum=Flunder;Fischer
type ReferenceType string

// What a Flunder may refer to.
const (
	FlunderReferenceType = ReferenceType("Flunder")
	FischerReferenceType = ReferenceType("Fischer")
)

// FlunderSpec is the specification of a Flunder.
// +kubebuilder:validation:XValidation:rule="self.?flunderReference.orValue('') == '' || self.?fischerReference.orValue('') == ''",message="cannot be set with flunderReference at the same time",fieldPath=".fischerReference"
// +kubebuilder:validation:XValidation:rule="self.?flunderReference.orValue('') == '' || self.?referenceType.orValue('') == 'Flunder'",message="cannot be set if referenceType is not Flunder",fieldPath=".flunderReference"
// +kubebuilder:validation:XValidation:rule="self.?fischerReference.orValue('') == '' || self.?referenceType.orValue('') == 'Fischer'",message="cannot be set if referenceType is not Fischer",fieldPath=".fischerReference"
// +kubebuilder:validation:XValidation:rule="self.?referenceType.orValue('') != 'Fischer' || self.?fischerReference.orValue('') != ''",message="cannot be empty if referenceType is Fischer",fieldPath=".fischerReference"
// +kubebuilder:validation:XValidation:rule="self.?referenceType.orValue('') != 'Flunder' || self.?flunderReference.orValue('') != ''",message="cannot be empty if referenceType is Flunder",fieldPath=".flunderReference"
type FlunderSpec struct {
	// The name of another Flunder.
	// +optional
	FlunderReference string `json:"flunderReference,omitempty"`
	// The name of a Fischer.
	// +optional
	FischerReference string `json:"fischerReference,omitempty"`
	// Which of the two it is.
	// +optional
	ReferenceType ReferenceType `json:"referenceType,omitempty"`
}

// FlunderStatus is the status of a Flunder.
type FlunderStatus struct{}

// Flunder refers to another one, or to a Fischer.
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
type Flunder struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   FlunderSpec   `json:"spec,omitempty"`
	Status FlunderStatus `json:"status,omitempty"`
}

// Hub marks the version to which others are converted.
func (*Flunder) Hub() {}

// FlunderList is a list of Flunders.
// +kubebuilder:object:root=true
type FlunderList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Flunder `json:"items"`
}
