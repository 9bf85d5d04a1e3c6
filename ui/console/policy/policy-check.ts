import { useEffect, useRef, useState } from 'preact/hooks';
import type { Policy } from '../../api.js';
import { ApiError, call } from '../../base/api/api.js';
import { announce } from '../../base/live-region.js';
import { t } from '../../base/text/message.js';
import type { Kind } from '../base/kind.js';
import { faultsOf, type Fault } from './policy-faults.js';

export type Impact = NonNullable<Policy['status']['impact']>;

/** What the service answered about a text: what would change, its faults, or an error. */
export interface CheckResult {
  readonly text: string;
  readonly impact?: Impact | undefined;
  readonly faults: readonly Fault[];
  readonly failure?: ApiError;
}

/** The pause after the last change before the text is sent. */
const pauseMs = 400;

/** Sends a text as a dry run. */
export async function checkText(kind: Kind, text: string): Promise<CheckResult> {
  try {
    const { status } = await call<Policy>(
      'POST',
      `${kind.path}?dryRun=All`,
      policyBody(kind, text),
    );
    return { text, impact: status.impact, faults: [] };
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown;
    const faults = faultsOf(thrown);
    return { text, faults, ...(faults.length === 0 && { failure: thrown }) };
  }
}

/** Returns the body of the request that creates a policy, as kubectl sends it. */
export const policyBody = (
  { apiVersion, kind }: Kind,
  cedar: string,
  description = '',
  mode?: Policy['spec']['mode'],
): object => ({
  apiVersion,
  kind,
  metadata: {},
  spec: { cedar, ...(description && { description }), ...(mode && { mode }) },
});

function announceResult({ faults, impact }: CheckResult): void {
  if (faults.length) {
    announce(t('policies.faults', { count: faults.length }));
  } else if (impact) {
    announce(t('policies.tried', { count: impact.replayed }));
  }
}

/**
 * Has the service check a text as it is typed, one request at a time. Only the answer about the
 * newest text counts. `text` is undefined if there is nothing to check.
 */
export function useCheck(
  kind: Kind,
  text: string | undefined,
): { result: CheckResult | undefined; isChecking: boolean; again: () => void } {
  const [result, setResult] = useState<CheckResult>();
  const [turn, setTurn] = useState(0);
  const pending = useRef<Promise<void>>(Promise.resolve());
  useEffect(() => {
    if (text === undefined) {
      setResult(undefined);
      return undefined;
    }
    let isNewest = true;
    const check = async (): Promise<void> => {
      if (!isNewest) return;
      const next = await checkText(kind, text);
      if (!isNewest) return;
      setResult(next);
      announceResult(next);
    };
    const timer = setTimeout(() => {
      pending.current = pending.current.then(check);
    }, pauseMs);
    return () => {
      isNewest = false;
      clearTimeout(timer);
    };
  }, [kind, text, turn]);
  return {
    result,
    isChecking: text !== undefined && result?.text !== text,
    again: () => {
      setResult(undefined);
      setTurn(turn + 1);
    },
  };
}
