// Parts of a normalised body as canonical parts.

import { told } from '../../canonical/receipt.ts';
import type {
  CodeResultPart,
  MediaPart,
  MediaResolution,
  MediaSource,
  Modality,
  Part,
  ToolResultContent,
} from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { CallIds } from './call-ids.ts';
import { objectAt, objectsAt, textAt } from './native-fields.ts';
import type { Place } from './place.ts';
import { readPartSignature } from './signatures.ts';

const OUTCOMES: ReadonlyMap<string, CodeResultPart['outcome']> = new Map([
  ['OUTCOME_OK', 'ok'],
  ['OUTCOME_FAILED', 'failed'],
  ['OUTCOME_DEADLINE_EXCEEDED', 'timeout'],
]);

const RESOLUTIONS: ReadonlyMap<string, MediaResolution> = new Map([
  ['LOW', 'low'],
  ['MEDIUM', 'medium'],
  ['HIGH', 'high'],
  ['ULTRA_HIGH', 'high'],
]);

/** Members without a canonical counterpart: first those of media, which results have as well. */
const UNCARRIED_OF_MEDIA = [
  ...['videoMetadata', 'documentMetadata', 'spreadsheetMetadata', 'audioMetadata'],
  'mediaProcessing',
];
const UNCARRIED = [...UNCARRIED_OF_MEDIA, 'partMetadata', 'speechMetadata'];

export interface PartContext {
  readonly callIds: CallIds;
  /** Unique within the conversation. */
  readonly position: string;
  readonly place: Place;
}

/** The canonical part; undefined for a part that holds nothing canonical can say. */
export function readPart(part: JsonObject, context: PartContext): Part | undefined {
  noteUncarried(part, UNCARRIED, context.place);
  const signatureText = textAt(part, 'thoughtSignature');
  const text = textAt(part, 'text') ?? textAt(objectAt(part, 'audioTranscription'), 'text');
  if (text !== undefined) {
    const kind = part.thought === true ? 'thinking' : 'text';
    return { kind, text, signature: readPartSignature(signatureText, kind) };
  }
  const media = readMedia(part, context.place);
  if (media !== undefined) {
    return { ...media, signature: readPartSignature(signatureText, 'media') };
  }
  const call = objectAt(part, 'functionCall');
  if (call !== undefined) return readCall(call, signatureText, context);
  const response = objectAt(part, 'functionResponse');
  if (response !== undefined) return readResponse(response, context);
  return readCodePart(part, signatureText) ?? readServerTool(part, context);
}

/** `MEDIA_RESOLUTION_LOW` or `LOW`; undefined for unspecified and unknown values. */
export function readResolution(value: string | undefined): MediaResolution | undefined {
  return RESOLUTIONS.get(value?.replace('MEDIA_RESOLUTION_', '') ?? '');
}

/** Notes members that the translate lane cannot carry. */
export function noteUncarried(owner: JsonObject, members: readonly string[], place: Place): void {
  for (const member of members) {
    if (owner[member] === undefined) continue;
    const reason = told`The upstream in use has no counterpart.`;
    place.receipt.add('dropped', `${place.path}.${member}`, reason);
  }
}

function readMedia(owner: JsonObject, place: Place): MediaPart | undefined {
  const inline = objectAt(owner, 'inlineData');
  const blob = inline ?? objectAt(owner, 'fileData');
  if (blob === undefined) return undefined;
  const mediaType = textAt(blob, 'mimeType');
  const level = textAt(objectAt(owner, 'mediaResolution'), 'level');
  const source: MediaSource =
    inline === undefined
      ? {
          kind: 'file',
          uri: textAt(blob, 'fileUri') ?? '',
          path: `${place.path}.fileData.fileUri`,
        }
      : { kind: 'base64', base64: textAt(blob, 'data') ?? '' };
  if (level?.endsWith('ULTRA_HIGH') === true) {
    place.receipt.add('approximated', `${place.path}.mediaResolution`, told`Sent as high.`);
  }
  return {
    kind: 'media',
    modality: readModality(mediaType ?? ''),
    mediaType,
    source,
    resolution: readResolution(level),
  };
}

function readModality(mediaType: string): Modality {
  const [type] = mediaType.toLowerCase().split('/');
  return type === 'image' || type === 'audio' || type === 'video' ? type : 'document';
}

function readCall(call: JsonObject, signatureText: string | undefined, context: PartContext): Part {
  const name = textAt(call, 'name') ?? '';
  return {
    kind: 'tool-call',
    id: context.callIds.call(textAt(call, 'id'), name, context.position),
    name,
    input: objectAt(call, 'args') ?? {},
    signature: readPartSignature(signatureText, 'tool-call'),
  };
}

/** By convention a lone `output` or `error` text is the result; any other object is it as a whole. */
function readResponse(response: JsonObject, context: PartContext): Part {
  const place = { ...context.place, path: `${context.place.path}.functionResponse` };
  noteUncarried(response, ['scheduling', 'willContinue'], place);
  const name = textAt(response, 'name') ?? '';
  const value = objectAt(response, 'response') ?? {};
  const [key, ...otherKeys] = Object.keys(value);
  const isError = key === 'error' && otherKeys.length === 0;
  const isPlain = otherKeys.length === 0 && (key === 'error' || key === 'output');
  const text = isPlain ? textAt(value, key) : undefined;
  const media = objectsAt(response, 'parts').map((part, index) => {
    const inner = { ...place, path: `${place.path}.parts[${index}]` };
    noteUncarried(part, UNCARRIED_OF_MEDIA, inner);
    return readMedia(part, inner);
  });
  const content: ToolResultContent[] = [
    text === undefined ? { kind: 'json', value } : { kind: 'text', text },
    ...media.filter((part) => part !== undefined),
  ];
  const callId = context.callIds.result(textAt(response, 'id'), name, context.position);
  return { kind: 'tool-result', callId, name, content, isError };
}

function readCodePart(part: JsonObject, signatureText: string | undefined): Part | undefined {
  const code = objectAt(part, 'executableCode');
  const signature = readPartSignature(signatureText, 'text');
  if (code !== undefined) {
    const language = textAt(code, 'language') ?? 'PYTHON';
    return {
      kind: 'code',
      id: textAt(code, 'id'),
      language: language.toLowerCase(),
      code: textAt(code, 'code') ?? '',
      signature,
    };
  }
  const result = objectAt(part, 'codeExecutionResult');
  if (result === undefined) return undefined;
  return {
    kind: 'code-result',
    id: textAt(result, 'id'),
    outcome: OUTCOMES.get(textAt(result, 'outcome') ?? '') ?? 'failed',
    output: textAt(result, 'output') ?? '',
    signature,
  };
}

function readServerTool(part: JsonObject, context: PartContext): Part | undefined {
  const call = objectAt(part, 'toolCall');
  if (call !== undefined) {
    const name = textAt(call, 'toolType') ?? '';
    const id = textAt(call, 'id') ?? `server_${context.position}`;
    return { kind: 'server-tool-call', id, name, input: objectAt(call, 'args') ?? {} };
  }
  const response = objectAt(part, 'toolResponse');
  if (response === undefined) return undefined;
  return {
    kind: 'server-tool-result',
    callId: textAt(response, 'id') ?? '',
    name: textAt(response, 'toolType') ?? '',
    text: JSON.stringify(objectAt(response, 'response') ?? {}),
  };
}
