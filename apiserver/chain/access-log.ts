import type { Socket } from 'node:net';
import type { Log } from '../../observability/log.js';
import type { ApiServerMetrics } from '../../observability/metrics/api-server-metrics.js';
import { getTracer } from '../../observability/tracer.js';
import type { StatusError } from '../../registry/status/status.js';
import type { Keys } from '../../security/keyring.js';
import { clientNetwork } from '../http/client-network.js';
import type { ApiRequest, ApiResponse } from '../http/message.js';
import type { RequestHeaderAuthenticator } from '../requestheader/authenticator.js';
import { type AuditSink, auditEvent, signInFacts } from './audit.js';
import { countRequest } from './metrics.js';
import { nameSpan } from './tracing.js';

/** The destinations of request records. */
export interface AccessLogParts {
  readonly log: Log;
  readonly keys: Keys;
  /** Absent without a metrics port. */
  readonly metrics?: ApiServerMetrics;
  readonly audit?: AuditSink;
}

/** Writes each answered request to the metrics, the audit log, the trace and the log. */
export class AccessLog {
  readonly #parts: AccessLogParts;
  readonly #frontProxy: RequestHeaderAuthenticator;
  readonly #group: string;

  /** `group` is the API group, the prefix of annotations in the audit log. */
  constructor(parts: AccessLogParts, frontProxy: RequestHeaderAuthenticator, group: string) {
    this.#parts = parts;
    this.#group = group;
    this.#frontProxy = frontProxy;
  }

  /** Counts, audits and logs a response; `startedAt` is in ms since the epoch. */
  record(req: ApiRequest, res: ApiResponse, durationMs: number, startedAt: number): void {
    const { metrics, audit } = this.#parts;
    if (metrics) countRequest(metrics, req, res, durationMs);
    const event =
      audit &&
      auditEvent(req, res, startedAt, startedAt + durationMs, {
        group: this.#group,
        hide: this.#hideAddress,
      });
    if (event) audit.write(event);
    nameSpan(req, res);
    this.#log(req, res, durationMs);
    const signIn = signInFacts(req, this.#hideAddress);
    if (signIn) {
      this.#parts.log.info(
        { auditID: req.auditID, ...signIn, network: req.network },
        'sign-in event',
      );
    }
  }

  /** Reads at debug, changes and refusals at info (docs/design/operations.md#logs). */
  #log(req: ApiRequest, res: ApiResponse, milliseconds: number): void {
    const level =
      res.statusCode < 400 && (req.method === 'GET' || req.method === 'HEAD') ? 'debug' : 'info';
    if (!this.#parts.log.isLevelEnabled(level)) return;
    const { requestInfo, caller } = req;
    const resource = requestInfo?.type === 'resource' ? requestInfo : undefined;
    this.#parts.log[level](
      {
        auditID: req.auditID,
        traceID: getTracer()?.traceID,
        method: req.method,
        code: res.statusCode,
        milliseconds: Math.round(milliseconds * 10) / 10,
        ...(resource
          ? {
              verb: resource.verb,
              resource: resource.kind.resource,
              subresource: resource.subresource,
            }
          : { type: requestInfo?.type }),
        account: caller?.owner,
        client: req.clientName,
        user: this.#userOf(req),
      },
      'request',
    );
  }

  /**
   * Logs a connection that ended before a request was read. Browsers open such connections in
   * advance.
   */
  unread(
    socket: Socket,
    refusal?: { readonly status: StatusError; readonly auditID: string },
  ): void {
    const network = clientNetwork({ socket, headers: {} }, undefined);
    if (!refusal) {
      return this.#parts.log.debug({ network }, 'connection closed before a request came');
    }
    this.#parts.log.info(
      { network, auditID: refusal.auditID, code: refusal.status.code, why: refusal.status.message },
      'request could not be read',
    );
  }

  /** Returns the cluster user that a front proxy asserts, authorized or not. */
  #userOf(req: ApiRequest): string | undefined {
    const caller = req.assertedHeaders && this.#frontProxy.caller(req);
    return caller?.type === 'ClusterUser' ? this.#hideAddress(caller.user) : undefined;
  }

  /** Replaces an email address by its keyed hash (docs/design/security.md#logs). */
  readonly #hideAddress = (text: string): string =>
    text.includes('@')
      ? `address:${this.#parts.keys.mac('logged address', text).toString('hex').slice(0, 16)}`
      : text;
}
