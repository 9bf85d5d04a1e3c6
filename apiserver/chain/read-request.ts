import type { Registry } from '../../registry/store/registry.js';
import { checkParameters } from '../codec/query.js';
import type { ParsedRequest } from '../http/message.js';
import type { ApiPaths } from '../request/api-paths.js';
import { parseRequest } from '../request/request-info.js';
import type { Step } from './step.js';

/** Parses method, path and query of the request; throws 400, 404, 405 or 406. */
export const readRequestInfo =
  (registry: Registry, paths: ApiPaths): Step =>
  (req) => {
    req.requestInfo = parseRequest(req, registry, paths);
  };

/** Refuses a malformed query. Runs after authorization, so that strangers learn nothing from it. */
export const checkQuery: Step<ParsedRequest> = (req) => {
  checkParameters(req.requestInfo);
};
