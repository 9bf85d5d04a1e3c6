// Command terraform-apply plans and applies the resources of a Terraform configuration with the provider
// gavinbunney/kubectl, by the protocol that Terraform and OpenTofu use for it.
//
//	terraform-apply plan|apply|destroy FOLDER STATE
//
// It reads FOLDER/main.tf: variables, whose values come from TF_VAR_NAME, the block of the provider and
// resources without for_each. It keeps the state in the file STATE, and prints one line for each resource.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"sort"

	kubectl "github.com/gavinbunney/terraform-provider-kubectl/kubernetes"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
	"github.com/zclconf/go-cty/cty"
)

func main() {
	log.SetOutput(io.Discard)
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	command, folder, file := args[0], args[1], args[2]
	configuration, err := readConfiguration(folder)
	if err != nil {
		return err
	}
	provider, err := configure(ctx, schema.NewGRPCProviderServer(kubectl.Provider()), configuration)
	if err != nil {
		return err
	}
	state, err := readState(file)
	if err != nil {
		return err
	}
	wanted := configuration.resources
	if command == "destroy" {
		wanted = nil
	}
	for _, address := range addresses(wanted, state) {
		action, next, err := provider.reconcile(ctx, address, wanted[address], state[address], command != "plan")
		if err != nil {
			return fmt.Errorf("%s: %w", address, err)
		}
		fmt.Println(address, action)
		if command == "plan" {
			continue
		}
		if next == nil {
			delete(state, address)
		} else {
			state[address] = next
		}
		if err := state.write(file); err != nil {
			return err
		}
	}
	return nil
}

// addresses returns the address of each resource that is configured or in the state, sorted.
func addresses(wanted map[string]resource, state state) []string {
	all := []string{}
	for address := range wanted {
		all = append(all, address)
	}
	for address := range state {
		if _, both := wanted[address]; !both {
			all = append(all, address)
		}
	}
	sort.Strings(all)
	return all
}

// state is what is known of each resource, by its address.
type state map[string]*instance

// instance is one resource in the state: its value in MessagePack and what the provider keeps beside it.
type instance struct {
	Kind    string `json:"kind"`
	Value   []byte `json:"value"`
	Private []byte `json:"private"`
}

func readState(file string) (state, error) {
	content, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return state{}, nil
	}
	if err != nil {
		return nil, err
	}
	read := state{}
	return read, json.Unmarshal(content, &read)
}

func (state state) write(file string) error {
	content, err := json.Marshal(state)
	if err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o600)
}

// resource is a resource as the configuration declares it.
type resource struct {
	kind       string
	attributes map[string]cty.Value
}
