// Estimates the tokens of a prompt where the upstream cannot count them, and learns from those it did.

import type {
  CanonicalRequest,
  MediaPart,
  Part,
  Tool,
  ToolResultContent,
} from '../canonical/request.ts';

export interface TokenEstimator {
  /** Whole tokens, at least 1. */
  estimate(request: CanonicalRequest): number;
  /** What the upstream counted for a request, to calibrate later estimates. */
  observe(request: CanonicalRequest, promptTokens: number): void;
}

/** Rule of thumb of the vendors' own guides: a token is about four bytes of text. */
const BYTES_PER_TOKEN = 4;
/** ai.google.dev, "Token counting": an image tile, a second of audio, a second of video, a page. */
const IMAGE_TOKENS = 258;
const AUDIO_BYTES_PER_TOKEN = 1000;
const VIDEO_BYTES_PER_TOKEN = 1500;
const DOCUMENT_BYTES_PER_TOKEN = 300;
const URL_TOKENS = IMAGE_TOKENS;
/** Each observation moves the factor this far; outliers are held within the bounds. */
const LEARNING_RATE = 0.1;
const LEAST_FACTOR = 0.25;
const MOST_FACTOR = 4;

export function createTokenEstimator(): TokenEstimator {
  let factor = 1;
  return {
    estimate: (request) => Math.max(1, Math.ceil(rawTokens(request) * factor)),
    observe(request, promptTokens) {
      const raw = rawTokens(request);
      if (raw <= 0 || promptTokens <= 0) return;
      const seen = Math.min(Math.max(promptTokens / raw, LEAST_FACTOR), MOST_FACTOR);
      factor += (seen - factor) * LEARNING_RATE;
    },
  };
}

function rawTokens({ system, turns, tools }: CanonicalRequest): number {
  let tokens = 0;
  for (const part of system) tokens += textTokens(part.text);
  for (const turn of turns) for (const part of turn.parts) tokens += partTokens(part);
  for (const tool of tools) tokens += toolTokens(tool);
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
      return textTokens(part.name) + textTokens(JSON.stringify(part.input));
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
  return textTokens(content.kind === 'text' ? content.text : JSON.stringify(content.value));
}

function toolTokens(tool: Tool): number {
  if (tool.kind !== 'function' && tool.kind !== 'freeform') return 0;
  const parameters = tool.kind === 'function' ? (tool.parameters ?? '') : (tool.grammar ?? '');
  return textTokens(`${tool.name}${tool.description ?? ''}${JSON.stringify(parameters)}`);
}

function mediaTokens({ modality, source }: MediaPart): number {
  if (source.kind !== 'base64') return URL_TOKENS;
  const bytes = (source.base64.length * 3) / 4;
  switch (modality) {
    case 'image':
      return IMAGE_TOKENS;
    case 'audio':
      return bytes / AUDIO_BYTES_PER_TOKEN;
    case 'video':
      return bytes / VIDEO_BYTES_PER_TOKEN;
    case 'document':
      return bytes / DOCUMENT_BYTES_PER_TOKEN;
    default:
      return modality satisfies never;
  }
}

function textTokens(text: string): number {
  return Buffer.byteLength(text) / BYTES_PER_TOKEN;
}
