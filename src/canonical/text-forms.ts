// Texts in other forms: whole characters, Markdown, summaries, and the opening a conversation is known by.

import { asSentence, type Sentence, told } from '../lib/localized-message.ts';
import type { BlockOpening, ChoiceEnd } from './event.ts';
import type { GroundingSource } from './grounding.ts';
import type { ModelCapabilities } from './model.ts';
import type { Receipt } from './receipt.ts';
import type { CanonicalRequest, OutputFormat } from './request.ts';

/** How `JSON.stringify` begins what it writes of such a half; of whole characters it writes nothing like it. */
const LONE_HALF = '\\ud';
const ESCAPE = /\\(?:u[0-9a-f]{4}|.)/g;

/** JSON with U+FFFD for lone surrogates, which upstreams refuse: clients cut texts within a character. */
export function mendText(json: string, receipt: Receipt | undefined): string {
  if (!json.includes(LONE_HALF)) return json;
  const mended = json.replace(ESCAPE, (word) => (word.startsWith(LONE_HALF) ? '\uFFFD' : word));
  if (mended === json) return json;
  receipt?.add('repaired', 'body', told`Halves of characters that stood alone became U+FFFD.`);
  return mended;
}

/** What would end the address of a Markdown link too early. */
const ENDS_LINK = /[\s<>()]/g;

/** An address as it stands in a Markdown link. */
export function linkAddress(url: string): string {
  return url.replace(ENDS_LINK, (sign) =>
    Array.from(Buffer.from(sign), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}

type CodeBlock = Extract<BlockOpening, { kind: 'code' | 'code-result' }>;

/** Code the model ran, and what came of it, as markdown for protocols without such blocks. */
export function writeCodeText(block: CodeBlock): string {
  switch (block.kind) {
    case 'code':
      return fence(block.code, block.language.toLowerCase());
    case 'code-result': {
      const heading = block.outcome === 'ok' ? '' : `Code execution: ${block.outcome}\n`;
      return heading + fence(block.output, '');
    }
    default:
      return block satisfies never;
  }
}

/** A fenced block whose fence no line of the text can close. */
function fence(text: string, language: string): string {
  const longest = text.match(/`{3,}/g)?.reduce((max, run) => Math.max(max, run.length), 0) ?? 2;
  const marks = '`'.repeat(longest + 1);
  const end = text === '' || text.endsWith('\n') ? '' : '\n';
  return `${marks}${language}\n${text}${end}${marks}`;
}

/** Its title, else its address: an empty link cannot be read. */
export function sourceTitle({ title, url }: GroundingSource): string {
  return title === '' ? url : title;
}

/** Why a format cannot be sent as one to this model; undefined where it can. */
export function refusedFormat(
  { outputFormats }: ModelCapabilities,
  hasTools: boolean,
): Sentence | undefined {
  if (outputFormats === 'nowhere') {
    return told`This model takes no output format: it is told in words.`;
  }
  const isRefused = outputFormats === 'without-tools' && hasTools;
  return isRefused
    ? told`This model takes no output format beside tools: it is told in words.`
    : undefined;
}

/** Where an instruction was put that cannot stand where the client has it. */
export const INSTRUCTION_MARKED = told`An instruction in mid-conversation is sent as marked user text at its place.`;

/** An instruction where only words of the user can stand. */
export function markInstruction(text: string): string {
  return `<system-instruction>\n${text}\n</system-instruction>`;
}

export function formatInWords(format: OutputFormat): string {
  const only = 'When you answer, answer with one JSON value and nothing else around it.';
  switch (format.kind) {
    case 'text':
    case 'json':
      return only;
    case 'json-schema':
      return `${only} It must follow this JSON Schema:\n${JSON.stringify(format.schema)}`;
    case 'enum':
      return `When you answer, answer with one value of this schema and nothing else around it:\n${JSON.stringify(format.schema)}`;
    default:
      return format satisfies never;
  }
}

/** What the model is told where the client has no words of its own for it. */
export const SUMMARY_INSTRUCTIONS =
  'Do not answer the conversation above: summarize it, so that it can go on from your summary alone. ' +
  'Keep the task and all that was asked for, decisions and facts, exact names and figures, ' +
  'what is done, what is left, and the next step. Write the summary and nothing else.';

/** The request in words; what would only shape an answer is left out. */
export function askForSummary(request: CanonicalRequest, instructions: string): CanonicalRequest {
  return {
    ...request,
    turns: [...request.turns, { role: 'user', parts: [{ kind: 'text', text: instructions }] }],
    toolChoice: { kind: 'none' },
    parallelToolCalls: undefined,
    stopSequences: [],
    outputFormat: { kind: 'text' },
  };
}

/** What the model is told of a summary in its history. */
export function tellSummary(summary: string): string {
  return `Summary of the conversation so far:\n\n${summary}`;
}

/** Client-facing message for a blocked answer; undefined for others, and without a reason. */
export function blockMessage({ reason, rawReason, message }: ChoiceEnd): Sentence | undefined {
  if (reason !== 'safety' && reason !== 'prompt-blocked') return undefined;
  if (message !== undefined) return asSentence(message);
  if (rawReason === undefined) return undefined;
  return reason === 'safety'
    ? told`The upstream held this answer back: ${rawReason}.`
    : told`The upstream refused this prompt: ${rawReason}.`;
}

/** The first text of a user that is so long, wherever it stands, opens a conversation; undefined where none is. */
export const MIN_OPENING_LENGTH = 10;
const MAX_OPENING_LENGTH = 4096;

/** With the fields in it. It changes on every request, so a prompt that keeps it is never cached upstream. */
const BILLING_LINE = /^x-[a-z]+-billing-header:(?:[ \t]*[\w-]+=[^;\s]*;?)*\s*/i;

/** Without the line by which a client bills; gateways join the texts of a system prompt, so that more may be behind it. */
export function cutBillingLine(text: string): string {
  return text.replace(BILLING_LINE, '');
}

export function joinOpening(system: readonly string[], said: string): string {
  const lasting = system.map(cutBillingLine).filter((text) => text !== '');
  return `${lasting.join('\n').slice(0, MAX_OPENING_LENGTH)}\n${said.slice(0, MAX_OPENING_LENGTH)}`;
}

/** That of a request; undefined where no user has said so much. */
export function openingText({
  system,
  turns,
}: Pick<CanonicalRequest, 'system' | 'turns'>): string | undefined {
  for (const { role, parts } of turns) {
    if (role !== 'user') continue;
    for (const part of parts) {
      if (part.kind !== 'text' || part.text.length < MIN_OPENING_LENGTH) continue;
      return joinOpening(
        system.map(({ text }) => text),
        part.text,
      );
    }
  }
  return undefined;
}
