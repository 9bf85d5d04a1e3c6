import type { History, Use } from './history.js';
import { isLinearizable, type Operation } from './search.js';
import { mostTries, usesOf } from './singleuse.js';

/**
 * Something that is used once: the tries left, and the calls that took a try with the right code
 * and have yet to use it up.
 */
interface Single {
  readonly tries: number;
  readonly used: boolean;
  readonly taken: readonly number[];
  readonly refused: readonly number[];
}

/**
 * What returns no revision is searched for an order that explains its answers: tries are spent one
 * by one, and it is used once.
 */
export function spent(history: History): string[] {
  return [...usesOf(history)]
    .filter(
      ([, uses]) =>
        !isLinearizable(uses.flatMap(operationsOf), {
          tries: mostTries,
          used: false,
          taken: [],
          refused: [],
        }),
    )
    .map(
      ([object, uses]) =>
        `no order explains what was answered for ${object}: ${uses.map(({ by, right, answer, triesLeft }) => `${right ? 'right' : 'wrong'} ${by} ${answer}${triesLeft === undefined ? '' : ` (${triesLeft})`}`).join(', ')}`,
    );
}

/**
 * A right code takes a try in a commit of its own and uses the challenge up in another; all else is
 * one step.
 */
function operationsOf(use: Use, id: number): Operation<Single>[] {
  const span = { start: use.start, ...(use.answer !== 'unknown' && { end: use.end! }) };
  if (use.by !== 'code') return [{ ...span, step: (state) => whole(use, state) }];
  if (!use.right) return [{ ...span, step: (state) => wrong(use, state) }];
  return [
    { ...span, step: (state) => take(use, id, state) },
    { ...span, step: (state) => enter(use, id, state) },
  ];
}

const answers = (use: Use, answer: Use['answer']): boolean =>
  use.answer === 'unknown' || use.answer === answer;

/** A link counts as long as its code does: until the tries are spent. */
function whole(use: Use, state: Single): Single[] {
  const over = state.used || (use.by === 'link' && state.tries === 0);
  if (over) return answers(use, 'over') ? [state] : [];
  return answers(use, 'used') ? [{ ...state, used: true }] : [];
}

function wrong(use: Use, state: Single): Single[] {
  if (state.used || state.tries === 0) return answers(use, 'over') ? [state] : [];
  const tries = state.tries - 1;
  return answers(use, 'wrong') && (use.triesLeft === undefined || use.triesLeft === tries)
    ? [{ ...state, tries }]
    : [];
}

function take(use: Use, id: number, state: Single): Single[] {
  if (state.used || state.tries === 0) {
    return answers(use, 'over') ? [{ ...state, refused: [...state.refused, id].sort() }] : [];
  }
  return [{ ...state, tries: state.tries - 1, taken: [...state.taken, id].sort() }];
}

function enter(use: Use, id: number, state: Single): Single[] {
  if (state.refused.includes(id)) return [state];
  if (!state.taken.includes(id)) return [];
  return answers(use, state.used ? 'over' : 'used') ? [{ ...state, used: true }] : [];
}
