import {
  type Cause,
  forbidden,
  invalidValue,
  kindsOf,
  openStorage,
  setList,
  startApiServer,
} from 'vestibule/apiserver';
import { z } from 'zod';

const { PORT = '8080', DATA_DIR = 'data/wardle', ETCD_SERVERS } = process.env;
const defineKind = kindsOf({ group: 'wardle.example.com', version: 'v1beta1' });
const verbs = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
] as const;

const Fischer = defineKind({
  kind: 'Fischer',
  resource: 'fischers',
  description: 'A Fischer disallows names of Flunders.',
  verbs,
  spec: z.object({
    disallowedFlunders: setList(z.array(z.string()))
      .default([])
      .describe('Names that no new Flunder may have.'),
  }),
  status: z.object({}),
  columns: {},
});

const references = { Flunder: 'flunderReference', Fischer: 'fischerReference' } as const;

const Flunder = defineKind({
  kind: 'Flunder',
  resource: 'flunders',
  scope: 'Namespaced',
  description: 'A Flunder refers to another one, or to a Fischer.',
  verbs,
  spec: z.object({
    flunderReference: z.string().optional().describe('The name of another Flunder.'),
    fischerReference: z.string().optional().describe('The name of a Fischer.'),
    referenceType: z.enum(['Flunder', 'Fischer']).optional().describe('Which of the two it is.'),
  }),
  status: z.object({}),
  columns: {},
  strategy: {
    validate({ spec }): Cause[] {
      const wrong = (field: string, detail: string): Cause[] => [
        invalidValue(`spec.${field}`, detail),
      ];
      if (spec.flunderReference && spec.fischerReference) {
        return wrong('fischerReference', 'cannot be set with flunderReference at the same time');
      }
      for (const type of ['Flunder', 'Fischer'] as const) {
        const field = references[type];
        const isOfType = spec.referenceType === type;
        if (spec[field] && !isOfType) {
          return wrong(field, `cannot be set if referenceType is not ${type}`);
        }
        if (!spec[field] && isOfType) {
          return wrong(field, `cannot be empty if referenceType is ${type}`);
        }
      }
      return [];
    },
    async beforeCommit(tx, next, old) {
      if (next === undefined || old !== undefined) return;
      const { name } = next.metadata;
      const banning = await tx.list(Fischer, ({ spec }) => spec.disallowedFlunders.includes(name));
      if (banning.length > 0) throw forbidden('this name may not be used', Flunder, name);
    },
  },
});

const server = await startApiServer({
  kinds: [Flunder, Fischer],
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
