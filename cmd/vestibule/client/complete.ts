import { parseArgs } from 'node:util';
import { contextsFile, readContexts } from './contexts.js';
import { discover, find } from './discovery.js';
import { flags, type Asked } from '../terminal/flags.js';
import { readAll } from './list.js';
import { serviceOf, type ApiClient } from './api-client.js';
import { flagsOf, hidden, words, type Word } from '../terminal/commands.js';

/** Milliseconds that completion may take, because a person waits at a prompt. */
const patience = 5_000;

/**
 * What the shell adds (cobra's ShellCompDirective, which kubectl reads too): nothing, or file
 * names.
 */
const [nothing, files] = [4, 0];

interface Found {
  readonly words: readonly string[];
  readonly directive?: number;
}

/**
 * Completes the last word for the scripts of `completion` and for kubectl: one candidate a line,
 * then a directive. Prints no candidates on failure. Never renews a token, because an interrupted
 * renewal would lose it.
 */
export async function complete({ args, environment }: Asked): Promise<void> {
  const late = new Promise<Found>((resolve) => {
    setTimeout(() => resolve({ words: [] }), patience).unref();
  });
  const { words: found, directive = nothing } = (await Promise.race([
    candidates(args, environment).catch(() => ({ words: [] })),
    late,
  ])) as Found;
  const current = args.at(-1) ?? '';
  process.stdout.write(
    `${found
      .filter((one) => one.startsWith(current) && /^[\x21-\x7e]+(\t[\x20-\x7e]*)?$/.test(one))
      .map((one) => `${one}\n`)
      .join('')}:${directive}\n`,
    () => process.exit(0),
  );
}

async function candidates(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<Found> {
  const [current = '', ...before] = [...args].reverse();
  const [name, ...rest] = before.reverse();
  if (name === undefined)
    return {
      words: Object.entries(words)
        .filter(([one]) => one !== hidden)
        .map(([one, { about }]) => `${one}\t${about}`),
    };
  const word = Object.hasOwn(words, name) ? words[name]! : undefined;
  if (!word) return { words: [] };
  const { positionals, given, open } = read(word, rest);
  if (open !== undefined) return valueOf(open, environment);
  const [, long, equals] = /^(--([a-z-]+)=)/.exec(current) ?? [];
  if (long !== undefined)
    return { words: valueOf(equals!, environment).words.map((one) => `${long}${one}`) };
  if (current.startsWith('-'))
    return { words: flagsOf(word).map((flag) => `--${flag}\t${flags[flag].about}`) };
  if (word.takes === 'word') return { words: positionals.length === 0 ? Object.keys(words) : [] };
  if (typeof word.takes === 'object') return { words: positionals.length === 0 ? word.takes : [] };
  if (word.takes === undefined) return { words: [] };
  const service = serviceOf({ flags: given, environment }, false);
  return { words: await objectsOf(service, word, positionals, current) };
}

/** Parses a command line into arguments, flags, and the flag whose value is being typed. */
function read(word: Word, rest: readonly string[]) {
  const known = flagsOf(word);
  const { tokens } = parseArgs({
    args: rest.filter((one) => one !== '='), // bash splits --output=json into three words
    options: Object.fromEntries(known.map((flag) => [flag, flags[flag]])),
    strict: false,
    tokens: true,
  });
  const positionals: string[] = [];
  const given: Record<string, string> = {};
  let open: string | undefined;
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const flag = known.find((one) => one === token.name);
    if (flag === undefined) continue;
    if (token.value !== undefined) given[flag] = token.value;
    else if (flags[flag].type === 'string') open = flag;
  }
  return { positionals, given, open };
}

function valueOf(flag: string, environment: NodeJS.ProcessEnv): Found {
  if (flag === 'output') return { words: ['json', 'yaml', 'name', 'wide', 'jsonpath='] };
  if (flag === 'dry-run') return { words: ['none', 'server'] };
  if (flag === 'type') return { words: ['merge'] };
  if (flag === 'context')
    return { words: Object.keys(readContexts(contextsFile(environment)).contexts) };
  return {
    words: [],
    directive: ['filename', 'patch-file', 'certificate-authority', 'config'].includes(flag)
      ? files
      : nothing,
  };
}

/** Returns resource types, or the names of objects of a type. */
async function objectsOf(
  service: ApiClient,
  word: Word,
  positionals: readonly string[],
  current: string,
): Promise<string[]> {
  const all = await discover(service);
  const names = async (type: string): Promise<string[]> =>
    (await readAll(service, find(all, type)[0]!, 'names', {})).items.map(
      ({ object }) => object.metadata.name!,
    );
  const [type] = positionals;
  if (word.takes === 'type') return type === undefined ? all.map(({ plural }) => plural) : [];
  if (current.includes('/')) {
    const [of] = current.split('/');
    return (await names(of!)).map((name) => `${of}/${name}`);
  }
  if (type === undefined)
    return all.map(({ plural }) => `${current.slice(0, current.lastIndexOf(',') + 1)}${plural}`);
  return type.includes('/')
    ? []
    : (await names(type)).filter((name) => !positionals.includes(name));
}
