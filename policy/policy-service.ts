import { faultText } from '../kinds/policy/causes.js';
import type { PolicyFault } from '../kinds/policy/fault.js';
import {
  createPolicy,
  hashOf,
  type PolicyObject,
  readLatestShadow,
  readNewestPolicy,
} from '../kinds/policy/policy.js';
import type { RuleSummary } from '../kinds/policy/rule-summary.js';
import type { PolicyPort } from '../kinds/ports.js';
import type { Log } from '../observability/log.js';
import { withSpan } from '../observability/tracer.js';
import type { Authorizer } from '../registry/authorizer.js';
import type { Transaction } from '../registry/kind.js';
import type { Store } from '../registry/store/store.js';
import { Recorder } from './decisions/recorder.js';
import { ActivePolicyController } from './engine/active-policy-controller.js';
import type { Engine } from './engine/engine.js';
import type { EvaluationCounts } from './evaluate/evaluator.js';
import type { EntitySource, MissingEntity } from './model/entity-source.js';
import { replay } from './shadow/replay.js';
import { ShadowController } from './shadow/shadow-controller.js';
import type { ShadowResult } from './shadow/tally.js';

type PolicySpec = PolicyObject['spec'];

/** The policy authorizer, as the rest of the service uses it. */
export interface PolicyAuthorizer extends PolicyPort {
  /** Authorizes every request and every scope. */
  readonly authorizer: Authorizer;
  /** Activates the newest policy, or creates the first. */
  start(): Promise<void>;
  /**
   * Creates the Policy of a manifest unless its text was the last one loaded from a manifest in this
   * mode. Throws PolicyRefusedError if the text is not acceptable. Returns whether it was created.
   */
  load(spec: PolicySpec): Promise<boolean>;
  /** Returns whether `load` would create the Policy; throws as `load` does. */
  wouldLoad(spec: PolicySpec): Promise<boolean>;
  /** Returns the name of the policy that is active here, or undefined. */
  activeName(): string | undefined;
  /** Connects where facts about entities and operators come from; before that, there are none. */
  connect(source: EntitySource): void;
  /** Counters of the evaluator since the start. */
  counts(): Readonly<EvaluationCounts>;
  /** How often each rule refused something since the start, without reads of operators. */
  readonly refusals: ReadonlyMap<string, number>;
  /** Decisions that a policy in mode Shadow evaluated here since the start, by result. */
  shadowCounts(): Readonly<Record<ShadowResult, number>>;
  /** Throws if this replica does not use the newest policy. */
  ready(): void;
  /** When this replica activates a policy that it received. */
  readonly activation: Pick<ActivePolicyController, 'pending' | 'onChange'>;
  stop(): Promise<void>;
}

/** A policy text was refused; the message is one line. */
export class PolicyRefusedError extends Error {
  override readonly name = 'PolicyRefusedError';
}

/** Opens the policy authorizer; it denies everything before `start`. */
export function openPolicyAuthorizer(
  engine: Engine,
  store: Store,
  log: Log,
  decisionIntervalMs?: number,
): PolicyAuthorizer {
  const controller = new ActivePolicyController(engine, store, log);
  const load: EntitySource['load'] = (missing) => entities!.load(missing);
  const shadow = new ShadowController(engine, store, log, { load, intervalMs: decisionIntervalMs });
  const recorder = new Recorder(store, log, {
    explain: (attributes, budget) => engine.explain(attributes, budget),
    compare: (attributes, response) => shadow.compare(attributes, response),
    intervalMs: decisionIntervalMs,
  });
  const activate = async (
    policy: PolicyObject,
    warnings: readonly PolicyFault[],
  ): Promise<void> => {
    logWarnings(log, policy, warnings);
    const isShadow = policy.spec.mode === 'Shadow';
    await (isShadow ? shadow.apply(policy) : controller.waitUntilActive(policy));
  };
  let entities: EntitySource | undefined;
  return {
    authorizer: recordingAuthorizer(engine, recorder, load),
    connect(source) {
      entities = source;
      engine.connect(source);
    },
    check: (text) => engine.check(text),
    activate,
    activeName: () => engine.activePolicyName,
    activation: controller,
    counts: () => ({ ...engine.counts }),
    refusals: recorder.refusals,
    shadowCounts: () => ({ ...shadow.counts }),
    replay: (text) => replay(engine, store, text, load),
    async start() {
      await controller.start();
      shadow.start();
    },
    ready: () => controller.check(),
    async stop() {
      await controller.stop();
      await recorder.stop();
      await shadow.stop();
    },
    async wouldLoad(spec) {
      return (await checkManifest(engine, store, spec)) !== undefined;
    },
    async load(spec) {
      const checked = await checkManifest(engine, store, spec);
      const created = checked && (await createFromManifest(store, spec, checked.rules));
      if (created) await activate(created, checked.warnings);
      return created !== undefined;
    },
  };
}

