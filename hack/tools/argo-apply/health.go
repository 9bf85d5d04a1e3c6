package main

import (
	"fmt"
	"os"

	"github.com/argoproj/gitops-engine/pkg/health"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// healthCheck is a health check in Lua of the objects of one kind, as Argo CD runs it.
type healthCheck struct {
	script string
	kind   string
}

// GetResourceHealth returns what the script says about an object; nil for another kind.
func (check healthCheck) GetResourceHealth(object *unstructured.Unstructured) (*health.HealthStatus, error) {
	if check.kind == "" || object.GetKind() != check.kind {
		return nil, nil
	}
	source, err := os.ReadFile(check.script)
	if err != nil {
		return nil, err
	}
	state := lua.NewState()
	defer state.Close()
	state.SetGlobal("obj", toLua(state, object.Object))
	if err := state.DoString(string(source)); err != nil {
		return nil, err
	}
	result, isTable := state.Get(-1).(*lua.LTable)
	if !isTable {
		return nil, fmt.Errorf("%s returned no table", check.script)
	}
	return &health.HealthStatus{
		Status:  health.HealthStatusCode(result.RawGetString("status").String()),
		Message: result.RawGetString("message").String(),
	}, nil
}

// toLua returns a JSON value as Lua has it.
func toLua(state *lua.LState, value interface{}) lua.LValue {
	switch typed := value.(type) {
	case map[string]interface{}:
		table := state.NewTable()
		for key, item := range typed {
			table.RawSetString(key, toLua(state, item))
		}
		return table
	case []interface{}:
		table := state.NewTable()
		for _, item := range typed {
			table.Append(toLua(state, item))
		}
		return table
	case string:
		return lua.LString(typed)
	case bool:
		return lua.LBool(typed)
	case int64:
		return lua.LNumber(typed)
	case float64:
		return lua.LNumber(typed)
	}
	return lua.LNil
}
