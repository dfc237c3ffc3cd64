// The plain answer: a greeting, then what the sandbox really received, most telling facts first.

import type { JsonObject } from '../json.ts';
import { describeMedia } from '../media-facts.ts';
import { declarationsOf, type GenerateRequest, partsOf } from '../wire.ts';
import type { LastTurn } from './last-turn.ts';

export const GREETING = 'HELLO-FROM-UPSTREAM';

const QUOTE_LENGTH = 160;
const MAX_LISTED = 8;

export interface ReflectionSource {
  readonly request: GenerateRequest;
  readonly modelId: string;
  readonly turn: LastTurn;
  /** Remarks such as a marker that named no declared function. */
  readonly notes: readonly string[];
}

/** Sentences about the request, each true by itself, so that a short answer may leave later ones out. */
export function describeRequest(source: ReflectionSource): string[] {
  const { request, modelId, turn, notes } = source;
  const turns = request.contents?.length ?? 0;
  return [
    ...notes,
    `${modelId} received ${turns} ${turns === 1 ? 'turn' : 'turns'}; the last user text is ${quote(turn.text)}.`,
    ...describeSystem(request),
    ...turn.media.slice(0, MAX_LISTED).map((blob) => `Attached: ${describeMedia(blob)}.`),
    ...describeFiles(request),
    ...describeTools(request),
    ...describeSettings(request),
  ];
}

/** As many sentences as fit behind the greeting; the greeting itself always stands. */
export function writeReflection(sentences: readonly string[], maxCharacters: number): string {
  let text = `${GREETING}.`;
  for (const sentence of sentences) {
    const longer = `${text} ${sentence}`;
    if (longer.length > maxCharacters) break;
    text = longer;
  }
  return text;
}

/** The same facts where the answer must be JSON. */
export function writeReflectionJson(sentences: readonly string[]): JsonObject {
  return { greeting: GREETING, received: [...sentences] };
}

export function quote(text: string, length: number = QUOTE_LENGTH): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  const characters = [...flat.slice(0, length * 2)];
  const cut = characters.length > length;
  return `"${characters.slice(0, length).join('')}${cut ? '…' : ''}"`;
}

function describeSystem(request: GenerateRequest): string[] {
  const text = partsOf(request.systemInstruction)
    .map((part) => part.text ?? '')
    .join('\n');
  if (text === '') return [];
  return [`System text: ${text.length} characters, beginning ${quote(text, 60)}.`];
}

function describeFiles(request: GenerateRequest): string[] {
  const addresses = (request.contents ?? [])
    .flatMap((content) => partsOf(content))
    .flatMap((part) => part.fileData?.fileUri ?? []);
  return addresses
    .slice(0, MAX_LISTED)
    .map((address) => `File named, not fetched: ${quote(address)}.`);
}

function describeTools(request: GenerateRequest): string[] {
  const functions = declarationsOf(request).map(({ name }) => name ?? '');
  const builtIn = (request.tools ?? [])
    .flatMap((tool) => Object.keys(tool))
    .filter((key) => key !== 'functionDeclarations');
  const mode = request.toolConfig?.functionCallingConfig?.mode;
  return [
    ...(functions.length > 0 ? [`Functions (${functions.length}): ${list(functions)}.`] : []),
    ...(builtIn.length > 0 ? [`Built-in tools: ${list(builtIn)}.`] : []),
    ...(mode === undefined ? [] : [`Function calling mode: ${mode}.`]),
  ];
}

function describeSettings(request: GenerateRequest): string[] {
  const { thinkingConfig, responseSchema, responseJsonSchema, stopSequences, ...plain } =
    request.generationConfig ?? {};
  const schema = responseSchema ?? responseJsonSchema;
  const settings = [
    ...Object.entries(plain),
    ...Object.entries(thinkingConfig ?? {}),
    // Counted, not quoted: quoting a stop sequence would end the answer there.
    ...(stopSequences === undefined ? [] : [['stopSequences', stopSequences.length] as const]),
    ...(schema === undefined ? [] : [['responseSchema', 'given'] as const]),
  ].map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return settings.length === 0 ? [] : [`Settings: ${settings.join(', ')}.`];
}

function list(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).join(', ');
  return names.length > MAX_LISTED ? `${shown} and ${names.length - MAX_LISTED} more` : shown;
}
