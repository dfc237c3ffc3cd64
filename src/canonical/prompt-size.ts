// How many tokens a prompt is about, where nobody counted them.

import type { JsonValue } from '../lib/json.ts';
import { SharedMemo } from '../lib/shared-json.ts';
import type {
  CanonicalRequest,
  MediaPart,
  Part,
  Tool,
  ToolResultContent,
  Turn,
} from './request.ts';

/** What a request has that counts. */
export type Countable = Pick<CanonicalRequest, 'system' | 'turns' | 'tools'>;

/** Rule of thumb of the vendors' own guides: a token is about four bytes of text. */
const BYTES_PER_TOKEN = 4;
/** ai.google.dev, "Token counting": an image tile; of a second of audio, a second of video and a page the bytes a token. */
const IMAGE_TOKENS = 258;
const MEDIA_BYTES_PER_TOKEN = { audio: 1000, video: 1500, document: 300 } as const;

/** An estimate, not rounded. */
export function promptSize({ system, turns, tools }: Countable): number {
  let tokens = 0;
  for (const part of system) tokens += textTokens(part.text);
  for (const turn of turns) tokens += turnSize(turn);
  return tokens + listTokens.get(tools, '', () => toolsSize(tools));
}

const listTokens = new SharedMemo<number>();

function toolsSize(tools: readonly Tool[]): number {
  let tokens = 0;
  for (const tool of tools) tokens += toolTokens(tool);
  return tokens;
}

export function turnSize({ parts }: Turn): number {
  let tokens = 0;
  for (const part of parts) tokens += partTokens(part);
  return tokens;
}

function partTokens(part: Part): number {
  switch (part.kind) {
    case 'text':
    case 'thinking':
    case 'server-tool-result':
      return textTokens(part.text);
    case 'redacted-thinking':
      return 0;
    case 'media':
      return mediaTokens(part);
    case 'tool-call':
    case 'server-tool-call':
      return textTokens(part.name) + jsonTokens(part.input);
    case 'tool-result':
      return part.content.reduce((sum, content) => sum + resultTokens(content), 0);
    case 'code':
      return textTokens(part.code);
    case 'code-result':
      return textTokens(part.output);
    default:
      return part satisfies never;
  }
}

function resultTokens(content: ToolResultContent): number {
  if (content.kind === 'media') return mediaTokens(content);
  return content.kind === 'text' ? textTokens(content.text) : jsonTokens(content.value);
}

function toolTokens(tool: Tool): number {
  if (tool.kind !== 'function' && tool.kind !== 'freeform') return 0;
  const parameters = tool.kind === 'function' ? (tool.parameters ?? '') : (tool.grammar ?? '');
  return textTokens(`${tool.name}${tool.description ?? ''}`) + jsonTokens(parameters);
}

/** A medium that is only named by its address counts as a picture. */
function mediaTokens({ modality, source }: MediaPart): number {
  if (source.kind !== 'base64' || modality === 'image') return IMAGE_TOKENS;
  return (source.base64.length * 3) / 4 / MEDIA_BYTES_PER_TOKEN[modality];
}

/** Of its JSON, which may be too long to be written for that: what is escaped in it counts once. */
function jsonTokens(value: JsonValue): number {
  if (typeof value === 'string') return textTokens(value) + QUOTES;
  if (typeof value !== 'object' || value === null) return String(value).length / BYTES_PER_TOKEN;
  const [names, items] = Array.isArray(value)
    ? [[], value]
    : [Object.keys(value), Object.values(value)];
  let tokens = QUOTES;
  for (const name of names) tokens += textTokens(name) + QUOTES;
  for (const item of items) tokens += jsonTokens(item) + QUOTES / 2;
  return tokens;
}

/** Two of them, or brackets; a comma or a colon is half of that. */
const QUOTES = 2 / BYTES_PER_TOKEN;

/** An estimate, not rounded. */
export function textTokens(text: string): number {
  return Buffer.byteLength(text) / BYTES_PER_TOKEN;
}
