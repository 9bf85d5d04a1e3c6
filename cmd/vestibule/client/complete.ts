import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { completeCommand, flagNames, type Subcommand, subcommands } from '../terminal/commands.js';
import { flags, type Invocation } from '../terminal/flags.js';
import { type ApiClient, clientFor } from './connection/api-client.js';
import { contextsFile, readContexts } from './connection/contexts.js';
import { discover, findResources } from './connection/discovery.js';
import { readAll } from './connection/list.js';

/** Milliseconds that completion may take, because a person waits at a prompt. */
const timeoutMs = 5_000;

/**
 * What the shell adds (cobra's ShellCompDirective, which kubectl reads too): nothing, or file
 * names.
 */
const [noFiles, files] = [4, 0];

interface Completion {
  readonly words: readonly string[];
  readonly directive?: number;
}

/**
 * Completes the last word for the scripts of `completion` and for kubectl: one candidate a line,
 * then a directive. Prints no candidates on failure. Never renews a token, because an interrupted
 * renewal would lose it.
 */
export async function complete({ args, environment }: Invocation): Promise<void> {
  const { words: found, directive = noFiles } = (await Promise.race([
    candidates(args, environment).catch(() => ({ words: [] })),
    pause(timeoutMs, { words: [] }, { ref: false }),
  ])) as Completion;
  const current = args.at(-1) ?? '';
  process.stdout.write(
    `${found
      .filter((one) => one.startsWith(current) && /^[\x21-\x7e]+(\t[\x20-\x7e]*)?$/.test(one))
      .map((one) => `${one}\n`)
      .join('')}:${directive}\n`,
    () => process.exit(0),
  );
}

async function candidates(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<Completion> {
  const [current = '', ...before] = [...args].reverse();
  const [name, ...rest] = before.reverse();
  if (name === undefined)
    return {
      words: Object.entries(subcommands)
        .filter(([one]) => one !== completeCommand)
        .map(([one, { about }]) => `${one}\t${about}`),
    };
  const subcommand = Object.hasOwn(subcommands, name) ? subcommands[name]! : undefined;
  if (!subcommand) return { words: [] };
  const { positionals, given, openFlag } = parseTyped(subcommand, rest);
  if (openFlag !== undefined) return completeValue(openFlag, environment);
  const [, long, equals] = /^(--([a-z-]+)=)/.exec(current) ?? [];
  if (long !== undefined)
    return { words: completeValue(equals!, environment).words.map((one) => `${long}${one}`) };
  if (current.startsWith('-'))
    return { words: flagNames(subcommand).map((flag) => `--${flag}\t${flags[flag].about}`) };
  if (subcommand.arguments === 'word')
    return { words: positionals.length === 0 ? Object.keys(subcommands) : [] };
  if (typeof subcommand.arguments === 'object')
    return { words: positionals.length === 0 ? subcommand.arguments : [] };
  if (subcommand.arguments === undefined) return { words: [] };
  const service = clientFor({ flags: given, environment }, false);
  return { words: await completeObjects(service, subcommand, positionals, current) };
}

/** Parses a command line into arguments, flags, and the flag whose value is being typed. */
function parseTyped(subcommand: Subcommand, rest: readonly string[]) {
  const knownFlags = flagNames(subcommand);
  const { tokens } = parseArgs({
    args: rest.filter((one) => one !== '='), // bash splits --output=json into three words
    options: Object.fromEntries(knownFlags.map((flag) => [flag, flags[flag]])),
    strict: false,
    tokens: true,
  });
  const positionals: string[] = [];
  const given: Record<string, string> = {};
  let openFlag: string | undefined;
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const flag = knownFlags.find((one) => one === token.name);
    if (flag === undefined) continue;
    if (token.value !== undefined) given[flag] = token.value;
    else if (flags[flag].type === 'string') openFlag = flag;
  }
  return { positionals, given, openFlag };
}

function completeValue(flag: string, environment: NodeJS.ProcessEnv): Completion {
  if (flag === 'output') return { words: ['json', 'yaml', 'name', 'wide', 'jsonpath='] };
  if (flag === 'dry-run') return { words: ['none', 'server'] };
  if (flag === 'type') return { words: ['json', 'merge'] };
  if (flag === 'context')
    return { words: Object.keys(readContexts(contextsFile(environment)).contexts) };
  return {
    words: [],
    directive: ['filename', 'patch-file', 'certificate-authority', 'config'].includes(flag)
      ? files
      : noFiles,
  };
}

/** Returns resource types, or the names of objects of a type. */
async function completeObjects(
  service: ApiClient,
  word: Subcommand,
  positionals: readonly string[],
  current: string,
): Promise<string[]> {
  const all = await discover(service);
  const names = async (type: string): Promise<string[]> =>
    (await readAll(service, findResources(all, type)[0]!, 'names', {})).items.map(
      ({ object }) => object.metadata.name!,
    );
  const [type] = positionals;
  if (word.arguments === 'type') return type === undefined ? all.map(({ plural }) => plural) : [];
  if (current.includes('/')) {
    const [typeArg] = current.split('/');
    return (await names(typeArg!)).map((name) => `${typeArg}/${name}`);
  }
  if (type === undefined)
    return all.map(({ plural }) => `${current.slice(0, current.lastIndexOf(',') + 1)}${plural}`);
  return type.includes('/')
    ? []
    : (await names(type)).filter((name) => !positionals.includes(name));
}
