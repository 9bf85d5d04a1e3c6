import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type Config, ConfigError, loadConfig } from '../options/config.js';
import { settingKey } from '../options/flags.js';
import { configSchema } from '../options/json-schema.js';
import { readCertificate, readPrivateKey } from '../options/pem-file.js';
import { CommandError } from '../terminal/errors.js';
import { printHelp, usageError } from '../terminal/help.js';
import { escapeControls } from '../terminal/output.js';
import { errorMessage } from '../terminal/thrown.js';

/**
 * Runs `vestibule config check|schema`: checks settings without a start
 * (docs/design/operations.md#refused-settings).
 */
export async function config(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const [step, ...rest] = args;
  const { output, settingArgs } = splitOutput(rest);
  if (settingArgs.some((settingArg) => settingArg === '--help' || settingArg === '-h')) {
    return printHelp('config');
  }
  if (step === 'schema' && rest.length === 0) {
    return void process.stdout.write(`${JSON.stringify(configSchema(), null, 2)}\n`);
  }
  if (step !== 'check') throw usageError('config');
  if (output !== 'yaml' && output !== 'json') throw new CommandError('-o must be yaml or json', 2);
  const config = await loadConfig(settingArgs, environment);
  const problems = await fileProblems(config);
  if (problems.length > 0) throw new ConfigError(problems);
  process.stdout.write(
    output === 'json'
      ? `${escapeControls(JSON.stringify({ settings: listSettings(config) }, null, 2))}\n`
      : formatYAML(listSettings(config)),
  );
}

/** Returns the requested output format, and the arguments that are settings. */
function splitOutput(args: readonly string[]): { output: string; settingArgs: string[] } {
  const settingArgs: string[] = [];
  let output = 'yaml';
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index]!;
    const [, inline] = /^(?:-o=?|--output=)(.+)$/.exec(argument) ?? [];
    if (inline !== undefined) {
      output = inline;
    } else if (argument === '-o' || argument === '--output') {
      index += 1;
      output = args[index] ?? '';
    } else {
      settingArgs.push(argument);
    }
  }
  return { output, settingArgs };
}

/** Returns every setting that has a value, by its key in a configuration file, with its source. */
const listSettings = ({
  displayed,
  sources,
}: Config): { name: string; value: unknown; source: string }[] =>
  Object.entries(displayed).map(([flag, value]) => ({
    name: settingKey(flag),
    value,
    source: sources[flag]!,
  }));

/**
 * Formats the settings as a configuration file, one a line with its source; the limits follow in
 * their section.
 */
function formatYAML(tree: ReturnType<typeof listSettings>): string {
  const section = 'limits.';
  const line = ({ name, value, source }: (typeof tree)[number]): string =>
    `${name}: ${formatValue(value)} # ${source}\n`;
  const limits = tree
    .filter(({ name }) => name.startsWith(section))
    .map((setting) => `  ${line({ ...setting, name: setting.name.slice(section.length) })}`);
  return [
    ...tree.filter(({ name }) => !name.startsWith(section)).map(line),
    `${section.slice(0, -1)}:\n`,
    ...limits,
  ].join('');
}

/** Formats a value as YAML on one line. */
const formatValue = (value: unknown): string => escapeControls(yamlValue(value));

function yamlValue(value: unknown): string {
  if (typeof value === 'object') {
    return `[${(value as string[]).map((item) => JSON.stringify(item)).join(', ')}]`;
  }
  if (typeof value === 'string' && /[\n\r]/.test(value)) return JSON.stringify(value);
  return stringify(value, { lineWidth: 0 }).trimEnd();
}

/**
 * Returns the problems of the files that settings name, as far as neither store nor network is
 * needed.
 */
async function fileProblems(found: Config): Promise<string[]> {
  const problems: string[] = [];
  const attempt = async <T>(check: () => Promise<T> | T): Promise<T | undefined> => {
    try {
      return await check();
    } catch (error) {
      problems.push(...(error instanceof ConfigError ? error.problems : [errorMessage(error)]));
      return undefined;
    }
  };
  const { store, secure, frontProxy, manifests } = found;
  const directory = store.type === 'embedded' ? store.directory : '';
  if (directory !== '' && existsSync(directory) && !statSync(directory).isDirectory()) {
    problems.push(`--data-dir: ${directory} is not a folder`);
  }
  await attempt(() => checkKeys(found, directory));
  if (secure) {
    await attempt(async () =>
      (await import('../serve/tls/tls-certificates.js')).checkCertificateFiles(secure, directory),
    );
  }
  if (frontProxy) {
    await attempt(async () =>
      (await import('../serve/tls/requestheader-trust.js')).checkTrust(frontProxy),
    );
  }
  if (store.type === 'etcd') {
    const { caFile, certFile, keyFile } = store;
    await attempt(() => caFile && readCertificate('etcd-cafile', caFile));
    const certificate = await attempt(() => certFile && readCertificate('etcd-certfile', certFile));
    const key = await attempt(() => keyFile && readPrivateKey('etcd-keyfile', keyFile));
    if (certificate && key && !certificate.value.checkPrivateKey(key.value)) {
      problems.push(`--etcd-keyfile: ${keyFile} is not the key of the certificate in ${certFile}`);
    }
  }
  if (manifests !== undefined) {
    await attempt(async () =>
      problems.push(
        ...(await import('../serve/manifests/manifest-file.js')).validateManifests(manifests),
      ),
    );
  }
  return problems;
}

/** The first start creates the keys of an embedded store, so they may be missing. */
async function checkKeys({ keysFile }: Config, directory: string): Promise<void> {
  const file = keysFile ?? join(directory, 'keys.json');
  if (keysFile !== undefined || existsSync(file)) {
    (await import('../serve/keys/keys-file.js')).readKeys(file);
  }
}
