// An OpenTelemetry collector on loopback that keeps what it is sent over HTTP as JSON.

import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { type JsonObject, parseJson } from '../../src/lib/json.ts';
import { serveOnLoopback } from './loopback.ts';

export interface FakeCollector {
  readonly url: string;
  /** Everything that came, as text. */
  readonly text: () => string;
  readonly headers: readonly IncomingHttpHeaders[];
  readonly paths: readonly string[];
  /** In the order of their ends. */
  spans(): readonly CollectedSpan[];
  /** The points of a metric, by its name. */
  points(name: string): readonly CollectedPoint[];
  resource(): Readonly<Record<string, unknown>>;
  /** From now on every export is answered with this. */
  answerWith(status: number): void;
  close(): Promise<void>;
}

interface CollectedSpan {
  readonly name: string;
  readonly kind: 'server' | 'client' | 'other';
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly isError: boolean;
  /** Milliseconds since the epoch. */
  readonly startAt: number;
  readonly endAt: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}

interface CollectedPoint {
  readonly unit: string;
  readonly count: number;
  readonly sum: number;
  readonly bounds: readonly number[];
  readonly attributes: Readonly<Record<string, unknown>>;
}

export async function startCollector(): Promise<FakeCollector> {
  const bodies: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const paths: string[] = [];
  let status = 200;
  const server = createServer((request, response) => {
    void readText(request).then((text) => {
      headers.push(request.headers);
      paths.push(request.url ?? '');
      if (status === 200) bodies.push(text);
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  const { url, close } = await serveOnLoopback(server);
  const all = (...keys: readonly string[]): readonly JsonObject[] =>
    bodies.flatMap((body) => dig(parseJson(body), keys));
  return {
    url,
    text: () => bodies.join('\n'),
    headers,
    paths,
    spans: () => all('resourceSpans', 'scopeSpans', 'spans').map(readSpan),
    points: (name) =>
      all('resourceMetrics', 'scopeMetrics', 'metrics')
        .filter((metric) => metric.name === name)
        .flatMap((metric) =>
          dig(metric.histogram, ['dataPoints']).map((point) => readPoint(metric, point)),
        ),
    resource: () => readAttributes(dig(all('resourceSpans')[0]?.resource, ['attributes'])),
    answerWith(next) {
      status = next;
    },
    close,
  };
}

/** The objects below these lists, one in the other. */
function dig(value: unknown, [key, ...rest]: readonly string[]): readonly JsonObject[] {
  if (key === undefined) return [value as JsonObject];
  const list = (value as JsonObject | undefined)?.[key];
  return Array.isArray(list) ? list.flatMap((item) => dig(item, rest)) : [];
}

const KINDS: Readonly<Record<number, CollectedSpan['kind']>> = { 2: 'server', 3: 'client' };

function readSpan(span: JsonObject): CollectedSpan {
  const parent = span.parentSpanId;
  return {
    name: String(span.name),
    kind: KINDS[Number(span.kind)] ?? 'other',
    traceId: String(span.traceId),
    spanId: String(span.spanId),
    parentSpanId: parent === undefined ? undefined : String(parent),
    isError: (span.status as JsonObject | undefined)?.code === 2,
    startAt: Number(span.startTimeUnixNano) / 1e6,
    endAt: Number(span.endTimeUnixNano) / 1e6,
    attributes: readAttributes(dig(span, ['attributes'])),
  };
}

function readPoint(metric: JsonObject, point: JsonObject): CollectedPoint {
  return {
    unit: String(metric.unit),
    count: Number(point.count),
    sum: Number(point.sum),
    bounds: point.explicitBounds as number[],
    attributes: readAttributes(dig(point, ['attributes'])),
  };
}

function readAttributes(list: readonly JsonObject[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(list.map(({ key, value }) => [String(key), readValue(value)]));
}

/** `{stringValue: …}`, `{intValue: …}` and the like. */
function readValue(value: unknown): unknown {
  const [[kind, plain] = []] = Object.entries(value as JsonObject);
  if (kind === 'arrayValue') return dig(plain, ['values']).map(readValue);
  return kind === 'intValue' ? Number(plain) : plain;
}
