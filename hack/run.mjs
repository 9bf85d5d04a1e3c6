import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const root = join(import.meta.dirname, '..');
const data = resolve(root, process.env.DATA ?? 'data');
const port = process.env.PORT ?? '8080';
const securePort = process.env.SECURE_PORT ?? (process.env.PORT === undefined ? '8443' : '0');
const notesPort = process.env.NOTES_PORT ?? '8090';
const boardPort = process.env.BOARD_PORT ?? '8091';
const toolsPort = process.env.TOOLS_PORT ?? '8092';
const given = process.argv.slice(2);
/** The operators that the arguments name; without any, the one whom a sample's Group names. */
const namedOperators = given
  .flatMap((one, i) => (one === '--operators' ? [given[i + 1]] : []))
  .concat(given.flatMap((one) => /^--operators=(.*)/.exec(one)?.[1] ?? []))
  .flatMap((one) => one?.split(',') ?? [])
  .map((one) => one.trim())
  .filter(Boolean);
const operators = namedOperators.length === 0 ? ['ada@example.test'] : namedOperators;
const etcd = given.some((one) => one.startsWith('--etcd-servers'));
const manifests = join(data, 'manifests');
mkdirSync(manifests, { recursive: true });

/** The Client of the first sample. Its secret is generated here; the service gets only the hash. */
const secret = randomBytes(32).toString('base64url');
const hash = createHash('sha256').update(secret).digest('hex');
writeFileSync(
  join(manifests, 'notes.yaml'),
  `apiVersion: id.vestibule.org/v1beta1
kind: Client
metadata: { name: notes }
spec:
  displayName: Notes
  homepageURI: http://localhost:${notesPort}/
  initiateLoginURI: http://localhost:${notesPort}/login
  redirectURIs: ["http://localhost:${notesPort}/callback"]
  postLogoutRedirectURIs: ["http://localhost:${notesPort}/"]
  backchannelLogoutURI: http://localhost:${notesPort}/backchannel-logout
  secretHashes: ["sha256:${hash}"]
  scopes:
    - { name: openid, required: true }
    - { name: email, required: true }
    - { name: profile }
    - { name: offline_access }
`,
);

/** Copies the manifests of a sample, with its port. */
function copyManifests(name, port, actualPort) {
  const folder = join(root, 'deploy/examples/apps', name, 'manifests');
  for (const file of readdirSync(folder)) {
    writeFileSync(
      join(manifests, `${name}-${file}`),
      readFileSync(join(folder, file), 'utf8')
        .replaceAll(`localhost:${port}`, `localhost:${actualPort}`)
        .replace('members: [ada@example.test]', `members: [${operators.join(', ')}]`),
    );
  }
}
copyManifests('board', 8091, boardPort);
copyManifests('tools', 8092, toolsPort);
const board = 'deploy/examples/apps/board';

/** The default policy and one more rule, which the consent screen of the second sample shows. */
const policy = `${execFileSync('bin/vestibule', ['policy'], { cwd: root, encoding: 'utf8' })}${readFileSync(join(root, board, 'policy.cedar'), 'utf8')}`;
writeFileSync(
  join(manifests, 'policy.yaml'),
  `apiVersion: id.vestibule.org/v1beta1
kind: Policy
spec:
  description: The policy the service comes with, and a rule about the board.
  cedar: |
${policy.replaceAll(/^(?=.)/gm, '    ')}`,
);

const keys = join(data, 'keys.json');
const children = [];
const start = (command, args, environment, onLine) => {
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  createInterface({ input: child.stdout }).on('line', onLine);
  child.on('exit', (code) => {
    if (!stopping) {
      console.error(`${args[0]} stopped (${code})`);
      stop(1);
    }
  });
  children.push(child);
  return child;
};
let stopping = false;
function stop(code) {
  if (stopping) return;
  stopping = true;
  process.exitCode = code;
  for (const child of children) child.kill('SIGTERM');
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stop(0));

if (etcd && !existsSync(keys)) {
  await new Promise((resolve) => {
    spawn('bin/vestibule', ['keys', 'new', keys], { cwd: root, stdio: 'inherit' }).on(
      'exit',
      resolve,
    );
  });
}
const store = etcd
  ? ['--keys-file', keys, '--allow-mock-mail']
  : ['--data-dir', data, '--secure-port', securePort];
start(
  process.execPath,
  [
    'bin/vestibule',
    'serve',
    '--mock-mail',
    '--port',
    port,
    '--manifests',
    manifests,
    '--log-level',
    process.env.LOG_LEVEL ?? 'warn',
    ...store,
    ...given,
  ],
  {},
  (line) => {
    const [, base, secure] = /^ready (\S+) \S+(?: (\S+))?/.exec(line) ?? [];
    if (!base) return console.log(line);
    const samples = {};
    const sampled = (note) => {
      const [, name, url] = /^(notes|board|tools) (\S+)$/.exec(note) ?? [];
      if (!name) return console.log(note);
      samples[name] = url;
      if (samples.notes && samples.board && samples.tools) welcome(base, secure, samples);
    };
    start(
      process.execPath,
      ['deploy/examples/apps/notes/server.mjs'],
      { ISSUER: base, CLIENT_ID: 'notes', CLIENT_SECRET: secret, PORT: notesPort },
      sampled,
    );
    start(
      process.execPath,
      [`${board}/server.mjs`],
      { ISSUER: base, CLIENT_ID: 'board', PORT: boardPort },
      sampled,
    );
    start(
      process.execPath,
      ['deploy/examples/apps/tools/server.mjs'],
      { ISSUER: base, PORT: toolsPort },
      sampled,
    );
  },
);

/** How this Node is called: by its path where the one on the path of most shells is older. */
const node = process.execPath.startsWith(root) ? process.execPath : 'node';

function welcome(base, secure, { notes, board, tools }) {
  console.log(`
  Vestibule   ${base}
  Notes       ${notes}    open this and sign in with any address
  Board       ${board}    groups, and claims of another service: try ada@example.test
  Tools       ${tools}    for ${node} deploy/examples/apps/tools/client.mjs
  Operator    ${operators[0]}    sign in with this address to manage the service
  Mailbox     ${base}/mailbox    test mailbox: your code arrives here
  Policy      ${base}/policy     the rules for every request
  Command     export PATH="${root}/bin:$PATH"    then: vestibule login ${base}
${secure ? `  kubectl     ${secure}    how: docs/how-to/kubectl.md\n` : ''}
  Stop with Ctrl-C.`);
}
