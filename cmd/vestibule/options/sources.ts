import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { didYouMean } from '../terminal/did-you-mean.js';
import { errorCode } from '../terminal/thrown.js';
import { fileSetting, type Setting, settings, variableName } from './flags.js';
import { ExposedFile, readSecretFile } from './secret-file.js';

/** The given value of one setting. */
export interface GivenValue {
  readonly value: string | number | boolean | string[];
  /** `flag`, the name of a variable, or `file`. */
  readonly source: string;
  /** The file that a secret was read from, if any. */
  readonly file?: string;
  /** The position in the configuration file, as the start of a problem. */
  readonly position?: string;
}

/** The settings from one or several sources, by flag. */
export interface Settings {
  readonly given: Record<string, GivenValue>;
  readonly problems: string[];
  /** Settings that were given with an invalid value, and therefore are not missing. */
  readonly invalid: Set<string>;
}

/** The settings from flags and environment, and the configuration file that they name. */
export interface OptionSources extends Settings {
  readonly file: string | undefined;
}

const allSettings: readonly Setting[] = [...settings, fileSetting];
const noSettings = (): Settings => ({ given: {}, problems: [], invalid: new Set() });

/** Reads flags and environment; a flag takes precedence over its variable. */
export function readSources(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): OptionSources {
  const variables = fromEnvironment(environment);
  const flags = fromFlags(args);
  const { [fileSetting.flag]: file, ...given } = { ...variables.given, ...flags.given };
  return {
    given,
    problems: [...variables.problems, ...flags.problems],
    invalid: new Set([...variables.invalid, ...flags.invalid]),
    file: file?.value as string | undefined,
  };
}

function fromFlags(args: readonly string[]): Settings {
  const found = noSettings();
  const options = Object.fromEntries(
    allSettings.map(({ flag, value }) => [
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
  let isAfterUnknownFlag = false; // The positional after an unknown flag may be its value.
  for (const token of tokens) {
    if (token.kind === 'option-terminator' || (token.kind === 'positional' && isAfterUnknownFlag)) {
      isAfterUnknownFlag = false;
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
    isAfterUnknownFlag = token.kind === 'option' && type === undefined;
    if (type === undefined) {
      found.problems.push(
        `${rawName} is not a setting${didYouMean(
          rawName,
          allSettings.map(({ flag }) => flag),
          '--',
        )}`,
      );
    } else if (type === 'boolean') {
      found.given[name] = { value: value ?? true, source: 'flag' }; // as kube-apiserver accepts them: --flag=false
    } else if (value === undefined || (!inlineValue && /^-./.test(value))) {
      found.problems.push(
        `${rawName} has no value; write a value that begins with a dash as ${rawName}=-…`,
      );
      for (const flag of flagsIn([name, value?.replace(/^--/, '')])) found.invalid.add(flag);
    } else {
      found.given[name] = { value, source: 'flag' };
    }
  }
  return found;
}

const flagsIn = (words: readonly (string | undefined)[]): string[] =>
  allSettings.map(({ flag }) => flag).filter((flag) => words.includes(flag));

/** Variables of the client commands, which an operator may have exported beside the service. */
const clientVariables = new Set(['VESTIBULE_CONTEXT', 'VESTIBULE_CONTEXTS']);

/** Reads variables, and the files that `…_FILE` variables name. */
function fromEnvironment(environment: NodeJS.ProcessEnv): Settings {
  const found = noSettings();
  const settingByVariable = new Map(
    allSettings.map((setting) => [variableName(setting.flag), setting]),
  );
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith('VESTIBULE_') || value === undefined || clientVariables.has(name)) {
      continue;
    }
    const setting =
      settingByVariable.get(name) ?? settingByVariable.get(name.replace(/_FILE$/, ''));
    if (/^tcp:\/\//.test(value) || /^VESTIBULE_(SERVICE|PORT_)/.test(name)) {
      if (settingByVariable.has(name)) {
        found.problems.push(
          `${name}=${value} is Kubernetes' own variable for a Service named vestibule; set enableServiceLinks: false`,
        );
      }
      continue;
    }
    if (!setting) {
      found.problems.push(
        `${name} is not a setting${didYouMean(name, [...settingByVariable.keys()], 'VESTIBULE_')}`,
      );
      continue;
    }
    const { flag } = setting;
    if (settingByVariable.has(name)) {
      found.given[flag] = { value, source: name };
      continue;
    }
    if (!setting.secret) {
      found.problems.push(`${name}: only secrets have a _FILE form`);
    } else if (environment[variableName(flag)] !== undefined) {
      found.problems.push(`${variableName(flag)} and ${name} are both set; set only one`);
    } else {
      readSecret(found, flag, { file: value, source: name, at: name });
    }
  }
  return found;
}

/** Reads a secret from the file that holds it. */
export function readSecret(
  found: Settings,
  flag: string,
  { file, source, at: position }: { file: string; source: string; at: string },
): void {
  try {
    found.given[flag] = { value: readSecretFile(file).trim(), source, file };
  } catch (error) {
    if (error instanceof ExposedFile) {
      found.problems.push(`${position}: ${error.message}`);
    } else {
      found.problems.push(
        `${position}: ${existsSync(file) ? `${file} cannot be read (${errorCode(error)})` : `there is no file ${file}`}`,
      );
    }
    found.invalid.add(flag);
  }
}
