import { useEffect, useState } from 'preact/hooks';

/** The view that the fragment of the address names. */
export interface Route {
  /** The name of a policy; the one in force if not given. */
  readonly policy?: string | undefined;
  /** A rule of it, or the id of an element, to scroll to. */
  readonly rule?: string | undefined;
  readonly at?: string | undefined;
  /** The names of two policies to compare; empty if the person chooses them. */
  readonly compare?: readonly [string, string] | undefined;
  /** The rule whose decisions are shown; empty for all rules. */
  readonly decisions?: string | undefined;
}

/** Parses a fragment such as `#p-3&at=text`, `#compare=p-2..p-3` or `#decisions=own-sessions`. */
export function routeOf(fragment: string): Route {
  const parts = new URLSearchParams(fragment.replace(/^#/, ''));
  const [before = '', after = ''] = parts.get('compare')?.split('..') ?? [];
  return {
    policy: [...parts.keys()].find((part) => /^[ps]-\d+$/.test(part)),
    rule: parts.get('rule') ?? undefined,
    at: parts.get('at') ?? undefined,
    compare: parts.has('compare') ? [before, after] : undefined,
    decisions: parts.get('decisions') ?? undefined,
  };
}

/** Returns the fragment of a place in a policy, or in the one in force if none is named. */
export const placeLink = (policy: string | undefined, at: string): string =>
  `#${policy ? `${policy}&` : ''}at=${at}`;

/** Returns the fragment that compares two policies. */
export const comparisonLink = (before: string, after: string): string =>
  `#compare=${before}..${after}`;

/** Returns the fragment of the reader's decisions by a rule. */
export const decisionsLink = (rule: string): string =>
  `#${new URLSearchParams({ decisions: rule })}`;

/** Returns the route of this page and renders again when the fragment changes. */
export function useRoute(): Route {
  const [fragment, set] = useState(location.hash);
  useEffect(() => {
    const changed = (): void => set(location.hash);
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return routeOf(fragment);
}
