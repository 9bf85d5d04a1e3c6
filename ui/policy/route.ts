import { useEffect, useState } from 'preact/hooks';

/** Which view is wanted, as the fragment of the address says it. */
export interface Route {
  /** A policy by its name; the one in force where none is given. */
  readonly policy?: string | undefined;
  /** A rule of it, or the id of an element, to go to. */
  readonly rule?: string | undefined;
  readonly at?: string | undefined;
  /** The names of two policies to compare; empty where they are to be chosen. */
  readonly compare?: readonly [string, string] | undefined;
  /** The rule whose decisions are wanted; empty for all of them. */
  readonly decisions?: string | undefined;
}

/** Reads a fragment such as `#p-3&at=text`, `#compare=p-2..p-3` or `#decisions=own-sessions`. */
export function routeOf(fragment: string): Route {
  const parts = new URLSearchParams(fragment.replace(/^#/, ''));
  const [before = '', after = ''] = parts.get('compare')?.split('..') ?? [];
  return {
    policy: [...parts.keys()].find((one) => /^p-\d+$/.test(one)),
    rule: parts.get('rule') ?? undefined,
    at: parts.get('at') ?? undefined,
    compare: parts.has('compare') ? [before, after] : undefined,
    decisions: parts.get('decisions') ?? undefined,
  };
}

/** The fragment that leads to a place in a policy, or where none is named in the one in force. */
export const placeLink = (policy: string | undefined, at: string): string =>
  `#${policy ? `${policy}&` : ''}at=${at}`;

/** The fragment that compares two policies. */
export const comparisonLink = (before: string, after: string): string =>
  `#compare=${before}..${after}`;

/** The fragment of one's own decisions by a rule. */
export const decisionsLink = (rule: string): string =>
  `#${new URLSearchParams({ decisions: rule })}`;

/** The route of this page, again whenever the fragment changes. */
export function useRoute(): Route {
  const [fragment, set] = useState(location.hash);
  useEffect(() => {
    const changed = (): void => set(location.hash);
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return routeOf(fragment);
}
