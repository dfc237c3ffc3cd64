// Sends a request to a model route and hands on what comes back, raw and read.

import { type AnswerPiece, readPieces } from './read-answer.ts';
import { createFrameReader } from './read-frames.ts';
import type { WireProtocol } from './wire-protocol.ts';
import type { WireRequest } from './write-request.ts';

export interface Exchange {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly firstByteMs: number;
  /** Undefined while the answer still comes in. */
  readonly totalMs: number | undefined;
}

export interface SendOptions {
  readonly protocol: WireProtocol;
  readonly request: WireRequest;
  /** '' where none is needed. */
  readonly key: string;
  readonly signal: AbortSignal;
  onHead(exchange: Exchange): void;
  /** Raw text as it came, and what it says. */
  onText(raw: string, pieces: readonly AnswerPiece[]): void;
}

/** @throws TypeError when there is no answer; what the signal says when it was stopped */
export async function sendRequest(options: SendOptions): Promise<Exchange> {
  const { request, key, signal } = options;
  const startedAt = performance.now();
  const response = await fetch(request.path, {
    method: 'POST',
    headers: { ...request.headers, ...(key === '' ? {} : { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(request.body),
    // Model routes know keys, not sessions; nothing that is not shown goes along.
    credentials: 'omit',
    signal,
  });
  const head: Exchange = {
    status: response.status,
    requestId: response.headers.get('x-request-id') ?? undefined,
    firstByteMs: performance.now() - startedAt,
    totalMs: undefined,
  };
  options.onHead(head);
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (isStream && response.body !== null) await readStream(response.body, options);
  else {
    const text = await response.text();
    options.onText(text, readPieces(options.protocol, text));
  }
  return { ...head, totalMs: performance.now() - startedAt };
}

async function readStream(
  body: ReadableStream<Uint8Array>,
  { protocol, onText }: SendOptions,
): Promise<void> {
  const frames = createFrameReader();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const raw = decoder.decode(part.value, { stream: true });
    onText(
      raw,
      frames.push(raw).flatMap(({ data }) => readPieces(protocol, data)),
    );
  }
}
