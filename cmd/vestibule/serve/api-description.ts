import type { ApiDescription } from '../../../apiserver/discovery/api-description.js';
import { version } from '../../../kinds/define-kind.js';

/** The stability of the version, as the document describes it (docs/design/api.md#versions). */
const versioningNotice = `The version served is ${version}. It may change without notice. It is to become v1beta1, then v1.`;

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
};

/** The name of this service in events, versions and managed fields. */
export const component = 'vestibule';
