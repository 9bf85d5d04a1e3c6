import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * better-auth with its email OTP plugin on node:sqlite: durable, its lookup columns indexed, no
 * limits, mail that goes nowhere.
 */
const find = createRequire(join(process.env.MODULES!, 'x.js'));
const load = (name: string): Promise<any> => import(pathToFileURL(find.resolve(name)).href);
const [{ betterAuth }, { emailOTP }, { toNodeHandler }, { getMigrations }, { DatabaseSync }] =
  await Promise.all([
    load('better-auth'),
    load('better-auth/plugins'),
    load('better-auth/node'),
    load('better-auth/db/migration'),
    import('node:sqlite' as string),
  ]);

const database = new DatabaseSync(join(process.env.FOLDER!, 'peer.sqlite'));
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
const server = createServer();
server.keepAliveTimeout = 65_000;
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve);
});
const { port } = server.address() as AddressInfo;
const auth = betterAuth({
  baseURL: `http://localhost:${port}`,
  secret: 'a secret of the bench, long enough',
  database,
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  logger: { disabled: true },
  plugins: [emailOTP({ generateOTP: () => '123456', sendVerificationOTP: async () => {} })],
});
await (await getMigrations(auth.options)).runMigrations();
for (const [table, column] of [
  ['user', 'email'],
  ['session', 'token'],
  ['session', 'userId'],
  ['verification', 'identifier'],
  ['account', 'userId'],
]) {
  database.exec(
    `CREATE INDEX IF NOT EXISTS "bench_${table}_${column}" ON "${table}" ("${column}")`,
  );
}
server.on('request', toNodeHandler(auth));
process.stdout.write(`ready ${port}\n`);
