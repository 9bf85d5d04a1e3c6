import { group } from '../../api-version.js';

/** The names of the kind AccessRequest, for errors of files that it imports. */
export const accessRequestNaming = {
  kind: 'AccessRequest',
  resource: 'accessrequests',
  group,
} as const;
