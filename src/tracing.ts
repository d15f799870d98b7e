/** Traces by the OpenTelemetry SDK. Loaded only where OTEL_EXPORTER_OTLP_ENDPOINT is set: `src/kit/trace.ts` is all that others see. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span as OtelSpan,
} from '@opentelemetry/api';
import { ExportResultCode, parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Logger } from './kit/log.ts';
import { sleep } from './kit/retry.ts';
import { traceBy, type Span, type SpanStart } from './kit/trace.ts';

interface TracingOptions {
  log: Logger;
  role: string;
  /** Of a collector, whatever signal. */
  endpoint: string;
  /** Hosts that are told of the trace; `*` is all. */
  tellTo: readonly string[];
}

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  work: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};
/** What is not sent by then when the process ends is lost: nobody waits longer for a collector. */
const flushMs = 2_000;

/** Begins to trace. The SDK reads the other OTEL_* variables itself. Answers with what sends the rest at the end. */
export function startTracing({ log, role, endpoint, tellTo }: TracingOptions): () => Promise<void> {
  const named = resourceFromAttributes({
    'service.name': 'svc',
    'service.version': releaseOf(),
    'service.instance.id': crypto.randomUUID(),
    'svc.role': role,
  });
  const fromVariables = detectResources({ detectors: [envDetector] });
  // The SDK knows no OTEL_EXPORTER_OTLP_ENDPOINT_FILE.
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] ??= endpoint;
  const provider = new BasicTracerProvider({
    resource: defaultResource().merge(named).merge(fromVariables),
    spanProcessors: [new BatchSpanProcessor(toldOnce(new OTLPTraceExporter(), log))],
  });
  const tracer = provider.getTracer('svc');
  const told = new Set(tellTo);
  traceBy({
    start: ({ name, kind, parent, attributes = {} }: SpanStart) =>
      new TracedSpan(tracer.startSpan(name, { kind: kinds[kind], attributes }, contextOf(parent))),
    tells: (host) => told.has('*') || told.has(host) || told.has(host.replace(/:\d+$/, '')),
  });
  return async () => {
    const over = new AbortController();
    await Promise.race([provider.shutdown().catch(() => undefined), sleep(flushMs, over.signal)]);
    over.abort();
  };
}

/** What is not a traceparent begins a trace. */
function contextOf(parent: string | undefined): Context {
  const remote = parent === undefined ? null : parseTraceParent(parent);
  return remote ? trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true }) : ROOT_CONTEXT;
}

class TracedSpan implements Span {
  readonly #span: OtelSpan;

  constructor(span: OtelSpan) {
    this.#span = span;
  }

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.#span.spanContext();
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  }

  rename(name: string): void {
    this.#span.updateName(name);
  }

  note(attributes: Parameters<Span['note']>[0]): void {
    this.#span.setAttributes(attributes);
  }

  end(fault?: string): void {
    if (fault !== undefined) {
      this.#span.setAttribute('error.type', fault);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}

/** A collector that is away costs spans, and one line when it begins and when it is over. */
function toldOnce(exporter: OTLPTraceExporter, log: Logger): SpanExporter {
  let isAway = false;
  return {
    export(spans, done) {
      exporter.export(spans, ({ code, error }) => {
        const failed = code !== ExportResultCode.SUCCESS;
        if (failed && !isAway)
          log.warn(
            { reason: error?.message },
            'traces cannot be sent to the collector; they are dropped until it answers',
          );
        if (!failed && isAway) log.info('traces are sent to the collector again');
        isAway = failed;
        done({ code: ExportResultCode.SUCCESS });
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}

function releaseOf(): string {
  const text = readFileSync(join(import.meta.dirname, '../package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
