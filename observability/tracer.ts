/**
 * Attributes of a span. They never identify anyone: no name of a person, an object or an address
 * (docs/design/security.md#logs).
 */
export type Attributes = Record<string, string | number | boolean>;

/**
 * The steps with spans of their own, within a request or after it
 * (docs/design/operations.md#traces).
 */
export type SpanName = 'authenticate' | 'policy' | 'commit' | 'mail' | 'claims review' | 'provider';

/** Records spans. */
export interface Tracer {
  /**
   * Runs a request in a span, as part of the trace in `traceparent` (W3C Trace Context) if present.
   */
  request(traceparent: string | undefined, work: () => Promise<void>): Promise<void>;
  /** Sets the name, status code and attributes of the current request's span. */
  describeRequest(name: string, code: number, attributes: Attributes): void;
  /** Runs a step in a span; `attributesOf` returns attributes from its result. */
  step<T>(step: SpanName, work: () => T, attributesOf?: (result: Awaited<T>) => Attributes): T;
  /** The id of the current trace. */
  readonly traceID: string | undefined;
  /** Sends the remaining spans. */
  stop(): Promise<void>;
}

let tracer: Tracer | undefined;

/** Sets the tracer of this process; undefined disables tracing. */
export const setTracer = (newTracer: Tracer | undefined): void => {
  tracer = newTracer;
};

/** Returns the tracer of this process, if tracing is enabled. */
export const getTracer = (): Tracer | undefined => tracer;

/** Runs a step, in a span if tracing is enabled. */
export const withSpan = <T>(
  step: SpanName,
  work: () => T,
  attributesOf?: (result: Awaited<T>) => Attributes,
): T => (tracer ? tracer.step(step, work, attributesOf) : work());
