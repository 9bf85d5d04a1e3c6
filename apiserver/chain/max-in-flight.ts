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

/** The slot of a request, which it gives back while its body arrives, and when its response closes. */
class Slot {
  readonly #inFlight: InFlight;
  readonly #counter: keyof InFlightLimits;
  #isHeld = false;

  constructor(inFlight: InFlight, counter: keyof InFlightLimits) {
    this.#inFlight = inFlight;
    this.#counter = counter;
  }

  /** Takes the slot, after a body also beyond the limit. */
  take(): void {
    this.#isHeld = true;
    this.#inFlight[this.#counter] += 1;
  }

  giveBack(): void {
    if (this.#isHeld) this.#inFlight[this.#counter] -= 1;
    this.#isHeld = false;
  }
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
    const counter = req.method === 'GET' || req.method === 'HEAD' ? 'reads' : 'changes';
    if (this[counter] >= this.#max[counter]) {
      throw tooManyRequests(1, 'too many requests are in flight');
    }
    const slot = new Slot(this, counter);
    slot.take();
    let isClosed = false;
    res.once('close', () => {
      isClosed = true;
      this.#arriving.delete(req);
      slot.giveBack();
    });
    if (req.complete || !hasBody(req)) return;
    // A body that came with the head has ended by then.
    setImmediate(() => {
      if (isClosed || req.complete) return;
      slot.giveBack();
      this.#trackArriving(req);
      req.once('end', () => {
        if (this.#arriving.delete(req)) slot.take();
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
