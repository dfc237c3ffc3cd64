// A normalised body as a canonical request, for the translate lane and for counting tokens.

import { memberPath } from '../../canonical/field-reader.ts';
import { type Receipt, receiptWithin, told } from '../../canonical/receipt.ts';
import type {
  CanonicalRequest,
  FunctionTool,
  Part,
  SafetySetting,
  TextPart,
  Tool,
  ToolChoice,
  Turn,
} from '../../canonical/request.ts';
import { splitInlineImages } from '../../canonical/split-inline-images.ts';
import type { JsonObject } from '../../lib/json.ts';
import { createCallIds } from './call-ids.ts';
import { clientNamesOf } from './client-names.ts';
import { numberAt, objectAt, objectsAt, textAt, textsAt } from './native-fields.ts';
import type { Place } from './place.ts';
import { readConfig } from './read-config.ts';
import { noteUncarried, readPart } from './read-parts.ts';

const HOSTED_TOOLS = [
  ...['googleMaps', 'fileSearch', 'computerUse', 'mcpServers', 'retrieval'],
  ...['enterpriseWebSearch', 'exaAiSearch', 'parallelAiSearch'],
];
const SERVER_TOOLS = [
  ['urlContext', 'url-context'],
  ['codeExecution', 'code-execution'],
] as const;
const UNCARRIED_MEMBERS = [
  ...['labels', 'store', 'continuationToken', 'modelArmorConfig', 'outputConfig'],
];

/** `body` is what normalizeBody gave. Repairs nothing: turns stay as the client sent them. */
export function readRequest(body: JsonObject, receipt: Receipt): CanonicalRequest {
  noteTopLevel(body, receipt);
  const config = objectAt(body, 'generationConfig') ?? {};
  const tools = objectsAt(body, 'tools').flatMap((tool, index) => readTools(tool, index, receipt));
  return {
    system: readSystem(body, receipt),
    turns: readTurns(body, receipt),
    tools,
    toolChoice: readToolChoice(body, tools, receipt),
    stopSequences: textsAt(config, 'stopSequences'),
    choices: numberAt(config, 'candidateCount') ?? 1,
    ...readConfig(config, receipt),
    safety: objectsAt(body, 'safetySettings').map((setting, index) =>
      readSafety(setting, { path: `safetySettings[${index}]`, receipt }),
    ),
    serviceTier: textAt(body, 'serviceTier'),
    clientNames: clientNamesOf(config),
  };
}

/**
 * The part of a request that counts: safety settings and the like are no tokens. `wrapperKey` is the
 * field of the client's body the request stands in, '' when it is the body itself.
 */
export function readCountRequest(
  body: JsonObject,
  wrapperKey: string,
  receipt: Receipt,
): CanonicalRequest {
  const counted = countedFields(body);
  if (wrapperKey === '') return readRequest(counted, receipt);
  const within = (path: string): string => memberPath(wrapperKey, path);
  const request = readRequest(counted, receiptWithin(receipt, wrapperKey));
  const names = Object.entries(request.clientNames ?? {});
  return {
    ...request,
    tools: request.tools.map((tool) => placedWithin(tool, within)),
    clientNames: Object.fromEntries(names.map(([word, path]) => [word, within(path)])),
  };
}

/** The fields of a body that counts may depend on: the others are no tokens. */
export function countedFields(body: JsonObject): JsonObject {
  const { safetySettings: _safety, labels: _labels, store: _store, ...counted } = body;
  return counted;
}

function placedWithin(tool: Tool, within: (path: string) => string): Tool {
  const path = tool.path === undefined ? undefined : within(tool.path);
  if (tool.kind !== 'function' || tool.parametersPath === undefined) return { ...tool, path };
  return { ...tool, path, parametersPath: within(tool.parametersPath) };
}

function noteTopLevel(body: JsonObject, receipt: Receipt): void {
  for (const member of UNCARRIED_MEMBERS) {
    if (body[member] === undefined) continue;
    receipt.add('dropped', member, told`The upstream in use has no counterpart.`);
  }
}

function readSystem(body: JsonObject, receipt: Receipt): TextPart[] {
  const system: TextPart[] = [];
  objectsAt(objectAt(body, 'systemInstruction'), 'parts').forEach((part, index) => {
    const text = textAt(part, 'text');
    if (text !== undefined) {
      system.push({ kind: 'text', text });
    } else {
      const path = `systemInstruction.parts[${index}]`;
      receipt.add('dropped', path, told`Instructions are text only.`);
    }
  });
  return system;
}

function readSafety(setting: JsonObject, place: Place): SafetySetting {
  noteUncarried(setting, ['method'], place);
  return {
    category: textAt(setting, 'category') ?? '',
    threshold: textAt(setting, 'threshold') ?? '',
  };
}

