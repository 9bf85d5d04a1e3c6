import { useEffect, useState } from 'preact/hooks';

/** The views that are made for a task. */
export type Part =
  | 'people'
  | 'apps'
  | 'policy'
  | 'decisions'
  | 'activity'
  | 'mail'
  | 'appearance'
  | 'settings';

/** The part of the page that the address names. */
export interface Route {
  readonly view:
    | 'overview'
    | 'kinds'
    | Part
    | 'list'
    | 'object'
    | 'new'
    | 'edit'
    | 'delete'
    | 'absent';
  readonly resource: string;
  readonly name: string;
  readonly query: URLSearchParams;
}

const root = '/console';

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Parses a path such as `/console/groups/staff/edit` with its query. */
export function routeOf(path: string, search: string): Route {
  const [resource = '', name = '', action, ...rest] = path
    .slice(root.length)
    .split('/')
    .filter(Boolean)
    .map(decode);
  return {
    view: rest.length ? 'absent' : viewOf(resource, name, action),
    resource,
    name,
    query: new URLSearchParams(search),
  };
}

/** Views without anything below them. */
const singleViews = [
  'policy',
  'decisions',
  'activity',
  'mail',
  'appearance',
  'settings',
  'kinds',
] as const;

function viewOf(resource: string, name: string, action: string | undefined): Route['view'] {
  if (!resource) return 'overview';
  if (resource === 'apps') return !name || action === 'new' ? 'apps' : 'absent';
  const single = singleViews.find((view) => view === resource);
  // The object of kind Settings has a form of its own below the page.
  if (single && !(single === 'settings' && name)) return name ? 'absent' : single;
  if (resource === 'people') return (name === '-') === (action === 'new') ? 'people' : 'absent';
  if (!name) return 'list';
  if (name === '-') return action === 'new' ? 'new' : 'absent';
  if (!action) return 'object';
  return action === 'edit' || action === 'delete' ? action : 'absent';
}

/** Returns the path of a collection, of an object or of an act on it. */
export const pathTo = (...parts: readonly string[]): string =>
  [root, ...parts.map(encodeURIComponent)].join('/');

const moved = new EventTarget();

/** Shows another part of the page; with `replace` Back does not lead to the part that is left. */
export function navigate(path: string, replace = false): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', path);
  moved.dispatchEvent(new Event('move'));
}

/** Returns the route of this page and renders again when it changes. */
export function useRoute(): Route {
  const [address, set] = useState(() => location.pathname + location.search);
  useEffect(() => {
    const listeners = new AbortController();
    const update = (): void => set(location.pathname + location.search);
    moved.addEventListener('move', update, listeners);
    addEventListener('popstate', update, listeners);
    return () => listeners.abort();
  }, []);
  const [path = '', search = ''] = address.split('?');
  return routeOf(path, search);
}

/** A place in the console that a sign-in may lead back to. */
const wellFormed = /^[\w-]{1,80}(\/[\w%:~-][\w.%:~-]{0,300}){0,2}$/;

/**
 * Reads how the page was reached. After a sign-in, its `state` becomes the path. Returns whether the
 * sign-in was refused or cancelled.
 */
export function readArrival(): boolean {
  const query = new URLSearchParams(location.search);
  const state = query.get('state') ?? '';
  if (query.has('iss') || query.has('error')) {
    history.replaceState(null, '', wellFormed.test(state) ? `${root}/${state}` : root);
  }
  return query.has('error');
}

/** The step of a sign-in that leads back to where the person is. */
export const currentStep = (): string => location.pathname.slice(root.length + 1);
