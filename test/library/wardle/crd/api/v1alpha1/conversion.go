package v1alpha1

import (
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"vestibule/test/library/wardle/crd/api/v1beta1"
)

// ConvertTo converts a Flunder to v1beta1.
func (f *Flunder) ConvertTo(hub conversion.Hub) error {
	to := hub.(*v1beta1.Flunder)
	to.ObjectMeta = f.ObjectMeta
	switch {
	case f.Spec.ReferenceType != nil:
		to.Spec.ReferenceType = v1beta1.ReferenceType(*f.Spec.ReferenceType)
	case f.Spec.Reference != "":
		to.Spec.ReferenceType = v1beta1.FlunderReferenceType
	}
	switch to.Spec.ReferenceType {
	case v1beta1.FlunderReferenceType:
		to.Spec.FlunderReference = f.Spec.Reference
	case v1beta1.FischerReferenceType:
		to.Spec.FischerReference = f.Spec.Reference
	}
	return nil
}

// ConvertFrom converts a Flunder from v1beta1.
func (f *Flunder) ConvertFrom(hub conversion.Hub) error {
	from := hub.(*v1beta1.Flunder)
	f.ObjectMeta = from.ObjectMeta
	if from.Spec.ReferenceType != "" {
		referenceType := ReferenceType(from.Spec.ReferenceType)
		f.Spec.ReferenceType = &referenceType
	}
	f.Spec.Reference = from.Spec.FlunderReference + from.Spec.FischerReference
	return nil
}
