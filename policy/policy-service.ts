import { withLoad, type AuthorizationAttributes, type Authorizer } from '../registry/authorizer.js';
import type { Decision } from '../registry/kind.js';
import type { Log } from '../observability/log.js';
import type { Store } from '../registry/store.js';
import { withSpan } from '../observability/tracer.js';
import type { PolicyPort } from '../kinds/ports.js';
import type { Engine } from './engine.js';
import type { EntitySource } from './entity-source.js';
import { ActivePolicyController } from './active-policy-controller.js';
import type { EvaluationCounts } from './evaluate/evaluator.js';
import { Recorder } from './decisions/recorder.js';
import { replay } from './replay.js';
import {
  createPolicy,
  hashOf,
  readNewestPolicy,
  type PolicyObject,
} from '../kinds/policy/policy.js';
import { faultText } from '../kinds/policy/causes.js';
import type { PolicyFault } from '../kinds/policy/fault.js';

/** The policy authorizer, as the rest of the service uses it. */
export interface PolicyAuthorizer extends PolicyPort {
  /** Authorizes every request and every scope. */
  readonly authorize: Authorizer;
  /** Activates the newest policy, or creates the first. */
  start(): Promise<void>;
  /**
   * Activates the text of a manifest unless it was the last one loaded from a manifest. Throws
   * PolicyRefusedError if the text is not acceptable. Returns whether it was activated.
   */
  load(spec: { cedar: string; description?: string }): Promise<boolean>;
  /** Returns whether `load` would activate the text; throws as `load` does. */
  wouldLoad(spec: { cedar: string }): Promise<boolean>;
  /** Returns the name of the policy that is active here, or undefined. */
  activeName(): string | undefined;
  /** Sets where facts about entities come from; before that, none exists. */
  useEntities(source: EntitySource): void;
  /** Counters of the evaluator since the start. */
  counts(): Readonly<EvaluationCounts>;
  /** Throws if this replica does not use the newest policy. */
  ready(): void;
  stop(): Promise<void>;
}

/** A policy text was refused; the message is one line. */
export class PolicyRefusedError extends Error {
  override readonly name = 'PolicyRefusedError';
}

/**
 * Opens the policy authorizer; it denies everything before `start`. Calls `onChange` whenever this
 * replica activated another policy.
 */
export function openPolicyAuthorizer(
  engine: Engine,
  store: Store,
  log: Log,
  onChange: () => void,
  decisionIntervalMs?: number,
): PolicyAuthorizer {
  const controller = new ActivePolicyController(engine, store, log, onChange);
  const recorder = new Recorder(store, log, {
    explain: (attributes) => engine.explain(attributes),
    intervalMs: decisionIntervalMs,
  });
  const activate = async (
    policy: PolicyObject,
    warnings: readonly PolicyFault[],
  ): Promise<void> => {
    logWarnings(log, policy, warnings);
    await controller.waitUntilActive(policy);
  };
  let entities: EntitySource | undefined;
  return {
    authorize: authorizerOf(engine, recorder, (missing) => entities!.load(missing)),
    useEntities(source) {
      entities = source;
      engine.useEntities(source);
    },
    check: (text) => engine.check(text),
    activate,
    activeName: () => engine.activePolicyName,
    counts: () => ({ ...engine.counts }),
    replay: (text) => replay(engine, store, text, (missing) => entities!.load(missing)),
    start: () => controller.start(),
    ready: () => controller.check(),
    async stop() {
      await controller.stop();
      await recorder.stop();
    },
    async wouldLoad({ cedar }) {
      return (await checkManifest(engine, store, cedar)) !== undefined;
    },
    async load(spec) {
      const checked = await checkManifest(engine, store, spec.cedar);
      if (!checked) return false;
      const manifest = hashOf(spec.cedar);
      const call = store.systemCall();
      const created = await store.change(call, async (tx) =>
        (await readNewestPolicy(tx))?.manifest === manifest
          ? undefined
          : createPolicy(tx, call, { spec, rules: checked.rules, manifest }),
      );
      if (created) await activate(created, checked.warnings);
      return created !== undefined;
    },
  };
}

/** Returns the authorizer of an engine, which records decisions and loads entities. */
function authorizerOf(
  engine: Engine,
  recorder: Recorder,
  loadEntities: EntitySource['load'],
): Authorizer {
  const authorize = (attributes: AuthorizationAttributes): Decision => {
    const decide = (): Decision => recorder.record(attributes, engine.decide(attributes));
    return attributes.record === 'never'
      ? decide()
      : withSpan('policy', decide, ({ allowed, reasons }) => ({
          'vestibule.action': attributes.action,
          'vestibule.allowed': allowed,
          'vestibule.rule': reasons[0]?.rule ?? '',
        }));
  };
  const load: Authorizer['load'] = (all) => {
    const missing = all.flatMap((attributes) => engine.missingEntities(attributes));
    const distinct = new Map(missing.map((one) => [one.join(' '), one]));
    return distinct.size > 0 ? loadEntities([...distinct.values()]) : undefined;
  };
  return withLoad(authorize, () => (engine.mentionsEntities ? load : undefined));
}

/**
 * Checks the text of a manifest; undefined if it was the last one that was loaded. Throws
 * PolicyRefusedError if it is not acceptable.
 */
async function checkManifest(engine: Engine, store: Store, cedar: string) {
  const newest = await store.change(store.systemCall(), readNewestPolicy);
  if (newest?.manifest === hashOf(cedar)) return undefined;
  const checked = await engine.check(cedar);
  if ('faults' in checked)
    throw new PolicyRefusedError(
      `spec.cedar: ${faultText(checked.faults[0]!).replaceAll(/\s+/g, ' ')}`,
    );
  return checked;
}

function logWarnings(log: Log, policy: PolicyObject, warnings: readonly PolicyFault[]): void {
  for (const { message, line, column } of warnings)
    log.warn(
      {
        policy: policy.metadata.name,
        ...(line !== undefined && { line, column }),
        warning: message,
      },
      'policy validation warning',
    );
}
