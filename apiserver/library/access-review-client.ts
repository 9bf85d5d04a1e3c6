import { type ClientRequest, type IncomingMessage, request as requestPlain } from 'node:http';
import { Agent, request as requestSecure } from 'node:https';
import { isRecord } from '../../registry/schema/is-record.js';
import { isLoopback } from '../../security/loopback.js';

/** How a kube-apiserver is reached; files that are renewed are functions that read them. */
export interface KubeApiServer {
  /** The address, such as `https://10.96.0.1:443`. */
  readonly server: string;
  /** The CA certificates of its serving certificate, in PEM; by default those of Node. */
  readonly ca?: string | (() => string) | undefined;
  /** The bearer token. */
  readonly token?: string | (() => string) | undefined;
  /** The client certificate and its key in PEM, instead of a token. */
  readonly certificate?: { readonly cert: string; readonly key: string } | undefined;
  /** Milliseconds until an answer must be there; 10,000 by default. */
  readonly timeoutMs?: number | undefined;
}

/** The status of a SubjectAccessReview (authorization.k8s.io/v1). */
export interface AccessReviewStatus {
  readonly allowed: boolean;
  readonly reason: string;
}

/** An answer other than a review, with its status code. */
class AnswerError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const maxAnswerBytes = 1 << 20;
const valueOf = (given: string | (() => string) | undefined): string | undefined =>
  typeof given === 'function' ? given() : given;

/** Asks a kube-apiserver for SubjectAccessReviews. */
export class AccessReviewClient {
  readonly #options: KubeApiServer;
  readonly #url: URL;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 32 });

  /** Throws an Error for an address that would send the token in the clear. */
  constructor(options: KubeApiServer) {
    this.#options = options;
    this.#url = new URL(path, options.server);
    const { protocol, hostname } = this.#url;
    if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname))) {
      throw new Error(
        `the kube-apiserver must be an https URL, or on loopback (got ${options.server})`,
      );
    }
  }

  /**
   * Returns the status of a review; tries once more if the connection fails or the server cannot
   * answer. Throws an Error that says why there is none.
   */
  async review(spec: object): Promise<AccessReviewStatus> {
    const signal = AbortSignal.timeout(this.#options.timeoutMs ?? 10_000);
    return this.#ask(spec, signal).catch((error: unknown) => {
      const isFinal = error instanceof AnswerError && error.code < 500 && error.code !== 429;
      if (isFinal || signal.aborted) throw error;
      return this.#ask(spec, signal);
    });
  }

  async #ask(spec: object, signal: AbortSignal): Promise<AccessReviewStatus> {
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
    const request = this.#request(signal);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve).once('error', reject).end(JSON.stringify(review));
    });
    const text = await textOf(response);
    const { statusCode = 0 } = response;
    if (statusCode !== 200 && statusCode !== 201) {
      throw new AnswerError(statusCode, `the kube-apiserver responded with ${statusCode}`);
    }
    return statusOf(text);
  }

  /** Begins a request, with token and CA as they are now. */
  #request(signal: AbortSignal): ClientRequest {
    const { ca, token, certificate } = this.#options;
    const bearer = valueOf(token)?.trim();
    const options = {
      method: 'POST',
      signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      },
    };
    if (this.#url.protocol === 'http:') return requestPlain(this.#url, options);
    const authorities = valueOf(ca);
    return requestSecure(this.#url, {
      ...options,
      agent: this.#agent,
      ...(authorities !== undefined && { ca: authorities }),
      ...certificate,
    });
  }
}

/** Returns the body of an answer; throws if it is longer than any review. */
async function textOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of response) {
    const bytes = Buffer.from(part);
    length += bytes.length;
    if (length > maxAnswerBytes) throw new Error('the answer of the kube-apiserver is too long');
    parts.push(bytes);
  }
  return Buffer.concat(parts).toString();
}

function statusOf(text: string): AccessReviewStatus {
  const review: unknown = JSON.parse(text);
  const status = isRecord(review) && isRecord(review.status) ? review.status : {};
  const { allowed, denied, reason } = status;
  if (typeof allowed !== 'boolean') {
    throw new Error('the answer of the kube-apiserver is no SubjectAccessReview');
  }
  return {
    allowed: allowed && denied !== true,
    reason: typeof reason === 'string' ? reason : '',
  };
}
