//! Proves promises about a policy with Cedar's symbolic compiler and cvc5 (docs/design/policy.md#proof).
//!
//! Reads `{"schema", "policy", "promises": [{"id", "kind", "cedar"}]}` from standard input. Of a promise,
//! `cedar` permits a set of requests: with the kind `never` the policy permits none of them, with
//! `always` all. Writes a line of JSON for each promise: the number of request environments, and a
//! request that breaks it, if there is one.

use std::io::Read;
use std::str::FromStr;

use cedar_policy::{EntityUid, PolicySet, RequestEnv, Schema};
use cedar_policy_symcc::solver::LocalSolver;
use cedar_policy_symcc::{CedarSymCompiler, CompiledPolicySet, Env};
use serde_json::{json, Value};

type Failure = Box<dyn std::error::Error>;

/// What is compiled for one request environment.
struct Compiled<'a> {
    env: &'a RequestEnv,
    policy: CompiledPolicySet,
}

fn text<'a>(value: &'a Value, name: &str) -> Result<&'a str, Failure> {
    value[name].as_str().ok_or_else(|| format!("{name} must be text").into())
}

fn uid(uid: &EntityUid) -> Value {
    json!({ "type": uid.type_name().to_string(), "id": uid.id().unescaped() })
}

/// A request with the entities that it mentions, in Cedar's JSON format.
fn counterexample(env: &Env) -> Result<Value, Failure> {
    let mut entities = Vec::new();
    env.entities.write_to_json(&mut entities)?;
    let context = env.request.context().map(|context| context.to_json_value()).transpose()?;
    Ok(json!({
        "principal": env.request.principal().map(uid),
        "action": env.request.action().map(uid),
        "resource": env.request.resource().map(uid),
        "context": context,
        "entities": serde_json::from_slice::<Value>(&entities)?,
    }))
}

async fn prove(
    compiler: &mut CedarSymCompiler<LocalSolver>,
    schema: &Schema,
    all: &[Compiled<'_>],
    promise: &Value,
) -> Result<Value, Failure> {
    let about = PolicySet::from_str(text(promise, "cedar")?)?;
    for Compiled { env, policy } in all {
        let requests = CompiledPolicySet::compile(&about, env, schema)?;
        let broken = match text(promise, "kind")? {
            "never" => compiler.check_disjoint_with_counterexample_opt(policy, &requests).await?,
            "always" => compiler.check_implies_with_counterexample_opt(&requests, policy).await?,
            other => return Err(format!("kind must be never or always (got {other})").into()),
        };
        if let Some(env) = broken {
            return counterexample(&env);
        }
    }
    Ok(Value::Null)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input)?;
    let input: Value = serde_json::from_str(&input)?;
    let (schema, _) = Schema::from_cedarschema_str(text(&input, "schema")?)?;
    let policies = PolicySet::from_str(text(&input, "policy")?)?;
    let envs: Vec<RequestEnv> = schema.request_envs().collect();
    let mut all = Vec::with_capacity(envs.len());
    for env in &envs {
        let policy = CompiledPolicySet::compile(&policies, env, &schema)?;
        all.push(Compiled { env, policy });
    }
    let mut compiler = CedarSymCompiler::new(LocalSolver::cvc5()?)?;
    for promise in input["promises"].as_array().ok_or("promises must be a list")? {
        let broken = prove(&mut compiler, &schema, &all, promise).await?;
        println!(
            "{}",
            json!({ "id": promise["id"], "environments": all.len(), "counterexample": broken })
        );
    }
    Ok(())
}
