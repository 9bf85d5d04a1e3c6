package main

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"
)

// provider is a provider that was configured.
type provider struct {
	server tfprotov5.ProviderServer
	schema *tfprotov5.GetProviderSchemaResponse
}

func configure(ctx context.Context, server tfprotov5.ProviderServer, configuration *configuration) (*provider, error) {
	schema, err := server.GetProviderSchema(ctx, &tfprotov5.GetProviderSchemaRequest{})
	if err != nil {
		return nil, err
	}
	value, err := dynamicValue(schema.Provider, configuration.provider)
	if err != nil {
		return nil, err
	}
	prepared, err := server.PrepareProviderConfig(ctx, &tfprotov5.PrepareProviderConfigRequest{Config: value})
	if err := firstError(err, prepared.Diagnostics); err != nil {
		return nil, err
	}
	configured, err := server.ConfigureProvider(ctx, &tfprotov5.ConfigureProviderRequest{
		TerraformVersion: "1.5.7",
		Config:           prepared.PreparedConfig,
	})
	if err := firstError(err, configured.Diagnostics); err != nil {
		return nil, err
	}
	return &provider{server: server, schema: schema}, nil
}

// reconcile reads a resource and plans it, and with apply applies the plan. It returns what is to be done, or
// was done, and the resource's new state, which is nil if there is none.
func (provider *provider) reconcile(
	ctx context.Context,
	address string,
	wanted resource,
	known *instance,
	apply bool,
) (string, *instance, error) {
	kind := wanted.kind
	if known != nil {
		kind = known.Kind
	}
	schema, exists := provider.schema.ResourceSchemas[kind]
	if !exists {
		return "", nil, fmt.Errorf("the provider has no resource %s", kind)
	}
	absent, err := dynamicValue(schema, nil)
	if err != nil {
		return "", nil, err
	}
	config := absent
	if wanted.kind != "" {
		if config, err = dynamicValue(schema, wanted.attributes); err != nil {
			return "", nil, err
		}
	}
	prior, private := absent, []byte(nil)
	if known != nil {
		read, err := provider.server.ReadResource(ctx, &tfprotov5.ReadResourceRequest{
			TypeName:     kind,
			CurrentState: &tfprotov5.DynamicValue{MsgPack: known.Value},
			Private:      known.Private,
		})
		if err := firstError(err, read.Diagnostics); err != nil {
			return "", nil, err
		}
		prior, private = read.NewState, read.Private
	}
	action, planned, plannedPrivate, err := provider.plan(ctx, kind, prior, config, private)
	if err != nil || !apply || action == "unchanged" {
		return action, &instance{Kind: kind, Value: prior.MsgPack, Private: private}, err
	}
	if action == "absent" {
		return action, nil, nil
	}
	applied, err := provider.server.ApplyResourceChange(ctx, &tfprotov5.ApplyResourceChangeRequest{
		TypeName:       kind,
		PriorState:     prior,
		PlannedState:   planned,
		Config:         config,
		PlannedPrivate: plannedPrivate,
	})
	if err := firstError(err, applied.Diagnostics); err != nil {
		return "", nil, err
	}
	if action == "delete" {
		return action, nil, nil
	}
	return action, &instance{Kind: kind, Value: applied.NewState.MsgPack, Private: applied.Private}, nil
}

// plan returns what is to be done, and the state that this leads to.
func (provider *provider) plan(
	ctx context.Context,
	kind string,
	prior, config *tfprotov5.DynamicValue,
	private []byte,
) (string, *tfprotov5.DynamicValue, []byte, error) {
	schema := provider.schema.ResourceSchemas[kind]
	before, err := valueOf(schema, prior)
	if err != nil {
		return "", nil, nil, err
	}
	wanted, err := valueOf(schema, config)
	if err != nil {
		return "", nil, nil, err
	}
	if wanted.IsNull() {
		if before.IsNull() {
			return "absent", config, private, nil
		}
		return "delete", config, private, nil
	}
	proposed, err := dynamicValue(schema, proposedNew(schema, before, wanted))
	if err != nil {
		return "", nil, nil, err
	}
	planned, err := provider.server.PlanResourceChange(ctx, &tfprotov5.PlanResourceChangeRequest{
		TypeName:         kind,
		PriorState:       prior,
		ProposedNewState: proposed,
		Config:           config,
		PriorPrivate:     private,
	})
	if err := firstError(err, planned.Diagnostics); err != nil {
		return "", nil, nil, err
	}
	after, err := valueOf(schema, planned.PlannedState)
	if err != nil {
		return "", nil, nil, err
	}
	switch {
	case before.IsNull():
		return "create", planned.PlannedState, planned.PlannedPrivate, nil
	case after.RawEquals(before):
		return "unchanged", planned.PlannedState, planned.PlannedPrivate, nil
	case len(planned.RequiresReplace) > 0:
		return "", nil, nil, errors.New("to replace a resource, destroy it and apply again")
	}
	return "update", planned.PlannedState, planned.PlannedPrivate, nil
}

