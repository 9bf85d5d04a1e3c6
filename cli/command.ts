import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { changeContexts, contextsFile } from './contexts.js';
import { create } from './create.js';
import { credential } from './credential.js';
import { Failure } from './failure.js';
import { kubeconfig } from './kubeconfig.js';
import { plain } from './plain.js';
import { Service } from './service.js';
import { revoke, signIn } from './tokens.js';

const options = { filename: { type: 'string', short: 'f' }, 'dry-run': { type: 'string' }, output: { type: 'string', short: 'o' }, context: { type: 'string' }, server: { type: 'string' }, 'certificate-authority': { type: 'string' } } as const;

/** Runs one word; data goes to standard output, everything else to standard error. */
export async function run(word: string, args: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  const { values, positionals } = parsed(args);
  switch (word) {
    case 'login': return login(positionals[0], { name: values.context, authority: authorityOf(values) }, environment);
    case 'logout': return logout(values.context, environment);
    case 'kubeconfig': return kubeconfig(environment, { wanted: values.context, server: values.server, authority: authorityOf(values), file: values.filename });
    case 'credential': return void process.stdout.write(await credential(environment, values.context, say));
    case 'whoami': {
      const { metadata, status } = await new Service(environment, values.context).ask('GET', 'accounts/~');
      return void process.stdout.write(plain(`${status.email.address} (${metadata.name})\n`));
    }
    default: {
      if (!values.filename) throw new Failure('create takes a file: vestibule create -f FILE', 2);
      const dry = values['dry-run'] ?? 'none';
      if (dry !== 'none' && dry !== 'server') throw new Failure('--dry-run is server or none', 2);
      if (values.output !== undefined && values.output !== 'json' && values.output !== 'yaml') throw new Failure('-o is json or yaml', 2);
      return void process.stdout.write(plain(await create(new Service(environment, values.context), { file: values.filename, dryRun: dry === 'server', output: values.output })));
    }
  }
}

function parsed(args: readonly string[]) {
  try { return parseArgs({ args: [...args], options, allowPositionals: true }) } catch (error) { throw new Failure((error as Error).message, 2) }
}

const say = (text: string): void => void process.stderr.write(plain(text));

/** The text of the file that --certificate-authority names. */
function authorityOf({ 'certificate-authority': file }: { 'certificate-authority'?: string | undefined }): string | undefined {
  if (file === undefined) return undefined;
  try {
    const text = readFileSync(file, 'utf8');
    new X509Certificate(text).toString();   // throws where it is none; a bundle may hold more than the first
    return text;
  } catch (error) { throw new Failure(`--certificate-authority: ${file} is not a certificate in PEM (${(error as Error).message})`, 2);
  }
}

async function login(url: string | undefined, { name, authority }: { name: string | undefined; authority: string | undefined }, environment: NodeJS.ProcessEnv): Promise<void> {
  if (url === undefined || !URL.canParse(url)) throw new Failure('login takes the address of the service: vestibule login https://id.example.com', 2);
  const { origin: server, protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) throw new Failure('only https is spoken to other machines', 2);
  const context = await signIn({ server, ...(authority !== undefined && { certificateAuthority: authority }) }, say);
  const called = name ?? new URL(server).host;
  await changeContexts(contextsFile(environment), async ({ contexts }) => ({ after: { current: called, contexts: { ...contexts, [called]: context } }, result: undefined }));
  process.stderr.write(`Signed in to ${server}.\n`);
}

async function logout(name: string | undefined, environment: NodeJS.ProcessEnv): Promise<void> {
  await changeContexts(contextsFile(environment), async ({ current, contexts }) => {
    const called = name ?? environment.VESTIBULE_CONTEXT ?? current;
    if (called === undefined || !contexts[called]) throw new Failure('you are not signed in');
    const { [called]: gone, ...others } = contexts;
    await revoke(gone!);
    return { after: { ...(current !== undefined && current !== called && { current }), contexts: others }, result: undefined };
  });
  process.stderr.write('Signed out.\n');
}
