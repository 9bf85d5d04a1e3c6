package main

import (
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	yaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// configuration is the content of main.tf.
type configuration struct {
	provider  map[string]cty.Value
	resources map[string]resource
}

var blocks = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "terraform"},
	{Type: "variable", LabelNames: []string{"name"}},
	{Type: "provider", LabelNames: []string{"name"}},
	{Type: "resource", LabelNames: []string{"type", "name"}},
}}

func readConfiguration(folder string) (*configuration, error) {
	file, problems := hclparse.NewParser().ParseHCLFile(filepath.Join(folder, "main.tf"))
	if problems.HasErrors() {
		return nil, problems
	}
	content, problems := file.Body.Content(blocks)
	if problems.HasErrors() {
		return nil, problems
	}
	variables, err := variablesOf(content)
	if err != nil {
		return nil, err
	}
	scope := &hcl.EvalContext{
		Variables: map[string]cty.Value{"var": cty.ObjectVal(variables)},
		Functions: map[string]function.Function{"yamlencode": yaml.YAMLEncodeFunc},
	}
	read := &configuration{resources: map[string]resource{}}
	for _, block := range content.Blocks {
		if block.Type != "provider" && block.Type != "resource" {
			continue
		}
		attributes, err := attributesOf(block, scope)
		if err != nil {
			return nil, err
		}
		if block.Type == "provider" {
			read.provider = attributes
		} else {
			read.resources[block.Labels[0]+"."+block.Labels[1]] = resource{kind: block.Labels[0], attributes: attributes}
		}
	}
	return read, nil
}

// variablesOf returns each variable: what the environment has for it, or its default.
func variablesOf(content *hcl.BodyContent) (map[string]cty.Value, error) {
	variables := map[string]cty.Value{}
	for _, block := range content.Blocks.OfType("variable") {
		name := block.Labels[0]
		if value, isSet := os.LookupEnv("TF_VAR_" + name); isSet {
			variables[name] = cty.StringVal(value)
			continue
		}
		attributes, problems := block.Body.JustAttributes()
		if problems.HasErrors() {
			return nil, problems
		}
		if attribute, hasDefault := attributes["default"]; hasDefault {
			value, problems := attribute.Expr.Value(nil)
			if problems.HasErrors() {
				return nil, problems
			}
			variables[name] = value
		}
	}
	return variables, nil
}

func attributesOf(block *hcl.Block, scope *hcl.EvalContext) (map[string]cty.Value, error) {
	attributes, problems := block.Body.JustAttributes()
	if problems.HasErrors() {
		return nil, problems
	}
	values := map[string]cty.Value{}
	for name, attribute := range attributes {
		value, problems := attribute.Expr.Value(scope)
		if problems.HasErrors() {
			return nil, problems
		}
		values[name] = value
	}
	return values, nil
}