/** Creates the Policy of a manifest; undefined if another replica already did. */
function createFromManifest(
  store: Store,
  spec: PolicySpec,
  rules: readonly RuleSummary[],
): Promise<PolicyObject | undefined> {
  const manifest = hashOf(spec.cedar);
  const call = store.systemCall();
  return store.change(call, async (tx) =>
    (await readLatest(tx, spec))?.manifest === manifest
      ? undefined
      : createPolicy(tx, call, { spec, rules, manifest }),
  );
}

/** Returns the authorizer of an engine, which records decisions and loads entities. */
function recordingAuthorizer(
  engine: Engine,
  recorder: Recorder,
  loadEntities: EntitySource['load'],
): Authorizer {
  const load: Authorizer['load'] = (questions) => {
    const missing = questions.flatMap((attributes) =>
      engine.missingEntities(attributes).map(([type, id]): MissingEntity => {
        const { becomes, kind, name, object } = attributes;
        const isOutcome = becomes && type === kind?.kind && id === name;
        return isOutcome && object ? [type, id, object] : [type, id];
      }),
    );
    const distinct = new Map(
      missing.map((reference) => [`${reference[0]} ${reference[1]}`, reference]),
    );
    return distinct.size > 0 ? loadEntities([...distinct.values()]) : undefined;
  };
  return {
    decide: (attributes, recorded) =>
      withSpan(
        'policy',
        () => recorder.record(attributes, engine.decide(attributes), recorded),
        ({ allowed, reasons }) => ({
          'vestibule.action': attributes.action,
          'vestibule.allowed': allowed,
          'vestibule.rule': reasons[0]?.rule ?? '',
        }),
      ),
    decideQuietly: (attributes) => recorder.explain(attributes, engine.decide(attributes)),
    get load() {
      return engine.mentionsEntities ? load : undefined;
    },
  };
}

/** Returns what is known of the latest Policy in the same mode. */
const readLatest = (tx: Pick<Transaction, 'read'>, { mode }: PolicySpec) =>
  mode === 'Shadow' ? readLatestShadow(tx) : readNewestPolicy(tx);

/**
 * Checks the text of a manifest; undefined if it was the last one that was loaded in this mode.
 * Throws PolicyRefusedError if it is not acceptable.
 */
async function checkManifest(engine: Engine, store: Store, spec: PolicySpec) {
  const latest = await store.change(store.systemCall(), (tx) => readLatest(tx, spec));
  if (latest?.manifest === hashOf(spec.cedar)) return undefined;
  const checked = await engine.check(spec.cedar);
  if ('faults' in checked) {
    throw new PolicyRefusedError(
      `spec.cedar: ${faultText(checked.faults[0]!).replaceAll(/\s+/g, ' ')}`,
    );
  }
  return checked;
}

function logWarnings(log: Log, policy: PolicyObject, warnings: readonly PolicyFault[]): void {
  for (const { message, line, column } of warnings) {
    log.warn(
      {
        policy: policy.metadata.name,
        ...(line !== undefined && { line, column }),
        warning: message,
      },
      'policy validation warning',
    );
  }
}
