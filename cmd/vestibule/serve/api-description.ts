import type {
  ApiDescription,
  ServedDocument,
} from '../../../apiserver/discovery/api-description.js';
import { formerVersion, version } from '../../../kinds/api-version.js';
import { actions, kinds } from '../../../kinds/index.js';
import { cedarSchema } from '../../../policy/model/cedar-schema.js';
import { vocabularyOf } from '../../../policy/model/vocabulary.js';
import { schemaToJSON } from '../../../policy/parse/cedar.js';

/** The stability of the version, as the document describes it (docs/design/api.md#versions). */
const versioningNotice = `The version served is ${version}, and ${formerVersion} for programs that were written for it. It is to become v1.`;

const policySchema = (): string => cedarSchema(vocabularyOf(kinds, actions));

/** What policies may speak of, in both formats of Cedar (docs/design/policy.md#vocabulary). */
const policySchemaDocument: ServedDocument = {
  name: 'policyschema',
  summary: 'What policies may speak of: a Cedar schema, as text or as JSON.',
  formats: {
    'text/plain;charset=utf-8': () => Buffer.from(policySchema()),
    'application/json': () => schemaToJSON(policySchema()),
  },
};

/** What the OpenAPI documents say of this service. */
export const apiDescription: ApiDescription = {
  title: 'Vestibule',
  description: `Sign-in for an OpenID Connect provider, as a Kubernetes-style API. ${versioningNotice}`,
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  /** How callers authenticate; what anyone may see or do needs neither. */
  securitySchemes: {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description: 'An access token of this service with scope `api` (RFC 6750 §2.1).',
    },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: '__Host-vestibule-session',
      description: 'The session of a browser; its requests must come from this service’s pages.',
    },
  },
  documents: [policySchemaDocument],
};

/** The name of this service in events, versions and managed fields. */
export const component = 'vestibule';
