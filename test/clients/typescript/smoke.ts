// What an app's developer writes with openapi-typescript and openapi-fetch.
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.js';

type Group = components['schemas']['Group'];

const [baseUrl, token] = process.argv.slice(2) as [string, string];
const headers = { Authorization: `Bearer ${token}` };
const client = createClient<paths, 'application/json'>({ baseUrl, headers });

function found<T>({ data, error }: { data?: T | undefined; error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

const list = found(
  await client.GET('/api/v1beta1/groups', { params: { query: { limit: 10, watch: false } } }),
);
const names: string[] = list.items.map(({ metadata }) => metadata.name);

const created: Group = found(
  await client.POST('/api/v1beta1/groups', {
    params: { query: { fieldValidation: 'Strict' } },
    body: { metadata: { name: 'typed' }, spec: { displayName: 'Typed', members: [] } },
  }),
);
const changed: Group = found(
  await client.PATCH('/api/v1beta1/groups/{name}', {
    params: { path: { name: created.metadata.name } },
    headers: { 'Content-Type': 'application/merge-patch+json' },
    body: { spec: { displayName: 'Retyped' } },
  }),
);
const dry = await client.DELETE('/api/v1beta1/groups/{name}', {
  params: { path: { name: 'typed' }, query: { dryRun: 'All' } },
});
const refused = await client.POST('/api/v1beta1/groups', {
  body: { metadata: { name: 'typed' }, spec: { displayName: 'Again' } },
});
const gone = found(
  await client.DELETE('/api/v1beta1/groups/{name}', { params: { path: { name: 'typed' } } }),
);
console.log(
  JSON.stringify({
    names,
    displayName: changed.spec.displayName,
    dry: dry.response.status,
    refused: refused.error?.reason,
    gone: gone.status,
  }),
);
