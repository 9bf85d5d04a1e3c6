import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { openapi } from '../../apiserver/discovery/openapi.js';
import { apiDescription } from '../../cmd/vestibule/serve/api-description.js';
import { servedVersions } from '../../kinds/api-version.js';
import { actions, kinds } from '../../kinds/index.js';
import { Registry } from '../../registry/store/registry.js';
import { inVersion } from '../../registry/store/registry-view.js';
import type { Answer } from './people/tab.js';

interface Operation {
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
}
type Document = { paths: Record<string, Record<string, Operation>>; components: unknown };

const registry = new Registry(kinds, actions);
const documents = new Map(
  servedVersions.map((version) => [
    version,
    openapi(inVersion(registry, version), 'test', apiDescription) as Document,
  ]),
);
// Each validator is used a few times in a suite: optimizing its code takes longer than it saves.
const ajv = new Ajv2020({ strict: false, allErrors: true, code: { optimize: false } });
(formats as unknown as (to: Ajv2020) => void)(ajv);
for (const [version, { components }] of documents) {
  ajv.addSchema({ $id: version, components }, version);
}

const validators = new Map<string, ValidateFunction>();
const patterns = [...documents]
  .flatMap(([version, { paths }]) =>
    Object.entries(paths).map(([path, operations]) => ({ version, path, operations })),
  )
  .map((known) => ({
    ...known,
    pattern: new RegExp(`^${known.path.replaceAll('{name}', '[^/]+')}$`),
  }))
  .sort((a, b) => b.path.length - a.path.length);

function validatorOf(
  { path, version }: (typeof patterns)[number],
  method: string,
  code: string,
  schema: object,
): ValidateFunction {
  const key = `${method} ${path} ${code}`;
  let validator = validators.get(key);
  if (!validator) {
    validators.set(
      key,
      (validator = ajv.compile(
        JSON.parse(
          JSON.stringify(schema).replaceAll('"#/components/', `"${version}#/components/`),
        ) as object,
      )),
    );
  }
  return validator;
}

/** Holds one answer of the API against the served OpenAPI document; throws where they differ. */
export function conforms(method: string, target: string, { code, body, headers }: Answer): void {
  const path = target.split('?')[0]!;
  const known = patterns.find(({ pattern }) => pattern.test(path));
  if (
    !known ||
    method === 'HEAD' ||
    (headers['transfer-encoding'] === 'chunked' && /watch=/.test(target))
  ) {
    return;
  }
  const operation = known.operations[method.toLowerCase()];
  if (!operation) return;
  const response = operation.responses[code];
  if (!response) {
    throw new Error(
      `${method} ${known.path} answered ${code}, which the OpenAPI document does not list`,
    );
  }
  const type =
    Object.keys(response.content ?? {}).find((key) => key.includes(`as=${body?.kind};`)) ??
    'application/json';
  const schema = response.content?.[type]?.schema;
  if (!schema || body === undefined) return;
  const validate = validatorOf(known, method, `${code} ${type}`, schema);
  if (!validate(body)) {
    throw new Error(
      `${method} ${known.path} answered ${code} with a body that is not the document's: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body).slice(0, 600)}`,
    );
  }
}
