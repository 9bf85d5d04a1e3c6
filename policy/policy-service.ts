import type { Authorizer } from '../registry/authorizer.js';
import type { Decision } from '../registry/kind.js';
import type { Log } from '../observability/log.js';
import type { Store } from '../registry/store.js';
import { withSpan } from '../observability/tracer.js';
import type { PolicyPort } from '../kinds/ports.js';
import type { Engine } from './engine.js';
import { ActivePolicyController } from './active-policy-controller.js';
import type { Counts } from './evaluate/evaluator.js';
import { Recorder } from './decisions/recorder.js';
import { replay } from './replay.js';
import { enact, hashOf, newestPolicy, type PolicyObject } from '../kinds/policy/policy.js';
import type { PolicyFault } from '../kinds/policy/fault.js';

/** The policy as the rest of the service sees it. */
export interface PolicyAuthorizer extends PolicyPort {
  /** Every request and every scope is put to it. */
  readonly authorize: Authorizer;
  /** Brings the newest policy into force, or creates the first. */
  start(): Promise<void>;
  /**
   * Puts a manifest's text in force, unless it is that of the last one loaded so; throws Refused
   * where it may not be.
   */
  load(spec: { cedar: string; description?: string }): Promise<void>;
  /** What was counted while judging, since the start. */
  counts(): Readonly<Counts>;
  /** Throws where this replica does not judge by the newest policy. */
  ready(): void;
  stop(): Promise<void>;
}

/** A text that may not be put in force, in one line. */
export class PolicyRefusedError extends Error {
  override readonly name = 'PolicyRefusedError';
}

/**
 * Puts engine and store together; nothing is permitted before `start`. `changed` is called each
 * time another policy has come into force on this replica.
 */
export function openPolicyAuthorizer(
  engine: Engine,
  store: Store,
  log: Log,
  changed: () => void,
): PolicyAuthorizer {
  const controller = new ActivePolicyController(engine, store, log, changed);
  const recorder = new Recorder(store, log);
  const activate = async (
    policy: PolicyObject,
    warnings: readonly PolicyFault[],
  ): Promise<void> => {
    logWarnings(log, policy, warnings);
    await controller.inForce(policy);
  };
  return {
    authorize: (question) => {
      const decide = (): Decision => recorder.note(question, engine.decide(question));
      return question.record === 'never'
        ? decide()
        : withSpan('policy', decide, ({ allowed, reasons }) => ({
            'vestibule.action': question.action,
            'vestibule.allowed': allowed,
            'vestibule.rule': reasons[0]?.rule ?? '',
          }));
    },
    check: (text) => engine.check(text),
    inForce: activate,
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
      const isNews = await store.change(
        call,
        async (tx) => (await newestPolicy(tx))?.manifest !== manifest,
      );
      if (!isNews) return;
      const checked = await engine.check(spec.cedar);
      if ('faults' in checked)
        throw new PolicyRefusedError(`spec.cedar: ${sentence(checked.faults[0]!)}`);
      const made = await store.change(call, async (tx) =>
        (await newestPolicy(tx))?.manifest === manifest
          ? undefined
          : enact(tx, call, { spec, rules: checked.rules, manifest }),
      );
      if (made) await activate(made, checked.warnings);
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

const sentence = ({
  message,
  line,
  column,
}: {
  message: string;
  line?: number;
  column?: number;
}): string =>
  `${line === undefined ? '' : `line ${line}, column ${column}: `}${message.replaceAll(/\s+/g, ' ')}`;
