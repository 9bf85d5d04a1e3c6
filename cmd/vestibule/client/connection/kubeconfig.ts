import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Document, isMap, isSeq, parseDocument } from 'yaml';
import { CommandError } from '../../terminal/errors.js';
import { writeFileAtomically } from '../../terminal/files.js';
import type { Invocation } from '../../terminal/flags.js';
import { writeError } from '../../terminal/output.js';
import { contextsFile, findContext } from './contexts.js';
import { readAuthority } from './server-address.js';

/**
 * Writes a kubeconfig (client-go's clientcmd, v1) with the service as a cluster and this command as
 * its exec plugin. Adds the entries to an existing file, which then only its owner may read.
 */
export function writeKubeconfig({ flags, environment }: Invocation): void {
  const { server, filename: file } = flags;
  const { name, context } = findContext(contextsFile(environment), environment, flags.context);
  const address = clusterAddress(server ?? context.server);
  const ca = readAuthority(flags) ?? context.certificateAuthority;
  const entries = buildEntries(
    `vestibule-${name}`,
    {
      server: address,
      ...(ca !== undefined && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    },
    execPlugin(name, environment),
  );
  if (file === undefined || file === '-') {
    return void process.stdout.write(mergeEntries(entries, ''));
  }
  writeFileAtomically(
    file,
    mergeEntries(entries, existsSync(file) ? readFileSync(file, 'utf8') : ''),
  );
  writeError(`Wrote ${file}: KUBECONFIG=${file} kubectl get accounts\n`);
}

/** Returns the cluster address. Throws for http: kubectl would silently send no token. */
function clusterAddress(text: string): string {
  if (!URL.canParse(text)) {
    throw new CommandError('--server must be a URL such as https://id.example.com', 2);
  }
  const { origin, protocol } = new URL(text);
  if (protocol !== 'https:') {
    throw new CommandError(
      `kubectl sends no token to ${origin}: set the https address of the API with --server https://…, and --certificate-authority FILE if this machine does not trust its certificate`,
      2,
    );
  }
  return origin;
}

/** Returns the exec plugin: this program (client.authentication.k8s.io/v1, ExecConfig). */
function execPlugin(name: string, { VESTIBULE_CONTEXTS: config }: NodeJS.ProcessEnv): object {
  return {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: resolve(process.argv[1]!),
    args: ['credential', '--context', name],
    ...(config !== undefined && { env: [{ name: 'VESTIBULE_CONTEXTS', value: resolve(config) }] }),
    interactiveMode: 'IfAvailable',
    provideClusterInfo: false,
  };
}

interface Entry {
  readonly name: string;
  readonly [member: string]: unknown;
}
type Entries = Readonly<Record<'clusters' | 'users' | 'contexts', Entry>>;

const buildEntries = (name: string, cluster: object, exec: object): Entries => ({
  clusters: { name, cluster },
  users: { name, user: { exec } },
  contexts: { name, context: { cluster: name, user: name } },
});

/**
 * Adds the entries to a kubeconfig, replacing entries of the same name; the rest stays, comments
 * included.
 */
function mergeEntries(entries: Entries, text: string): string {
  const document: Document = parseDocument(
    text.trim() === '' ? 'apiVersion: v1\nkind: Config\n' : text,
  );
  if (document.errors.length > 0 || !isMap(document.contents)) {
    throw new CommandError('the file is not a kubeconfig; choose another file');
  }
  for (const [list, entry] of Object.entries(entries)) {
    const current = document.get(list);
    if (!isSeq(current)) document.set(list, document.createNode([entry]));
    else {
      const index = current.items.findIndex(
        (item) => isMap(item) && item.get('name') === entry.name,
      );
      current.items.splice(
        index < 0 ? current.items.length : index,
        index < 0 ? 0 : 1,
        document.createNode(entry),
      );
    }
  }
  document.set('current-context', entries.contexts.name);
  return document.toString();
}
