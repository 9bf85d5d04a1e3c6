import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ExposedFile, readSecretFile } from './secret-file.js';
import { fileSetting, settings, variableOf, type Setting } from './flags.js';

/** The given value of one setting. */
export interface Given {
  readonly value: string | number | boolean | string[];
  /** `flag`, the name of a variable, or `file`. */
  readonly source: string;
  /** The file that a secret was read from, if any. */
  readonly file?: string;
  /** The position in the configuration file, as the start of a problem. */
  readonly at?: string;
}

/** The settings from one or several sources, by flag. */
export interface Found {
  readonly given: Record<string, Given>;
  readonly problems: string[];
  /** Settings that were given with an invalid value, and therefore are not missing. */
  readonly spoiled: Set<string>;
}

/** The settings from flags and environment, and the configuration file that they name. */
export interface OptionSources extends Found {
  readonly file: string | undefined;
}

const all: readonly Setting[] = [...settings, fileSetting];
const nothing = (): Found => ({ given: {}, problems: [], spoiled: new Set() });

/** Reads flags and environment; a flag takes precedence over its variable. */
export function readSources(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): OptionSources {
  const surroundings = fromEnvironment(environment);
  const flags = fromFlags(args);
  const { [fileSetting.flag]: file, ...given } = { ...surroundings.given, ...flags.given };
  return {
    given,
    problems: [...surroundings.problems, ...flags.problems],
    spoiled: new Set([...surroundings.spoiled, ...flags.spoiled]),
    file: file?.value as string | undefined,
  };
}

function fromFlags(args: readonly string[]): Found {
  const found = nothing();
  const options = Object.fromEntries(
    all.map(({ flag, value }) => [
      flag,
      { type: value === 'boolean' ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  const { tokens } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  let isUnknown = false; // The positional after an unknown flag may be its value.
  for (const token of tokens) {
    if (token.kind === 'option-terminator' || (token.kind === 'positional' && isUnknown)) {
      isUnknown = false;
      continue;
    }
    const { name, rawName, value, inlineValue } =
      token.kind === 'option'
        ? token
        : {
            name: '',
            rawName: JSON.stringify(token.value),
            value: undefined,
            inlineValue: undefined,
          };
    const type =
      Object.hasOwn(options, name) && rawName.startsWith('--') ? options[name]!.type : undefined;
    isUnknown = token.kind === 'option' && type === undefined;
    if (type === undefined) found.problems.push(`${rawName} is not a setting`);
    else if (type === 'boolean')
      found.given[name] = { value: value ?? true, source: 'flag' }; // as kube-apiserver accepts them: --flag=false
    else if (value === undefined || (!inlineValue && /^-./.test(value))) {
      found.problems.push(
        `${rawName} has no value; write a value that begins with a dash as ${rawName}=-…`,
      );
      for (const one of flagsIn([name, value?.replace(/^--/, '')])) found.spoiled.add(one);
    } else found.given[name] = { value, source: 'flag' };
  }
  return found;
}

const flagsIn = (words: readonly (string | undefined)[]): string[] =>
  all.map(({ flag }) => flag).filter((flag) => words.includes(flag));

/** Reads variables, and the files that `…_FILE` variables name. */
function fromEnvironment(environment: NodeJS.ProcessEnv): Found {
  const found = nothing();
  const known = new Map(all.map((setting) => [variableOf(setting.flag), setting]));
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith('VESTIBULE_') || value === undefined) continue;
    const setting = known.get(name) ?? known.get(name.replace(/_FILE$/, ''));
    if (/^tcp:\/\//.test(value) || /^VESTIBULE_(SERVICE|PORT_)/.test(name)) {
      if (known.has(name))
        found.problems.push(
          `${name}=${value} is Kubernetes' own variable for a Service named vestibule; set enableServiceLinks: false`,
        );
      continue;
    }
    if (!setting) {
      found.problems.push(`${name} is not a setting`);
      continue;
    }
    const { flag } = setting;
    if (known.has(name)) {
      found.given[flag] = { value, source: name };
      continue;
    }
    if (!setting.secret) found.problems.push(`${name}: only secrets have a _FILE form`);
    else if (environment[variableOf(flag)] !== undefined)
      found.problems.push(`${variableOf(flag)} and ${name} are both set; set only one`);
    else takeSecret(found, flag, { file: value, source: name, at: name });
  }
  return found;
}

/** Reads a secret from the file that holds it. */
export function takeSecret(
  found: Found,
  flag: string,
  { file, source, at }: { file: string; source: string; at: string },
): void {
  try {
    found.given[flag] = { value: readSecretFile(file).trim(), source, file };
  } catch (error) {
    if (error instanceof ExposedFile) found.problems.push(`${at}: ${error.message}`);
    else
      found.problems.push(
        `${at}: ${existsSync(file) ? `${file} cannot be read (${(error as NodeJS.ErrnoException).code})` : `there is no file ${file}`}`,
      );
    found.spoiled.add(flag);
  }
}
