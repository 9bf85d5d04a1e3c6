import { CommandError } from '../terminal/errors.js';
import { asLine } from './output-format.js';

/**
 * One step of a path, and of a template one part: what kubectl's JSONPath has, without recursive
 * descent and scripts.
 */
type Step =
  | { readonly key: string }
  | { readonly all: true }
  | { readonly from?: number; readonly to?: number }
  | { readonly at: number }
  | { readonly where: Condition };
interface Condition {
  readonly path: readonly Step[];
  readonly operator?: string;
  readonly literal?: unknown;
}
type Part =
  | { readonly text: string }
  | { readonly path: readonly Step[] }
  | { readonly range: readonly Step[]; readonly parts: readonly Part[] };

/**
 * Fills a template of kubectl's JSONPath (`{range .items[*]}{.metadata.name}{"\n"}{end}`) with a
 * value; what is not there is left empty.
 */
export const fill = (template: string, value: unknown): string =>
  texts(new Reader(template).template(), value);

const texts = (parts: readonly Part[], value: unknown): string =>
  parts
    .map((part) => {
      if ('text' in part) return part.text;
      if ('path' in part)
        return follow(part.path, value)
          .map((one) => (typeof one === 'string' ? one : asLine(one)))
          .join(' ');
      return follow(part.range, value)
        .map((one) => texts(part.parts, one))
        .join('');
    })
    .join('');

const follow = (path: readonly Step[], value: unknown): unknown[] =>
  path.reduce<unknown[]>((values, step) => values.flatMap((one) => taken(step, one)), [value]);

function taken(step: Step, value: unknown): unknown[] {
  if ('key' in step)
    return typeof value === 'object' && value !== null && Object.hasOwn(value, step.key)
      ? [(value as Record<string, unknown>)[step.key]]
      : [];
  if ('all' in step) return typeof value === 'object' && value !== null ? Object.values(value) : [];
  if (!Array.isArray(value)) return [];
  if ('at' in step) return value.slice(step.at).slice(0, 1);
  if ('where' in step) return value.filter((one) => holds(step.where, one));
  return value.slice(step.from, step.to);
}

function holds({ path, operator, literal }: Condition, value: unknown): boolean {
  const [one] = follow(path, value) as [any];
  if (operator === undefined) return one !== undefined;
  if (operator === '==') return one === literal;
  if (operator === '!=') return one !== literal;
  if (one === undefined || typeof one !== typeof literal) return false;
  if (one === literal) return operator.endsWith('=');
  const least = one < (literal as any);
  return operator.startsWith('<') ? least : !least;
}

/** Reads a template from its beginning to its end. */
class Reader {
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  template(inRange = false): Part[] {
    const parts: Part[] = [];
    for (;;) {
      const text = this.#match(/[^{]+/y);
      if (text) parts.push({ text: text[0] });
      if (this.#at >= this.#text.length) {
        if (inRange) this.#fail('{range} has no {end}');
        return parts;
      }
      if (this.#match(/\{\s*end\s*\}/y)) {
        if (!inRange) this.#fail('{end} has no {range}');
        return parts;
      }
      parts.push(this.#part());
    }
  }

  #part(): Part {
    this.#need(/\{\s*/y, '{');
    const range = this.#match(/range\s+/y) !== undefined;
    const quoted = range ? undefined : this.#literal();
    const path = typeof quoted === 'string' ? [] : this.#path();
    this.#need(/\s*\}/y, '}');
    if (typeof quoted === 'string') return { text: quoted };
    return range ? { range: path, parts: this.template(true) } : { path };
  }

  #path(): Step[] {
    const steps: Step[] = [];
    this.#match(/[$@]/y);
    for (;;) {
      if (this.#match(/\.\./y)) this.#fail('".." is not known here');
      const [, all, key] = this.#match(/\.(?:(\*)|((?:\\.|[\w/-])+))/y) ?? [];
      if (all !== undefined) steps.push({ all: true });
      else if (key !== undefined) steps.push({ key: key.replaceAll(/\\(.)/g, '$1') });
      else if (this.#match(/\[\s*/y)) steps.push(this.#bracket());
      else if (!this.#match(/\.(?=\s*\})/y)) return steps;
    }
  }

  #bracket(): Step {
    const step = this.#inBracket();
    this.#need(/\s*\]/y, ']');
    return step;
  }

  #inBracket(): Step {
    if (this.#match(/\*/y)) return { all: true };
    if (this.#match(/\?\(\s*/y)) return this.#condition();
    const [, from, colon, to] = this.#match(/(-?\d+)?(?:\s*(:)(?:\s*(-?\d+))?)?(?=\s*\])/y) ?? [];
    if (colon !== undefined)
      return {
        ...(from !== undefined && { from: Number(from) }),
        ...(to !== undefined && { to: Number(to) }),
      };
    if (from !== undefined) return { at: Number(from) };
    const key = this.#literal();
    return typeof key === 'string' ? { key } : this.#fail('a name, a number or * belongs here');
  }

  #condition(): Step {
    const path = this.#path();
    const operator = this.#match(/\s*(==|!=|<=|>=|<|>)\s*/y)?.[1];
    const literal = operator === undefined ? undefined : this.#literal();
    if (operator !== undefined && literal === undefined)
      this.#fail('a text, a number, true or false belongs here');
    this.#need(/\s*\)/y, ')');
    return { where: { path, ...(operator !== undefined && { operator, literal }) } };
  }

  #literal(): string | number | boolean | undefined {
    const quoted = this.#match(/(["'])((?:\\[^]|(?!\1)[^\\])*)\1/y);
    if (quoted)
      return quoted[2]!.replaceAll(
        /\\([^])/g,
        (_, one: string) => ({ n: '\n', t: '\t', r: '\r' })[one] ?? one,
      );
    const plain = this.#match(/-?\d+(?:\.\d+)?|true\b|false\b/y)?.[0];
    if (plain === undefined) return undefined;
    return plain === 'true' || plain === 'false' ? plain === 'true' : Number(plain);
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text) ?? undefined;
    if (found) this.#at = pattern.lastIndex;
    return found;
  }

  #need(pattern: RegExp, what: string): void {
    if (!this.#match(pattern)) this.#fail(`${what} belongs here`);
  }

  #fail(why: string): never {
    throw new CommandError(`-o jsonpath: at ${this.#at + 1}, ${why}`, 2);
  }
}