function readTurns(body: JsonObject, receipt: Receipt): Turn[] {
  const callIds = createCallIds();
  let lastRole: Turn['role'] = 'user';
  return objectsAt(body, 'contents').map((content, turnIndex): Turn => {
    const role = textAt(content, 'role') === 'model' ? 'assistant' : 'user';
    if (role === 'assistant' && lastRole === 'user') callIds.startStep();
    lastRole = role;
    const parts: Part[] = [];
    objectsAt(content, 'parts').forEach((part, partIndex) => {
      const path = `contents[${turnIndex}].parts[${partIndex}]`;
      const position = `${turnIndex}_${partIndex}`;
      const read = readPart(part, { callIds, position, place: { path, receipt } });
      if (read !== undefined) parts.push(...splitUnsigned(read));
    });
    return { role, parts };
  });
}

/** A signature vouches for the text it stands on, as it is. */
function splitUnsigned(part: Part): readonly Part[] {
  return part.kind === 'text' && part.signature === undefined ? splitInlineImages(part) : [part];
}

function readTools(tool: JsonObject, index: number, receipt: Receipt): Tool[] {
  const place = { path: `tools[${index}]`, receipt };
  noteUncarried(tool, HOSTED_TOOLS, place);
  const tools: Tool[] = objectsAt(tool, 'functionDeclarations').map((declaration, position) => {
    const path = `${place.path}.functionDeclarations[${position}]`;
    noteUncarried(declaration, ['response', 'responseJsonSchema', 'behavior'], { path, receipt });
    return readDeclaration(declaration, path);
  });
  const search = objectAt(tool, 'googleSearch');
  if (search !== undefined) tools.push(readSearch(search, `${place.path}.googleSearch`, receipt));
  else if (tool.googleSearchRetrieval !== undefined) {
    tools.push({ kind: 'web-search', path: `${place.path}.googleSearchRetrieval` });
  }
  for (const [key, kind] of SERVER_TOOLS) {
    if (tool[key] !== undefined) tools.push({ kind, path: `${place.path}.${key}` });
  }
  return tools;
}

function readDeclaration(declaration: JsonObject, path: string): FunctionTool {
  const schema = declaration.parametersJsonSchema;
  const schemaKey = schema === undefined ? 'parameters' : 'parametersJsonSchema';
  return {
    kind: 'function',
    name: textAt(declaration, 'name') ?? '',
    description: textAt(declaration, 'description'),
    parameters: typeof schema === 'boolean' ? schema : readSchema(declaration),
    path,
    parametersPath: `${path}.${schemaKey}`,
  };
}

function readSchema(declaration: JsonObject): JsonObject | undefined {
  return objectAt(declaration, 'parametersJsonSchema') ?? objectAt(declaration, 'parameters');
}

function readSearch(search: JsonObject, path: string, receipt: Receipt): Tool {
  const members = ['timeRangeFilter', 'searchTypes', 'blockingConfidence'];
  noteUncarried(search, members, { path, receipt });
  const blockedDomains = textsAt(search, 'excludeDomains');
  return blockedDomains.length === 0
    ? { kind: 'web-search', path }
    : { kind: 'web-search', path, blockedDomains };
}

/** It is a choice among functions alone: the tools the upstream runs stay allowed. */
function readToolChoice(body: JsonObject, tools: readonly Tool[], receipt: Receipt): ToolChoice {
  const toolConfig = objectAt(body, 'toolConfig') ?? {};
  noteUncarried(toolConfig, ['retrievalConfig'], { path: 'toolConfig', receipt });
  const config = objectAt(toolConfig, 'functionCallingConfig') ?? {};
  const place = { path: 'toolConfig.functionCallingConfig', receipt };
  noteUncarried(config, ['streamFunctionCallArguments'], place);
  const names = textsAt(config, 'allowedFunctionNames');
  const choice = choiceOf(textAt(config, 'mode'), names);
  const kinds = tools.map(({ kind }) => kind);
  const serverTools = kinds.filter((kind) => kind !== 'function' && kind !== 'freeform');
  const isLimited = choice.kind === 'none' || names.length > 0;
  return isLimited && serverTools.length > 0 ? { ...choice, serverTools } : choice;
}

function choiceOf(mode: string | undefined, names: readonly string[]): ToolChoice {
  switch (mode) {
    case 'NONE':
      return { kind: 'none' };
    case 'ANY':
      return { kind: 'required', names };
    case 'VALIDATED':
      return { kind: 'validated', names };
    default:
      return { kind: 'auto', names };
  }
}
