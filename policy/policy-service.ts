import type { Authorizer } from '../registry/authorizer.js';
import type { Decision } from '../registry/kind.js';
import type { Log } from '../observability/log.js';
import type { Store } from '../registry/store.js';
import { withSpan } from '../observability/tracer.js';
import type { PolicyPort } from '../kinds/ports.js';
import type { Engine } from './engine.js';
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
import type { PolicyFault } from '../kinds/policy/fault.js';

/** The policy authorizer, as the rest of the service uses it. */
export interface PolicyAuthorizer extends PolicyPort {
  /** Authorizes every request and every scope. */
  readonly authorize: Authorizer;
  /** Activates the newest policy, or creates the first. */
  start(): Promise<void>;
  /**
   * Activates the text of a manifest unless it was the last one loaded from a manifest. Throws
   * PolicyRefusedError if the text is not acceptable.
   */
  load(spec: { cedar: string; description?: string }): Promise<void>;
  /** Returns the name of the policy that is active here, or undefined. */
  activeName(): string | undefined;
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
  const recorder = new Recorder(store, log, decisionIntervalMs);
  const activate = async (
    policy: PolicyObject,
    warnings: readonly PolicyFault[],
  ): Promise<void> => {
    logWarnings(log, policy, warnings);
    await controller.waitUntilActive(policy);
  };
  return {
    authorize: (attributes) => {
      const decide = (): Decision => recorder.record(attributes, engine.decide(attributes));
      return attributes.record === 'never'
        ? decide()
        : withSpan('policy', decide, ({ allowed, reasons }) => ({
            'vestibule.action': attributes.action,
            'vestibule.allowed': allowed,
            'vestibule.rule': reasons[0]?.rule ?? '',
          }));
    },
    check: (text) => engine.check(text),
    activate,
    activeName: () => engine.activePolicyName,
    counts: () => ({ ...engine.counts }),
    replay: (text) => replay(engine, store, text),
    start: () => controller.start(),
    ready: () => controller.check(),
    async stop() {
      await controller.stop();
      await recorder.stop();
    },
    async load(spec) {
      const manifest = hashOf(spec.cedar);
      const call = store.systemCall();
      const isNew = await store.change(
        call,
        async (tx) => (await readNewestPolicy(tx))?.manifest !== manifest,
      );
      if (!isNew) return;
      const checked = await engine.check(spec.cedar);
      if ('faults' in checked)
        throw new PolicyRefusedError(`spec.cedar: ${formatFault(checked.faults[0]!)}`);
      const created = await store.change(call, async (tx) =>
        (await readNewestPolicy(tx))?.manifest === manifest
          ? undefined
          : createPolicy(tx, call, { spec, rules: checked.rules, manifest }),
      );
      if (created) await activate(created, checked.warnings);
    },
  };
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

const formatFault = ({
  message,
  line,
  column,
}: {
  message: string;
  line?: number;
  column?: number;
}): string =>
  `${line === undefined ? '' : `line ${line}, column ${column}: `}${message.replaceAll(/\s+/g, ' ')}`;
