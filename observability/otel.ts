import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Span,
  type SpanContext,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Log } from './log.js';
import type { Attributes, SpanName, Tracer } from './tracer.js';
import { release } from './build-info.js';

const kinds: Readonly<Partial<Record<SpanName, SpanKind>>> = {
  mail: SpanKind.CLIENT,
  'claims review': SpanKind.CLIENT,
  commit: SpanKind.CLIENT,
};

/**
 * Milliseconds that a stop waits for a collector to take the last spans: a slow one is not to hold
 * up the end of a process (docs/design/operations.md#start-and-stop).
 */
const lastWait = 2_000;

/**
 * Sends spans by OTLP over http where `OTEL_EXPORTER_OTLP_ENDPOINT` says, with the other variables
 * of the OpenTelemetry specification; of traces that begin here so many in one as
 * `OTEL_TRACES_SAMPLER_ARG`, by default all. What goes wrong is told in the log.
 */
export function startTracing(environment: NodeJS.ProcessEnv, log: Log): Tracer {
  const nothing = (): void => {};
  diag.setLogger(
    {
      error: (message) => log.warn({ reason: message }, 'traces cannot be sent'),
      warn: nothing,
      info: nothing,
      debug: nothing,
      verbose: nothing,
    },
    DiagLogLevel.ERROR,
  );
  const share = Number(environment.OTEL_TRACES_SAMPLER_ARG ?? 1);
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.name': environment.OTEL_SERVICE_NAME ?? 'vestibule',
        'service.version': release,
      }),
    ),
    sampler: new ParentBasedSampler({
      root: new TraceIdRatioBasedSampler(Number.isFinite(share) ? share : 1),
    }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  return new Spans(provider);
}

/** Each span within the one under way; behind requests, mails alone begin a trace. */
class Spans implements Tracer {
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

  answered(name: string, code: number, attributes: Attributes): void {
    const span = this.#active.getStore();
    span?.updateName(name).setAttributes({ ...attributes, 'http.response.status_code': code });
    if (code >= 500) span?.setStatus({ code: SpanStatusCode.ERROR });
  }

  step<T>(step: SpanName, work: () => T, of?: (result: Awaited<T>) => Attributes): T {
    const parent = this.#active.getStore();
    if (!parent && step !== 'mail') return work();
    const span = this.#tracer.startSpan(
      step,
      { kind: kinds[step] ?? SpanKind.INTERNAL },
      parent ? trace.setSpan(ROOT_CONTEXT, parent) : ROOT_CONTEXT,
    );
    return this.#within(span, work, of);
  }

  /** Sends what is left; rejects where that is not taken in time. */
  async stop(): Promise<void> {
    const late = AbortSignal.timeout(lastWait);
    await Promise.race([
      this.#provider.shutdown(),
      new Promise((_, reject) => {
        late.onabort = () =>
          reject(new Error(`the collector did not take them within ${lastWait / 1000} s`));
      }),
    ]);
  }

  #within<T>(span: Span, work: () => T, of?: (result: Awaited<T>) => Attributes): T {
    const done = (result: Awaited<T>): Awaited<T> => {
      if (of) span.setAttributes(of(result));
      span.end();
      return result;
    };
    const failed = (error: unknown): never => {
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
      return failed(error);
    }
    return result instanceof Promise
      ? (result.then(done, failed) as T)
      : done(result as Awaited<T>);
  }
}

const form = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The span that `traceparent` names (W3C Trace Context 1); nothing where it is not well formed. */
function parentOf(traceparent: string): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = '00'] = form.exec(traceparent) ?? [];
  if (!/[1-9a-f]/.test(traceId) || !/[1-9a-f]/.test(spanId)) return undefined;
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
  };
}
