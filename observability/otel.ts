import { AsyncLocalStorage } from 'node:async_hooks';
import {
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { release } from './build-info.js';
import type { Log } from './log.js';
import type { Attributes, SpanName, Tracer } from './tracer.js';

const spanKinds: Readonly<Partial<Record<SpanName, SpanKind>>> = {
  mail: SpanKind.CLIENT,
  'claims review': SpanKind.CLIENT,
  commit: SpanKind.CLIENT,
};

/**
 * How long a stop waits for the collector to accept the last spans, in milliseconds, so that a slow
 * collector does not delay the exit (docs/design/operations.md#start-and-stop).
 */
const shutdownTimeoutMs = 2_000;

/**
 * Sends spans by OTLP over http to `OTEL_EXPORTER_OTLP_ENDPOINT`, following the other variables of
 * the OpenTelemetry specification. Samples the fraction `OTEL_TRACES_SAMPLER_ARG` of traces that
 * start here, by default all. Failures are logged.
 */
export function startTracing(environment: NodeJS.ProcessEnv, log: Log): Tracer {
  const ignore = (): void => {};
  diag.setLogger(
    {
      error: (message) => log.warn({ reason: message }, 'traces could not be sent'),
      warn: ignore,
      info: ignore,
      debug: ignore,
      verbose: ignore,
    },
    DiagLogLevel.ERROR,
  );
  const samplingRatio = Number(environment.OTEL_TRACES_SAMPLER_ARG ?? 1);
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.name': environment.OTEL_SERVICE_NAME ?? 'vestibule',
        'service.version': release,
      }),
    ),
    sampler: new ParentBasedSampler({
      root: new TraceIdRatioBasedSampler(Number.isFinite(samplingRatio) ? samplingRatio : 1),
    }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  return new OtelTracer(provider);
}

/** Creates each span within the current one. Outside of requests, only mails start a trace. */
class OtelTracer implements Tracer {
  readonly #provider: TracerProvider;
  readonly #tracer;
  readonly #active = new AsyncLocalStorage<Span>();

  constructor(provider: TracerProvider) {
    this.#provider = provider;
    this.#tracer = provider.getTracer('vestibule', release);
  }

  get traceID(): string | undefined {
    return this.#active.getStore()?.spanContext().traceId;
  }

  request(traceparent: string | undefined, work: () => Promise<void>): Promise<void> {
    const remote = traceparent === undefined ? undefined : parentOf(traceparent);
    const span = this.#tracer.startSpan(
      'request',
      { kind: SpanKind.SERVER },
      remote ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT,
    );
    return this.#within(span, work);
  }

  describeRequest(name: string, code: number, attributes: Attributes): void {
    const span = this.#active.getStore();
    span?.updateName(name).setAttributes({ ...attributes, 'http.response.status_code': code });
    if (code >= 500) span?.setStatus({ code: SpanStatusCode.ERROR });
  }

  step<T>(step: SpanName, work: () => T, attributesOf?: (result: Awaited<T>) => Attributes): T {
    const parent = this.#active.getStore();
    if (!parent && step !== 'mail') return work();
    const span = this.#tracer.startSpan(
      step,
      { kind: spanKinds[step] ?? SpanKind.INTERNAL },
      parent ? trace.setSpan(ROOT_CONTEXT, parent) : ROOT_CONTEXT,
    );
    return this.#within(span, work, attributesOf);
  }

  /** Sends the remaining spans; rejects if the collector does not accept them in time. */
  async stop(): Promise<void> {
    const timeout = AbortSignal.timeout(shutdownTimeoutMs);
    await Promise.race([
      this.#provider.shutdown(),
      new Promise((_, reject) => {
        timeout.onabort = () =>
          reject(
            new Error(
              `the collector did not accept the last spans within ${shutdownTimeoutMs / 1000} s`,
            ),
          );
      }),
    ]);
  }

  #within<T>(span: Span, work: () => T, attributesOf?: (result: Awaited<T>) => Attributes): T {
    const onSuccess = (result: Awaited<T>): Awaited<T> => {
      if (attributesOf) span.setAttributes(attributesOf(result));
      span.end();
      return result;
    };
    const onFailure = (error: unknown): never => {
      span
        .setAttribute('error.type', error instanceof Error ? error.name : typeof error)
        .setStatus({ code: SpanStatusCode.ERROR })
        .end();
      throw error;
    };
    let result: T;
    try {
      result = this.#active.run(span, work);
    } catch (error) {
      return onFailure(error);
    }
    return result instanceof Promise
      ? (result.then(onSuccess, onFailure) as T)
      : onSuccess(result as Awaited<T>);
  }
}

const traceparentPattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Parses `traceparent` (W3C Trace Context 1); returns undefined if it is malformed. */
function parentOf(traceparent: string): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = '00'] = traceparentPattern.exec(traceparent) ?? [];
  if (!/[1-9a-f]/.test(traceId) || !/[1-9a-f]/.test(spanId)) return undefined;
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
  };
}
