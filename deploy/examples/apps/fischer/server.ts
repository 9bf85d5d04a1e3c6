import {
  type Cause,
  invalidValue,
  kindsOf,
  openStorage,
  setList,
  startApiServer,
} from 'vestibule/apiserver';
import { z } from 'zod';

const { PORT = '8080', DATA_DIR = 'data/wardle', ETCD_SERVERS } = process.env;

const defineKind = kindsOf({
  group: 'wardle.example.com',
  version: 'v1alpha1',
  categories: ['fish'],
});

/** Names of objects (RFC 1123). */
const name = z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);

const Fischer = defineKind({
  kind: 'Fischer',
  resource: 'fischers',
  shortNames: ['fi'],
  description: 'A Fischer catches flunders, except those that it must not.',
  verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
  spec: z.object({
    disallowedFlunders: setList(z.array(name).max(100))
      .default([])
      .describe('Names of flunders that are not caught.'),
  }),
  status: z.object({}),
  columns: { Disallowed: ({ spec }) => spec.disallowedFlunders.join(',') },
  strategy: {
    validate({ metadata, spec }): Cause[] {
      const at = spec.disallowedFlunders.indexOf(metadata.name);
      if (at < 0) return [];
      return [
        invalidValue(`spec.disallowedFlunders[${at}]`, 'must not be the name of the Fischer'),
      ];
    },
  },
});

const server = await startApiServer({
  kinds: [Fischer],
  storage: await openStorage(
    ETCD_SERVERS === undefined
      ? { directory: DATA_DIR }
      : { servers: ETCD_SERVERS.split(','), prefix: '/wardle/' },
  ),
  port: Number(PORT),
});
console.log(`listening on ${server.url}`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void server.stop().then(() => process.exit(0)));
}
