// How an answer ended, and the failures that are told as errors.

import {
  type AnswerRow,
  completion,
  contents,
  end,
  failure,
  message,
  parts,
  response,
  said,
  textPart,
} from '../answer.ts';

const HI = parts(textPart('Hi'));
const TEXT = [{ type: 'text', text: 'Hi' }];
const refused = (refusal: string) => ({ type: 'message', content: [{ type: 'refusal', refusal }] });
const FAILED = {
  chat: failure(502, { error: { type: 'server_error' } }),
  responses: failure(502, { error: { type: 'server_error' } }),
  messages: failure(502, { type: 'error', error: { type: 'api_error' } }),
  generate: failure(502, { error: { status: 'INTERNAL' } }),
};

const SAFETY_REASONS = [
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
  'ESCALATION',
  'MODEL_ARMOR',
];
const REFUSED = 'The upstream refused this prompt: PROHIBITED_CONTENT.';
const HELD_BACK = 'The upstream held this answer back: RECITATION.';
const UNUSABLE_REASONS = [
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
];
const OTHER_REASONS = ['LANGUAGE', 'OTHER', 'NO_IMAGE', 'IMAGE_OTHER', 'FINISH_REASON_UNSPECIFIED'];

/** `native` is the reason a native client is told. */
const natural = (native: string): AnswerRow['told'] => ({
  chat: completion({ content: 'Hi' }, 'stop'),
  responses: response('completed', [said('Hi')]),
  messages: message('end_turn', TEXT, { stop_sequence: null }),
  generate: contents(native, [{ text: 'Hi' }]),
});

export const FINISH_ROWS: readonly AnswerRow[] = [
  { name: 'a natural end', frames: [HI, end('STOP')], told: natural('STOP') },
  {
    name: 'an end the upstream made at a stop sequence, which it does not tell',
    frames: [HI, end('STOP')],
    ask: {
      chat: { stop: ['END'] },
      messages: { stop_sequences: ['END'] },
      generate: { generationConfig: { stopSequences: ['END'] } },
    },
    told: natural('STOP'),
  },
  ...['MAX_TOKENS', 'CONTINUATION'].map((reason) => ({
    name: `an answer that ran out of room (${reason})`,
    frames: [HI, end(reason)],
    told: {
      chat: completion({ content: 'Hi' }, 'length'),
      responses: response('incomplete', [said('Hi')], {
        incomplete_details: { reason: 'max_output_tokens' },
      }),
      messages: message('max_tokens', TEXT),
      generate: contents('MAX_TOKENS', [{ text: 'Hi' }]),
    },
  })),
  {
    name: 'thoughts that used up the room',
    frames: [parts(textPart('hm', { thought: true })), end('MAX_TOKENS')],
    ask: { responses: { reasoning: { summary: 'auto' } } },
    told: {
      chat: completion({ content: '', reasoning_content: 'hm' }, 'length'),
      responses: response('incomplete', [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
      ]),
      messages: message('max_tokens', [{ type: 'thinking', thinking: 'hm' }]),
      generate: contents('MAX_TOKENS', [{ text: '' }]),
    },
  },
  ...SAFETY_REASONS.map((reason) => ({
    name: `an answer withheld (${reason})`,
    frames: [HI, end(reason, { finishMessage: 'why' })],
    told: {
      chat: completion({ content: 'Hi', refusal: 'why' }, 'content_filter'),
      responses: response('incomplete', [said('Hi'), refused('why')], {
        incomplete_details: { reason: 'content_filter' },
      }),
      messages: message('refusal', TEXT, { stop_details: { explanation: 'why' } }),
      generate: contents(reason, [{ text: 'Hi' }]),
    },
  })),
  {
    name: 'an answer withheld without a word, by the reason alone',
    frames: [end('RECITATION')],
    told: {
      chat: completion({ content: '', refusal: HELD_BACK }, 'content_filter'),
      responses: response('incomplete', [refused(HELD_BACK)], {
        incomplete_details: { reason: 'content_filter' },
      }),
      messages: message('refusal', [], { stop_details: { explanation: HELD_BACK } }),
      generate: contents('RECITATION', [{ text: '' }]),
    },
  },
  {
    name: 'a prompt that was refused',
    frames: [
      {
        promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
        usageMetadata: { promptTokenCount: 4 },
      },
    ],
    told: {
      chat: completion({ content: '', refusal: REFUSED }, 'content_filter'),
      responses: response('failed', [], { error: { code: 'invalid_prompt' } }),
      messages: message('refusal', [], { stop_details: { explanation: REFUSED } }),
      generate: { kind: 'reply', body: { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } } },
    },
  },
  ...UNUSABLE_REASONS.map((reason) => ({
    name: `an answer nobody can use (${reason})`,
    frames: [end(reason)],
    told: FAILED,
  })),
  ...OTHER_REASONS.map((reason) => ({
    name: `a reason of its own with content (${reason})`,
    frames: [HI, end(reason)],
    told: natural(['LANGUAGE', 'OTHER'].includes(reason) ? reason : 'STOP'),
  })),
  ...['STOP', ...OTHER_REASONS].map((reason) => ({
    name: `nothing at all (${reason})`,
    frames: [end(reason)],
    told: FAILED,
  })),
  { name: 'a stream that was cut off', frames: [HI], told: FAILED },
];
