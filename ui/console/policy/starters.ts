import { withAppRule } from './app-rule.js';
import known from './starters.json' with { type: 'json' };

/** What a starter needs to know: an object that is chosen, or a word that is typed. */
export type Need = 'client' | 'group' | 'scope' | 'domain' | 'network';

/** A rule for a common wish; its texts name what is needed in braces. */
interface Starter {
  readonly needs: readonly Need[];
  readonly id?: string;
  readonly message?: string;
  readonly body?: readonly string[];
}

export type StarterName = keyof typeof known;

/** The starters, by the last part of the id of their words. */
export const starters = known as Readonly<Record<StarterName, Starter>>;

/** Returns an object by its name in rules, and as people call it. */
type Chosen = (need: Need) => { readonly id: string; readonly name: string };

/** Returns a text with what was chosen: the id, `.name` of it, or the id `.quoted` as Cedar does. */
const filled = (text: string, chosen: Chosen): string =>
  text.replace(/\{(\w+)(\.\w+)?\}/g, (_, need: Need, form?: string) => {
    const { id, name } = chosen(need);
    if (form === '.quoted') return JSON.stringify(id);
    return form ? name : id;
  });

/** Returns the text of a policy with a starter, whose id no other rule has. */
export function withStarter(cedar: string, starter: StarterName, chosen: Chosen): string {
  const { id: form = '', message = '', body = [] } = starters[starter];
  if (starter === 'members') {
    const [client, group] = [chosen('client'), chosen('group')];
    const words = `${client.name} is for members of ${group.name}.`;
    return withAppRule(cedar, client.id, [group.id], words);
  }
  const name = filled(form, chosen);
  const idOf = (i: number): string => `@id(${JSON.stringify(i > 1 ? `${name}-${i}` : name)})`;
  let i = 1;
  while (cedar.includes(idOf(i))) i += 1;
  const annotations = `${idOf(i)} @message(${JSON.stringify(filled(message, chosen))})`;
  const lines = body.map((line) => filled(line, chosen));
  return [cedar.trimEnd(), '', annotations, ...lines, ''].join('\n');
}
