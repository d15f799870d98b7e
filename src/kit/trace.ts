import { AsyncLocalStorage } from 'node:async_hooks';

export type Attributes = Record<string, string | number | boolean | undefined>;

/** A stretch of a trace. */
export interface Span {
  /** As W3C writes it, for whoever continues the trace. */
  readonly traceparent: string;
  rename(name: string): void;
  note(attributes: Attributes): void;
  /** `fault` is a short word of ours, never what somebody else said. */
  end(fault?: string): void;
}

export interface SpanStart {
  name: string;
  kind: 'server' | 'client' | 'work' | 'internal';
  /** What it continues; without a valid one it begins a trace. */
  parent?: string | undefined;
  attributes?: Attributes;
}

/** Makes spans and sends them away. `src/tracing.ts` makes one by OpenTelemetry. */
export interface Tracer {
  start(given: SpanStart): Span;
  /** Whether the other side is told of the trace. */
  tells(host: string): boolean;
}

let tracer: Tracer | undefined;
const current = new AsyncLocalStorage<Span>();

/** Once, before the rooms are built. Without it everything here is one comparison. */
export function traceBy(made: Tracer): void {
  tracer = made;
}

export function isTracing(): boolean {
  return tracer !== undefined;
}

/** The span in which the caller runs, to be kept with work that others do later. */
export function currentTrace(): string | undefined {
  return tracer && current.getStore()?.traceparent;
}

/** Undefined where nothing is traced. By default it is part of the span in which the caller runs. */
export function startSpan({ parent = currentTrace(), ...given }: SpanStart): Span | undefined {
  return tracer?.start({ ...given, parent });
}

export function runIn<Result>(span: Span | undefined, work: () => Result): Result {
  return span ? current.run(span, work) : work();
}

/** A span for as long as the work takes. */
export function inSpan<Result>(given: SpanStart, work: () => Promise<Result>): Promise<Result> {
  const span = startSpan(given);
  return span ? during(span, work) : work();
}

async function during<Result>(span: Span, work: () => Promise<Result>): Promise<Result> {
  try {
    const result = await runIn(span, work);
    span.end();
    return result;
  } catch (error) {
    span.end(faultOf(error));
    throw error;
  }
}

/** What the span in which the caller runs is about. */
export function noteInSpan(attributes: Attributes): void {
  if (tracer) current.getStore()?.note(attributes);
}

/** The other side's part of a trace, as headers. */
export function toldHeaders(span: Span, host: string): Record<string, string> {
  return tracer?.tells(host) ? { traceparent: span.traceparent } : {};
}

function faultOf(error: unknown): string {
  const { code } = Object(error) as { code?: unknown };
  if (typeof code === 'string') return code;
  return error instanceof Error ? error.name : 'error';
}
