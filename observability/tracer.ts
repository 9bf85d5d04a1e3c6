/**
 * What a span says of itself; never of whom: no name of a person, an object or an address
 * (docs/design/security.md#logs).
 */
export type Attributes = Record<string, string | number | boolean>;

/**
 * The steps that have spans of their own, within a request or behind it
 * (docs/design/operations.md#traces).
 */
export type SpanName = 'authenticate' | 'policy' | 'commit' | 'mail' | 'claims review' | 'provider';

/** Anyone who writes spans down, where someone wants them. */
export interface Tracer {
  /**
   * A request, within the trace that `traceparent` names (W3C Trace Context) where there is one.
   */
  request(traceparent: string | undefined, work: () => Promise<void>): Promise<void>;
  /** What the request under way turned out to be. */
  answered(name: string, code: number, attributes: Attributes): void;
  /** A step of what is under way; `of` says more of what came of it. */
  step<T>(step: SpanName, work: () => T, of?: (result: Awaited<T>) => Attributes): T;
  /** The trace of what is under way. */
  readonly traceID: string | undefined;
  /** Sends what is still held. */
  stop(): Promise<void>;
}

let tracer: Tracer | undefined;

/**
 * From now on spans are written by this one, in all of this process; by no one where none is given.
 */
export const setTracer = (given: Tracer | undefined): void => {
  tracer = given;
};

/** Who writes spans down, if anyone does. */
export const getTracer = (): Tracer | undefined => tracer;

/** Does a step, within a span where someone wants them. */
export const withSpan = <T>(
  step: SpanName,
  work: () => T,
  of?: (result: Awaited<T>) => Attributes,
): T => (tracer ? tracer.step(step, work, of) : work());