// proposedNew returns the configured values, and for what the provider computes the former ones.
func proposedNew(schema *tfprotov5.Schema, before, wanted cty.Value) map[string]cty.Value {
	proposed := wanted.AsValueMap()
	if before.IsNull() {
		return proposed
	}
	for _, attribute := range schema.Block.Attributes {
		if attribute.Computed && proposed[attribute.Name].IsNull() {
			proposed[attribute.Name] = before.GetAttr(attribute.Name)
		}
	}
	return proposed
}

// typeOf returns the type of a schema's values.
func typeOf(schema *tfprotov5.Schema) (cty.Type, error) {
	signature, err := schema.ValueType().MarshalJSON()
	if err != nil {
		return cty.NilType, err
	}
	return ctyjson.UnmarshalType(signature)
}

// dynamicValue returns these attributes of a schema, with null for each other one; null for nil.
func dynamicValue(schema *tfprotov5.Schema, attributes map[string]cty.Value) (*tfprotov5.DynamicValue, error) {
	objectType, err := typeOf(schema)
	if err != nil {
		return nil, err
	}
	value := cty.NullVal(objectType)
	if attributes != nil {
		if value, err = objectOf(objectType, withoutBlocks(schema, attributes)); err != nil {
			return nil, err
		}
	}
	packed, err := msgpack.Marshal(value, objectType)
	return &tfprotov5.DynamicValue{MsgPack: packed}, err
}

// withoutBlocks adds an empty list for each kind of block that may be repeated and is not there.
func withoutBlocks(schema *tfprotov5.Schema, attributes map[string]cty.Value) map[string]cty.Value {
	all := maps.Clone(attributes)
	for _, block := range schema.Block.BlockTypes {
		if _, isSet := all[block.TypeName]; !isSet && block.Nesting != tfprotov5.SchemaNestedBlockNestingModeSingle {
			all[block.TypeName] = cty.EmptyTupleVal
		}
	}
	return all
}

func objectOf(objectType cty.Type, attributes map[string]cty.Value) (cty.Value, error) {
	values := map[string]cty.Value{}
	for name, attributeType := range objectType.AttributeTypes() {
		value, isSet := attributes[name]
		if !isSet {
			value = cty.NullVal(attributeType)
		}
		converted, err := convert.Convert(value, attributeType)
		if err != nil {
			return cty.NilVal, fmt.Errorf("%s: %w", name, err)
		}
		values[name] = converted
	}
	for name := range attributes {
		if !objectType.HasAttribute(name) {
			return cty.NilVal, fmt.Errorf("an argument named %q is not expected here", name)
		}
	}
	return cty.ObjectVal(values), nil
}

func valueOf(schema *tfprotov5.Schema, value *tfprotov5.DynamicValue) (cty.Value, error) {
	objectType, err := typeOf(schema)
	if err != nil {
		return cty.NilVal, err
	}
	return msgpack.Unmarshal(value.MsgPack, objectType)
}

// firstError returns the error of a call, or that of its diagnostics.
func firstError(err error, diagnostics []*tfprotov5.Diagnostic) error {
	if err != nil {
		return err
	}
	for _, diagnostic := range diagnostics {
		if diagnostic.Severity == tfprotov5.DiagnosticSeverityError {
			return fmt.Errorf("%s: %s", diagnostic.Summary, diagnostic.Detail)
		}
	}
	return nil
}
