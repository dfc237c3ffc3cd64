// Reads why an answer ended, where that is no natural end: what came is not all, or nothing came at all.

import { at, listAt, textAt } from './json-at.ts';
import type { WireProtocol } from './wire-protocol.ts';

export interface Ending {
  readonly kind: 'ending';
  /** `limit`: all tokens it may have are spent; `stopped`: the upstream refused it or held it back. */
  readonly reason: 'limit' | 'stopped';
  /** What the answer says of it; '' where it says nothing. */
  readonly text: string;
  /** The upstream's own word, where only that is told. */
  readonly code: string;
}

/** None of a natural end, of a tool call, or while the answer goes on. */
export function readEnding(protocol: WireProtocol, value: unknown): readonly Ending[] {
  switch (protocol) {
    case 'chat':
      return listAt(value, 'choices').flatMap(readChat);
    case 'messages':
      return readMessages(textAt(value, 'type') === 'message' ? value : at(value, 'delta'));
    case 'generate':
      return [
        ...stopped('', textAt(at(value, 'promptFeedback'), 'blockReason')),
        ...listAt(value, 'candidates').flatMap(readCandidate),
      ];
    case 'responses':
      return readResponses(value);
    case 'images':
      return [];
    default:
      return protocol satisfies never;
  }
}

/** An ending is often told twice: in words first, then as a reason. */
export function joinEndings(known: Ending, added: Ending): Ending {
  return { ...known, text: known.text + added.text, code: known.code || added.code };
}

function readChat(choice: unknown): readonly Ending[] {
  const message = at(choice, 'delta') ?? at(choice, 'message');
  const reason = textAt(choice, 'finish_reason');
  const refusal = textAt(message, 'refusal');
  if (reason === 'length') return [LIMIT];
  return reason === 'content_filter' ? [stop(refusal, '')] : stopped(refusal, '');
}

function readMessages(ended: unknown): readonly Ending[] {
  switch (textAt(ended, 'stop_reason')) {
    case 'max_tokens':
      return [LIMIT];
    case 'refusal':
      return [stop(textAt(at(ended, 'stop_details'), 'explanation'), '')];
    default:
      return [];
  }
}

function readCandidate(candidate: unknown): readonly Ending[] {
  const reason = textAt(candidate, 'finishReason');
  if (reason === 'MAX_TOKENS') return [LIMIT];
  return stopped(textAt(candidate, 'finishMessage'), reason === 'STOP' ? '' : reason);
}

function readResponses(value: unknown): readonly Ending[] {
  if (textAt(value, 'type') === 'response.refusal.delta')
    return stopped(textAt(value, 'delta'), '');
  if (textAt(value, 'type') === 'response.incomplete') {
    return readIncomplete(at(value, 'response'));
  }
  if (textAt(value, 'object') !== 'response') return [];
  const parts = listAt(value, 'output').flatMap((item) => listAt(item, 'content'));
  return [
    ...parts.flatMap((part) => stopped(textAt(part, 'refusal'), '')),
    ...readIncomplete(value),
  ];
}

function readIncomplete(response: unknown): readonly Ending[] {
  const reason = textAt(at(response, 'incomplete_details'), 'reason');
  if (reason === 'max_output_tokens') return [LIMIT];
  return reason === '' ? [] : [stop('', reason)];
}

const LIMIT: Ending = { kind: 'ending', reason: 'limit', text: '', code: '' };

function stop(text: string, code: string): Ending {
  return { kind: 'ending', reason: 'stopped', text, code };
}

function stopped(text: string, code: string): readonly Ending[] {
  return text === '' && code === '' ? [] : [stop(text, code)];
}
