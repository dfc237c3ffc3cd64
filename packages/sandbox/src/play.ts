// Plays one call of a model, whatever the wire: faults and quota first, then the simulated answer, sent with the damage asked for.

import type { ServerResponse } from 'node:http';
import { writeScriptedError } from './errors.ts';
import type { JsonValue } from './json.ts';
import { ownIdOf, type SandboxModel } from './models.ts';
import {
  type Answer,
  type Directives,
  type IdPrefixes,
  readDirectives,
  readLastTurn,
  simulate,
} from './simulate.ts';
import {
  createId,
  type Ending,
  type Fault,
  type Faults,
  type FaultyCall,
  type QuotaCounters,
  type SandboxCaller,
  type SandboxClock,
} from './state.ts';
import type { GenerateRequest } from './wire.ts';
import { type Frames, sendFrames } from './write-answer.ts';

export interface PlayServices {
  readonly clock: SandboxClock;
  readonly faults: Faults;
  readonly quotas: QuotaCounters;
}

export interface PlayedCall {
  readonly account: SandboxCaller;
  readonly body: JsonValue;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
  readonly response: ServerResponse;
}

interface Play {
  readonly model: SandboxModel;
  readonly request: GenerateRequest;
  readonly isStream: boolean;
  readonly idPrefixes?: IdPrefixes;
  readonly isSerial?: boolean;
  /** How much of the prompt was cached; asked once the call is paid for. */
  readonly countCached: () => number;
  /** @throws SandboxError for what the prompt asks to be refused. */
  readonly refuse?: (directives: Directives) => void;
  readonly write: (answer: Answer, fault: Fault, directives: Directives) => Frames;
}

/** @throws SandboxError until the answer has begun. */
export async function play(
  { account, signal, response }: PlayedCall,
  { model, request, isStream, idPrefixes, isSerial, countCached, refuse, write }: Play,
  { clock, faults, quotas }: PlayServices,
): Promise<Ending> {
  const turn = readLastTurn(request.contents ?? []);
  const directives = readDirectives(turn.text);
  const models = [model.id, ownIdOf(model.id)];
  const fault = faults.take({ endpoint: 'generate', account: account.email, models }) ?? {};
  const waitMs = (fault.delayMs ?? 0) + (isStream ? 0 : directives.pauseMs);
  if (waitMs > 0) await clock.sleep(waitMs, signal);
  if (fault.status !== undefined && fault.errorAfterEvents === undefined) {
    throw writeScriptedError(fault.status, fault);
  }
  failWhenAsked(directives);
  refuse?.(directives);
  quotas.spend(account, model.id);
  const cachedTokens = countCached();
  const told = { request, model, turn, directives, cachedTokens, idPrefixes, isSerial };
  const answer = simulate({ ...told, createId });
  const frames = writeDamaged((damage) => write(answer, damage, directives), fault, directives);
  return sendFrames(response, frames, {
    clock,
    signal,
    pauseMs: fault.pauseMs ?? directives.pauseMs,
    ...planCut(frames, directives, fault),
    cutKind: fault.cutKind ?? 'reset',
    hangAfterFrames: directives.hang ? halfOf(frames) : undefined,
  });
}

/** `UPSTREAM-ERROR` ends a stream with an error half way. */
function writeDamaged(
  write: (fault: Fault) => Frames,
  fault: Fault,
  { error }: Directives,
): Frames {
  const frames = write(fault);
  if (!error || frames.list.length === 1) return frames;
  return write({ ...fault, errorAfterEvents: halfOf(frames) });
}

function halfOf({ list }: Frames): number {
  return Math.floor(list.length / 2);
}

/** `UPSTREAM-STATUS 429` comes with a retry delay of a second, as rate limits do. */
export function failWhenAsked({ status, hasNoQuota }: Directives): void {
  if (hasNoQuota) throw writeScriptedError(429, { reason: 'QUOTA_EXHAUSTED' });
  if (status === undefined) return;
  const limited = { reason: 'RATE_LIMIT_EXCEEDED', retryDelay: '1s' };
  throw writeScriptedError(status, status === 429 ? limited : {});
}

/** `UPSTREAM-CUT` breaks a stream off before its last event, a whole body in its middle. */
function planCut(
  frames: Frames,
  directives: Directives,
  fault: Fault,
): { cutAfterFrames?: number; cutAfterBytes?: number } {
  const { cutAfterEvents, cutAfterBytes } = fault;
  if (cutAfterEvents !== undefined) return { cutAfterFrames: cutAfterEvents };
  if (cutAfterBytes !== undefined) return { cutAfterBytes };
  if (!directives.cut) return {};
  const [only] = frames.list;
  return frames.list.length === 1 && only !== undefined
    ? { cutAfterBytes: Math.floor(Buffer.byteLength(only) / 2) }
    : { cutAfterFrames: frames.list.length - 1 };
}

/** @throws SandboxError of a scripted fault for this call, after its delay. */
export async function applyFault(
  call: FaultyCall,
  { faults, clock }: Pick<PlayServices, 'faults' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const fault = faults.take(call) ?? {};
  if (fault.delayMs !== undefined) await clock.sleep(fault.delayMs, signal);
  if (fault.status !== undefined) throw writeScriptedError(fault.status, fault);
}
