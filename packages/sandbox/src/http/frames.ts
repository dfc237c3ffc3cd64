// An answer as the pieces of a response body, scripted damage included: one frame per event.

import { reasonDetail, retryDetail, SandboxError, writeError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { Answer } from '../play/answer.ts';
import { writeChunks, writeEmpty, writeWhole } from '../play/write-answer.ts';
import type { Signatures } from '../signatures.ts';
import type { Fault } from '../state/faults.ts';
import type { Delivery } from './routes.ts';

export interface Frames {
  readonly contentType: string;
  readonly list: readonly string[];
}

const JSON_TYPE = 'application/json; charset=UTF-8';
const BROKEN_JSON = '{"candidates":[{"content":{"parts":[{"te';

export function writeFrames(
  answer: Answer,
  { delivery, signatures, fault }: { delivery: Delivery; signatures: Signatures; fault: Fault },
): Frames {
  switch (delivery) {
    case 'whole':
      return { contentType: JSON_TYPE, list: [writeWholeFrame(answer, signatures, fault)] };
    case 'sse':
      return {
        contentType: 'text/event-stream',
        list: damage(listChunks(answer, signatures, fault).map(writeEvent), fault, writeEvent),
      };
    case 'array':
      return {
        contentType: JSON_TYPE,
        list: writeArray(listChunks(answer, signatures, fault), fault),
      };
    default:
      return delivery satisfies never;
  }
}

/** The HTTP error a fault or a directive asks for. */
export function writeScriptedError(status: number, fault: Fault): SandboxError {
  const { reason, retryDelay, message = `The sandbox was told to answer ${status}.` } = fault;
  return new SandboxError(status, message, [
    ...(reason === undefined ? [] : [reasonDetail(reason)]),
    ...(retryDelay === undefined ? [] : [retryDetail(retryDelay)]),
  ]);
}

function writeWholeFrame(answer: Answer, signatures: Signatures, fault: Fault): string {
  if (fault.garbage === true) return BROKEN_JSON;
  if (fault.emptyStream === true) return JSON.stringify(writeEmpty(answer));
  return JSON.stringify(writeWhole(answer, signatures));
}

function listChunks(answer: Answer, signatures: Signatures, fault: Fault): JsonObject[] {
  return fault.emptyStream === true ? [] : writeChunks(answer, signatures);
}

/** The real service ends lines with CRLF. */
function writeEvent(chunk: JsonObject): string {
  return `data: ${JSON.stringify(chunk)}\r\n\r\n`;
}

function writeArray(chunks: readonly JsonObject[], fault: Fault): string[] {
  if (chunks.length === 0) return ['[]'];
  const separate = (text: string, index: number): string => `${index === 0 ? '[' : ',\r\n'}${text}`;
  const texts = chunks.map((chunk) => JSON.stringify(chunk));
  return [...damage(texts, fault, (chunk) => JSON.stringify(chunk)).map(separate), ']'];
}

/** Puts a broken line behind the first frame, or an error in place of the rest. */
function damage(
  frames: readonly string[],
  fault: Fault,
  write: (chunk: JsonObject) => string,
): string[] {
  const broken = write === writeEvent ? `data: ${BROKEN_JSON}\r\n\r\n` : BROKEN_JSON;
  const whole = fault.garbage === true ? frames.toSpliced(1, 0, broken) : [...frames];
  if (fault.errorAfterEvents === undefined) return whole;
  const error = writeError(writeScriptedError(fault.status ?? 503, fault));
  const last = fault.rawError === true ? JSON.stringify(error, null, 2) : write(error);
  return [...whole.slice(0, fault.errorAfterEvents), last];
}
