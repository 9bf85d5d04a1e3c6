import { call } from '../../base/api/api.js';
import { useRead } from '../../base/api/use-read.js';
import { useConsole } from '../base/console-context.js';
import { kindOf } from '../base/discovery.js';
import { readOperators, type OperatorsFinding } from './operators-rules.js';

/**
 * What is known of the operators. `NoGroup`: the Group does not exist. `Unknown`: the caller may not
 * read it, or there was no answer.
 */
export type OperatorsState = OperatorsFinding | 'Loading' | 'Unknown' | 'NoGroup';

/** Returns whether the Group `operators` has members, and whether one of them has a passkey. */
export function useOperatorsState(): OperatorsState {
  const { listed } = useConsole();
  const [groups, accounts] = [kindOf(listed, 'Group'), kindOf(listed, 'Account')];
  const { value, failure } = useRead(
    groups && accounts
      ? () => readOperators((path) => call('GET', path), groups.path, accounts.path)
      : undefined,
    [groups, accounts],
  );
  if (failure) return failure.code === 404 ? 'NoGroup' : 'Unknown';
  return groups && accounts ? (value ?? 'Loading') : 'Unknown';
}
