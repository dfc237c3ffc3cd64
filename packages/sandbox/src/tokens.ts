// Token estimates: four characters a token, a fixed price per medium. Deterministic, so figures can be compared.

import { canonicalJson } from './json.ts';
import { type Blob, type Content, type GenerateRequest, type Part, partsOf } from './wire.ts';

const CHARACTERS_PER_TOKEN = 4;
/** The documented price of one image tile (generate-content docs, "Understand and count tokens"). */
const IMAGE_TOKENS = 258;
const BASE64_CHARACTERS_PER_MEDIA_TOKEN = 256;

type TokenModality = 'TEXT' | 'IMAGE' | 'AUDIO' | 'VIDEO' | 'DOCUMENT';
export type TokenCounts = ReadonlyMap<TokenModality, number>;

export function countTextTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

/** The longest beginning of `text` that counts at most `tokens`; never half a character. */
export function cutToTokens(text: string, tokens: number): string {
  const end = Math.max(0, tokens) * CHARACTERS_PER_TOKEN;
  if (text.length <= end) return text;
  const splitsPair = /[\ud800-\udbff]/.test(text.charAt(end - 1));
  return text.slice(0, splitsPair ? end - 1 : end);
}

/** The whole text in its tokens; never half a character. */
export function cutIntoTokens(text: string): readonly string[] {
  const tokens: string[] = [];
  for (let rest = text; rest !== ''; rest = rest.slice(tokens.at(-1)?.length)) {
    tokens.push(cutToTokens(rest, 1) || rest.slice(0, 2));
  }
  return tokens;
}

export function charactersFor(tokens: number): number {
  return tokens * CHARACTERS_PER_TOKEN;
}

/** What the whole prompt counts: instructions, tools and contents. */
export function countPromptTokens(request: GenerateRequest): TokenCounts {
  const counts = new Map<TokenModality, number>();
  const instructions = request.systemInstruction === undefined ? [] : [request.systemInstruction];
  for (const content of [...instructions, ...(request.contents ?? [])]) {
    addContent(counts, content);
  }
  if (request.tools !== undefined) add(counts, 'TEXT', countJsonTokens(request.tools));
  return counts;
}

export function countContentTokens(content: Content): number {
  const counts = new Map<TokenModality, number>();
  addContent(counts, content);
  return sumTokens(counts);
}

export function countJsonTokens(value: unknown): number {
  return countTextTokens(JSON.stringify(value));
}

export function sumTokens(counts: TokenCounts): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

/**
 * A text that is the same for the same content, whatever the order of its keys. Of a long medium only
 * samples count: writing and hashing all of it would keep everybody waiting.
 */
export function identifyContent(content: Content): string {
  return canonicalJson(JSON.parse(JSON.stringify(content, sampleMedia)));
}

const MAX_WHOLE = 262_144;
const SAMPLES = 256;
const SAMPLE_CHARACTERS = 256;

function sampleMedia(key: string, value: unknown): unknown {
  if (key !== 'data' || typeof value !== 'string' || value.length <= MAX_WHOLE) return value;
  const step = (value.length - SAMPLE_CHARACTERS) / (SAMPLES - 1);
  const starts = Array.from({ length: SAMPLES }, (_, index) => Math.floor(index * step));
  const pieces = starts.map((start) => value.slice(start, start + SAMPLE_CHARACTERS));
  return `${value.length} ${pieces.join('')}`;
}

function addContent(counts: Map<TokenModality, number>, content: Content): void {
  for (const part of partsOf(content)) addPart(counts, part);
}

function addPart(counts: Map<TokenModality, number>, part: Part): void {
  const { inlineData, functionResponse, thoughtSignature: _signature, ...rest } = part;
  if (inlineData !== undefined) addMedia(counts, inlineData);
  else if (part.text !== undefined) add(counts, 'TEXT', Math.max(1, countTextTokens(part.text)));
  else if (functionResponse === undefined) add(counts, 'TEXT', countJsonTokens(rest));
  if (functionResponse === undefined) return;
  const { parts = [], ...response } = functionResponse;
  add(counts, 'TEXT', countJsonTokens(response));
  for (const { inlineData: media } of parts) if (media !== undefined) addMedia(counts, media);
}

function addMedia(counts: Map<TokenModality, number>, { mimeType = '', data = '' }: Blob): void {
  const modality = modalityOf(mimeType);
  const tokens = Math.ceil(data.length / BASE64_CHARACTERS_PER_MEDIA_TOKEN);
  const isTimed = modality === 'AUDIO' || modality === 'VIDEO';
  if (modality === 'IMAGE') add(counts, modality, IMAGE_TOKENS);
  else add(counts, modality, Math.max(isTimed ? 1 : IMAGE_TOKENS, tokens));
}

function modalityOf(mimeType: string): TokenModality {
  if (mimeType.startsWith('image/')) return 'IMAGE';
  if (mimeType.startsWith('audio/')) return 'AUDIO';
  return mimeType.startsWith('video/') ? 'VIDEO' : 'DOCUMENT';
}

function add(counts: Map<TokenModality, number>, modality: TokenModality, tokens: number): void {
  counts.set(modality, (counts.get(modality) ?? 0) + tokens);
}
