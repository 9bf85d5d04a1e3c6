import { tooManyRequests } from '../../registry/status/status.js';
import { hasBody } from '../http/headers.js';
import type { MemoryGuard } from '../http/memory-guard.js';
import type { ApiRequest, ApiResponse, ParsedRequest } from '../http/message.js';
import { isWatchRequest } from '../request/request-info.js';
import type { Step } from './step.js';

/** The maximum numbers of requests in flight. */
export interface InFlightLimits {
  readonly reads: number;
  readonly changes: number;
}

/**
 * Limits the requests in flight. A request whose body is still arriving holds no slot, so that slow
 * senders cannot block changes. At most twice as many bodies arrive as changes may run; beyond
 * that, the oldest connection is closed.
 */
export class InFlight {
  reads = 0;
  changes = 0;
  readonly #memory: MemoryGuard;
  readonly #max: InFlightLimits;
  readonly #arriving = new Set<ApiRequest>();

  constructor(memory: MemoryGuard, max: InFlightLimits = { reads: 400, changes: 200 }) {
    this.#memory = memory;
    this.#max = max;
  }

  /**
   * Limits memory and requests in flight, provider and pages included, except watches and health
   * checks (docs/design/operations.md#requests-in-flight).
   */
  readonly step: Step<ParsedRequest> = (req, res) => {
    const { requestInfo } = req;
    if (requestInfo.type === 'health') return;
    if (isWatchRequest(requestInfo)) return this.#memory.refuseWatch();
    this.#memory.refuseBody(Number(req.headers['content-length'] ?? 0));
    req.memory = this.#memory;
    this.enter(req, res);
  };

  /** Takes a slot until the response ends; throws 429 if none is left. */
  enter(req: ApiRequest, res: ApiResponse): void {
    const kind = req.method === 'GET' || req.method === 'HEAD' ? 'reads' : 'changes';
    if (this[kind] >= this.#max[kind]) throw tooManyRequests(1, 'too many requests are in flight');
    this[kind] += 1;
    const slot = { isHeld: true, isEnded: false };
    res.once('close', () => {
      slot.isEnded = true;
      this.#arriving.delete(req);
      if (slot.isHeld) this[kind] -= 1;
    });
    if (req.complete || !hasBody(req)) return;
    setImmediate(() => {
      if (slot.isEnded || req.complete) return;
      slot.isHeld = false;
      this[kind] -= 1;
      this.#trackArriving(req);
      req.once('end', () => {
        if (slot.isEnded || !this.#arriving.delete(req)) return;
        slot.isHeld = true;
        this[kind] += 1;
      });
    });
  }

  #trackArriving(req: ApiRequest): void {
    this.#arriving.add(req);
    if (this.#arriving.size <= 2 * this.#max.changes) return;
    const [oldest] = this.#arriving;
    if (!oldest) return;
    this.#arriving.delete(oldest);
    oldest.socket.destroy();
  }
}
