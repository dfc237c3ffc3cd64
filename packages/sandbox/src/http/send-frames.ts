// Sends frames as a response body at the asked pace, breaks off where told to, and stops when the caller leaves.

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { SandboxClock } from '../clock.ts';
import type { CutKind } from '../state/faults.ts';
import type { Ending } from '../state/request-log.ts';
import type { Frames } from './frames.ts';

export interface Pace {
  readonly clock: SandboxClock;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
  /** Wait before each frame but the first. */
  readonly pauseMs: number;
  readonly cutAfterFrames?: number | undefined;
  readonly cutAfterBytes?: number | undefined;
  readonly cutKind: CutKind;
}

/** Answers 200 with the frames as body. */
export async function sendFrames(
  response: ServerResponse,
  frames: Frames,
  pace: Pace,
): Promise<Ending> {
  response.writeHead(200, { 'content-type': frames.contentType });
  response.flushHeaders();
  try {
    return await sendBody(response, frames.list, pace);
  } catch (error) {
    if (pace.signal.aborted) return 'client-gone';
    throw error;
  }
}

async function sendBody(
  response: ServerResponse,
  frames: readonly string[],
  pace: Pace,
): Promise<Ending> {
  let room = pace.cutAfterBytes ?? Number.POSITIVE_INFINITY;
  for (const [index, frame] of frames.entries()) {
    if (index === pace.cutAfterFrames) return cut(response, pace.cutKind);
    if (index > 0 && pace.pauseMs > 0) await pace.clock.sleep(pace.pauseMs, pace.signal);
    const bytes = Buffer.from(frame);
    if (bytes.length > room) {
      await write(response, bytes.subarray(0, room), pace.signal);
      return cut(response, pace.cutKind);
    }
    room -= bytes.length;
    await write(response, bytes, pace.signal);
  }
  if (frames.length === pace.cutAfterFrames) return cut(response, pace.cutKind);
  response.end();
  return 'complete';
}

async function write(response: ServerResponse, bytes: Buffer, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (!response.write(bytes)) await once(response, 'drain', { signal });
}

/** `reset` lets what was written arrive, then drops the connection without the body's proper end. */
function cut(response: ServerResponse, kind: CutKind): Ending {
  if (kind === 'end') response.end();
  else response.write('', () => response.socket?.destroySoon());
  return 'cut';
}
