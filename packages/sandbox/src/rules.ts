// What a well-formed request must also satisfy by its meaning, topic by topic, in order.

import { badRequest, type Violation } from './errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import type { ModelThinking, SandboxModel } from './models.ts';
import { ASPECT_RATIOS, SIZE_CLASSES } from './pictures.ts';
import type { Signatures } from './state.ts';
import {
  type Content,
  declarationsOf,
  type FunctionCall,
  type FunctionDeclaration,
  type FunctionResponse,
  functionCallsOf,
  functionResponsesOf,
  type GenerateRequest,
  type GenerationConfig,
  type ImageConfig,
  type Part,
  partsOf,
  type Schema,
  type ThinkingConfig,
  type Tool,
} from './wire.ts';

/** Adds one violation: the snake_case path of the field ('' for the whole request) and what is wrong. */
export type Report = (field: string, description: string) => void;

interface RuleSubject {
  readonly request: GenerateRequest;
  readonly model: SandboxModel;
  readonly signatures: Signatures;
  /** True where the model is called as Vertex AI has it. */
  readonly isProjectPath?: boolean | undefined;
}

type Rule = (subject: RuleSubject, report: Report) => void;

const DATA_FIELDS = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
] as const satisfies readonly (keyof Part)[];

/** Data only a model produces. */
const MODEL_DATA = ['functionCall', 'executableCode', 'codeExecutionResult', 'toolCall'] as const;

const MEDIA_TYPE =
  /^(?:(?:image|audio|video|text)\/[\w.+-]+|application\/(?:pdf|json|rtf|x-javascript|x-python))$/;

const checkContents: Rule = ({ request }, report) => {
  const contents = request.contents ?? [];
  if (contents.length === 0) report('contents', 'must hold at least one content');
  contents.forEach((content, index) => {
    checkRole(content, `contents[${index}]`, report);
    checkParts(content, `contents[${index}]`, report);
  });
  if (request.systemInstruction !== undefined) {
    checkSystemInstruction(request.systemInstruction, report);
  }
  if (request.cachedContent !== undefined) {
    report('cached_content', 'the sandbox keeps no cached contents; send the contents themselves');
  }
};

/** Parts alone, for token counting, which is indifferent to roles and order. */
export function checkParts(content: Content, at: string, report: Report): void {
  const parts = partsOf(content);
  if (parts.length === 0) report(`${at}.parts`, 'must not be empty');
  parts.forEach((part, index) => {
    checkPart(part, `${at}.parts[${index}]`, report);
  });
}

function checkRole(content: Content, at: string, report: Report): void {
  const { role } = content;
  if (role !== 'user' && role !== 'model') {
    const given = role === undefined ? 'missing' : JSON.stringify(role);
    report(`${at}.role`, `is ${given}; valid roles are "user" and "model"`);
    return;
  }
  partsOf(content).forEach((part, index) => {
    const misplaced =
      role === 'user'
        ? MODEL_DATA.find((name) => part[name] !== undefined)
        : part.functionResponse && 'functionResponse';
    if (misplaced !== undefined) {
      report(`${at}.parts[${index}]`, `a ${misplaced} does not belong in a ${role} turn`);
    }
    if (role === 'user' && part.thought === true) {
      report(`${at}.parts[${index}].thought`, 'only model turns hold thoughts');
    }
  });
}

function checkSystemInstruction(content: Content, report: Report): void {
  if (content.role !== undefined && !['user', 'system'].includes(content.role)) {
    report('system_instruction.role', 'must be absent, "user" or "system"');
  }
  checkParts(content, 'system_instruction', report);
  if (partsOf(content).some((part) => part.text === undefined)) {
    report('system_instruction.parts', 'only text parts are accepted here');
  }
}

function checkPart(part: Part, at: string, report: Report): void {
  const present = DATA_FIELDS.filter((name) => part[name] !== undefined);
  if (present.length === 0) report(at, 'a part needs one data field, such as text');
  if (present.length > 1) report(at, `a part takes one data field, not ${present.join(' and ')}`);
  if (part.text === '' && !part.thoughtSignature) report(`${at}.text`, 'must not be empty');
  if (part.inlineData !== undefined) checkBlob(part.inlineData, `${at}.inline_data`, report);
  if (part.fileData !== undefined && !/^https?:\/\/\S+$/.test(part.fileData.fileUri ?? '')) {
    report(`${at}.file_data.file_uri`, 'must be an http or https address');
  }
  if (part.functionCall !== undefined && !part.functionCall.name) {
    report(`${at}.function_call.name`, 'must not be empty');
  }
  checkResponse(part, at, report);
}

function checkResponse(part: Part, at: string, report: Report): void {
  const response = part.functionResponse;
  if (response === undefined) return;
  if (!response.name) report(`${at}.function_response.name`, 'must not be empty');
  if (response.response === undefined) {
    report(`${at}.function_response.response`, 'is missing; give a JSON object');
  }
  response.parts?.forEach(({ inlineData }, index) => {
    checkBlob(inlineData ?? {}, `${at}.function_response.parts[${index}].inline_data`, report);
  });
}

function checkBlob(
  blob: { readonly mimeType?: string; readonly data?: string },
  at: string,
  report: Report,
): void {
  if (!blob.data) report(`${at}.data`, 'must not be empty');
  const type = blob.mimeType ?? '';
  if (!MEDIA_TYPE.test(type.split(';', 1)[0] ?? '')) {
    report(`${at}.mime_type`, `${JSON.stringify(type)} is not a supported media type`);
  }
}

const checkTurnOrder: Rule = ({ request }, report) => {
  const contents = request.contents ?? [];
  if (contents[0]?.role !== 'user') report('contents[0].role', 'a conversation starts with "user"');
  contents.forEach((content, index) => {
    const at = `contents[${index}]`;
    const previous = contents[index - 1];
    if (functionCallsOf(content).length > 0) {
      if (previous !== undefined && previous.role !== 'user') {
        report(at, 'a function call turn must directly follow a user or function response turn');
      }
      checkCallIds(content, at, report);
      checkAnswered(content, contents[index + 1], { at: `contents[${index + 1}]`, report });
    }
    if (functionResponsesOf(content).length > 0 && functionCallsOf(previous).length === 0) {
      report(at, 'a function response turn must directly follow its function call turn');
    }
  });
};

function checkCallIds(content: Content, at: string, report: Report): void {
  const ids = functionCallsOf(content).flatMap((call) => call.id ?? []);
  if (new Set(ids).size < ids.length) report(at, 'two function calls carry the same id');
}

function checkAnswered(
  callTurn: Content,
  next: Content | undefined,
  { at, report }: { readonly at: string; readonly report: Report },
): void {
  const calls = functionCallsOf(callTurn);
  const responses = functionResponsesOf(next);
  if (responses.length !== calls.length) {
    report(
      at,
      `${calls.length} function calls need as many function responses in the turn right behind them, not ${responses.length}`,
    );
    return;
  }
  const open = new Set(calls);
  responses.forEach((response, index) => {
    const call = findCall(response, calls, index);
    if (call === undefined || !open.delete(call)) {
      const id = JSON.stringify(response.id ?? null);
      report(at, `function_response.id ${id} matches no open call of the turn before`);
    } else if (call.name !== response.name) {
      report(
        at,
        `function_response.name ${JSON.stringify(response.name)} is not the called function ${JSON.stringify(call.name)}`,
      );
    }
  });
}

/** By id when the response gives one, else by position. */
function findCall(
  response: FunctionResponse,
  calls: readonly FunctionCall[],
  index: number,
): FunctionCall | undefined {
  return response.id === undefined
    ? calls[index]
    : calls.find((candidate) => candidate.id === response.id);
}

const checkSignatures: Rule = (subject, report) => {
  const contents = subject.request.contents ?? [];
  const turnStart = findTurnStart(contents);
  contents.forEach((content, index) => {
    checkGenuine(content, { subject, at: `contents[${index}]`, report });
    if (index > turnStart) checkFirstCall(content, index, report);
  });
};

/** The last user content without function responses: everything behind it is the current turn. */
function findTurnStart(contents: readonly Content[]): number {
  return contents.findLastIndex(
    (content) => content.role === 'user' && functionResponsesOf(content).length === 0,
  );
}

function checkGenuine(
  content: Content,
  { subject, at, report }: { subject: RuleSubject; at: string; report: Report },
): void {
  partsOf(content).forEach((part, index) => {
    const field = `${at}.parts[${index}].thought_signature`;
    const call = part.functionCall;
    const where = call === undefined ? 'this part' : `function call \`${call.name}\``;
    const verdict = subject.signatures.check(part, subject.model.family);
    if (verdict === 'invalid') report(field, `Corrupted thought signature for ${where}`);
    if (verdict === 'other-family') {
      report(
        field,
        `Invalid thought signature for ${where}: it was issued by another model family`,
      );
    }
  });
}

function checkFirstCall(content: Content, index: number, report: Report): void {
  const first = partsOf(content).findIndex((part) => part.functionCall !== undefined);
  const part = partsOf(content)[first];
  if (part === undefined || part.thoughtSignature) return;
  report(
    `contents[${index}].parts[${first}].thought_signature`,
    `function call \`${part.functionCall?.name}\` in content ${index + 1} is missing a thought_signature`,
  );
}

/** The narrower of the two documented limits (64 and 128). */
const MAX_NAME_LENGTH = 64;
const MAX_DECLARATIONS = 512;
const FUNCTION_NAME = /^[A-Za-z_][A-Za-z0-9_.:-]*$/;
const OFFERED_BUILT_INS = new Set([
  'functionDeclarations',
  'vendoraSearch',
  'urlContext',
  'codeExecution',
]);

const checkTools: Rule = ({ request, isProjectPath }, report) => {
  const tools = request.tools ?? [];
  tools.forEach((tool, index) => {
    checkTool(tool, `tools[${index}]`, report);
  });
  checkNames(declarationsOf(request), report);
  const hasBuiltIn = tools.some((tool) =>
    Object.keys(tool).some((key) => key !== 'functionDeclarations'),
  );
  const combined = hasBuiltIn && declarationsOf(request).length > 0;
  const asked = request.toolConfig?.includeServerSideToolInvocations;
  if (isProjectPath) {
    const description = 'unknown field "include_server_side_tool_invocations"';
    if (asked !== undefined) report('tool_config', description);
  } else if (combined && asked !== true) {
    report(
      'tools',
      'built-in tools stand beside function declarations only with tool_config.include_server_side_tool_invocations',
    );
  }
};

function checkTool(tool: Tool, at: string, report: Report): void {
  const keys = Object.keys(tool);
  if (keys.length === 0) report(at, 'must name a kind of tool');
  for (const key of keys.filter((name) => !OFFERED_BUILT_INS.has(name))) {
    report(at, `the sandbox does not offer the tool ${key}`);
  }
  if (tool.functionDeclarations?.length === 0) {
    report(`${at}.function_declarations`, 'must not be empty');
  }
  tool.functionDeclarations?.forEach((declaration, index) => {
    checkDeclaration(declaration, `${at}.function_declarations[${index}]`, report);
  });
}

function checkDeclaration(declaration: FunctionDeclaration, at: string, report: Report): void {
  const name = declaration.name ?? '';
  if (!FUNCTION_NAME.test(name) || name.length > MAX_NAME_LENGTH) {
    report(
      `${at}.name`,
      `${JSON.stringify(name)} is not a function name: a letter or "_" first, then letters, digits, "_", ".", ":" or "-", at most ${MAX_NAME_LENGTH}`,
    );
  }
  const { parameters, parametersJsonSchema, response, responseJsonSchema } = declaration;
  if (parameters !== undefined && parametersJsonSchema !== undefined) {
    report(at, 'parameters and parameters_json_schema exclude each other');
  }
  if (response !== undefined && responseJsonSchema !== undefined) {
    report(at, 'response and response_json_schema exclude each other');
  }
  if (parameters !== undefined) {
    if (parameters.type !== 'OBJECT') report(`${at}.parameters.type`, 'must be OBJECT');
    checkSchema(parameters, `${at}.parameters`, report);
  }
  if (response !== undefined) checkSchema(response, `${at}.response`, report);
  checkJsonParameters(parametersJsonSchema, `${at}.parameters_json_schema`, report);
}

function checkJsonParameters(schema: JsonValue | undefined, at: string, report: Report): void {
  if (schema === undefined) return;
  if (!isJsonObject(schema)) {
    report(at, 'must be a JSON Schema object');
    return;
  }
  const type = schema.type;
  if (type !== undefined && !(typeof type === 'string' && type.toLowerCase() === 'object')) {
    report(`${at}.type`, 'must be "object"');
  }
  checkReferences(schema, at, report);
}

function checkNames(declarations: readonly FunctionDeclaration[], report: Report): void {
  if (declarations.length > MAX_DECLARATIONS) {
    report(
      'tools',
      `at most ${MAX_DECLARATIONS} function declarations, not ${declarations.length}`,
    );
  }
  const seen = new Set<string>();
  for (const { name = '' } of declarations) {
    if (seen.has(name)) report('tools', `function ${JSON.stringify(name)} is declared twice`);
    seen.add(name);
  }
}

const CALLING = 'tool_config.function_calling_config';

const checkFunctionCalling: Rule = ({ request }, report) => {
  const config = request.toolConfig?.functionCallingConfig;
  if (config === undefined) return;
  const declared = new Set(declarationsOf(request).map(({ name }) => name));
  const allowed = config.allowedFunctionNames ?? [];
  if ((config.mode === 'ANY' || config.mode === 'VALIDATED') && declared.size === 0) {
    report(`${CALLING}.mode`, `${config.mode} needs function declarations`);
  }
  if (allowed.length > 0 && config.mode !== 'ANY' && config.mode !== 'VALIDATED') {
    report(`${CALLING}.allowed_function_names`, 'is accepted with mode ANY or VALIDATED only');
  }
  for (const name of allowed) {
    if (!declared.has(name)) {
      report(
        `${CALLING}.allowed_function_names`,
        `${JSON.stringify(name)} is not a declared function`,
      );
    }
  }
};

type NumericField = 'temperature' | 'topP' | 'topK' | 'candidateCount' | 'logprobs' | Penalty;
type Penalty = 'presencePenalty' | 'frequencyPenalty';

interface Range {
  readonly field: NumericField;
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

const RANGES: readonly Range[] = [
  { field: 'temperature', path: 'temperature', from: 0, to: 2 },
  { field: 'topP', path: 'top_p', from: 0, to: 1 },
  { field: 'topK', path: 'top_k', from: 1, to: 1000 },
  { field: 'candidateCount', path: 'candidate_count', from: 1, to: 8 },
  { field: 'logprobs', path: 'logprobs', from: 0, to: 20 },
  { field: 'presencePenalty', path: 'presence_penalty', from: -2, to: 2 },
  { field: 'frequencyPenalty', path: 'frequency_penalty', from: -2, to: 2 },
];

const MAX_STOP_SEQUENCES = 5;

const checkGenerationConfig: Rule = ({ request, model }, report) => {
  const config = request.generationConfig;
  if (config === undefined) return;
  for (const { field, path, from, to } of RANGES) {
    const value = config[field];
    if (value !== undefined && !(value >= from && value <= to)) {
      report(`generation_config.${path}`, `${value} is outside ${from} to ${to}`);
    }
  }
  checkOutputLimit(config.maxOutputTokens, model.outputTokenLimit, report);
  checkStopSequences(config.stopSequences ?? [], report);
  if (config.logprobs !== undefined && config.responseLogprobs !== true) {
    report('generation_config.logprobs', 'needs response_logprobs');
  }
  if (config.speechConfig !== undefined) {
    report('generation_config.speech_config', 'the sandbox speaks no audio');
  }
};

function checkOutputLimit(asked: number | undefined, limit: number, report: Report): void {
  if (asked === undefined || (asked >= 1 && asked <= limit)) return;
  report(
    'generation_config.max_output_tokens',
    `${asked} is outside 1 to ${limit}, the limit of this model`,
  );
}

function checkStopSequences(sequences: readonly string[], report: Report): void {
  const field = 'generation_config.stop_sequences';
  if (sequences.length > MAX_STOP_SEQUENCES) {
    report(field, `at most ${MAX_STOP_SEQUENCES} sequences, not ${sequences.length}`);
  }
  if (sequences.includes('')) report(field, 'must not hold an empty sequence');
}

const THINKING = 'generation_config.thinking_config';
/** The budget that leaves the amount to the model. */
const AUTOMATIC = -1;

const checkThinking: Rule = ({ request, model }, report) => {
  const config = request.generationConfig?.thinkingConfig;
  if (config === undefined) return;
  if (model.thinking === undefined && model.drawsImages === true) {
    checkDrawing(config, report);
    return;
  }
  if (model.thinking === undefined) {
    report(THINKING, `${model.id} does not think; leave thinking_config out`);
    return;
  }
  const level = askedLevel(config);
  if (config.thinkingBudget !== undefined && level !== undefined) {
    report(THINKING, 'takes thinking_budget or thinking_level, not both');
  }
  if (level !== undefined) checkLevel(level, model.thinking, report);
  checkBudget(request.generationConfig ?? {}, model.thinking, report);
};

/** An image model thinks as it likes; its thoughts, pictures among them, can be shown. */
function checkDrawing({ includeThoughts: _shown, ...rest }: ThinkingConfig, report: Report): void {
  if (Object.keys(rest).length > 0) report(THINKING, 'takes include_thoughts alone for this model');
}

function askedLevel(config: ThinkingConfig): string | undefined {
  return config.thinkingLevel === 'THINKING_LEVEL_UNSPECIFIED' ? undefined : config.thinkingLevel;
}

function checkLevel(level: string, { levels }: ModelThinking, report: Report): void {
  if (levels.includes(level)) return;
  report(
    `${THINKING}.thinking_level`,
    levels.length === 0
      ? 'this model takes a thinking_budget only'
      : `${level} is not a level of this model (${levels.join(', ')})`,
  );
}

function checkBudget(config: GenerationConfig, thinking: ModelThinking, report: Report): void {
  const budget = config.thinkingConfig?.thinkingBudget;
  if (budget === undefined || budget === AUTOMATIC || budget === 0) return;
  const { minBudget, maxBudget } = thinking;
  if (budget < minBudget || budget > maxBudget) {
    report(
      `${THINKING}.thinking_budget`,
      `${budget} is neither 0 nor within ${minBudget} to ${maxBudget}`,
    );
  }
  const limit = config.maxOutputTokens;
  if (limit !== undefined && limit <= budget) {
    report(
      'generation_config.max_output_tokens',
      `${limit} must be greater than the thinking_budget ${budget}`,
    );
  }
}

const CONFIG = 'generation_config';
const MAX_PICTURES = 14;

const checkPictures: Rule = ({ request, model }, report) => {
  const {
    responseModalities = [],
    imageConfig,
    candidateCount = 1,
  } = request.generationConfig ?? {};
  const possible = model.drawsImages === true ? ['TEXT', 'IMAGE'] : ['TEXT'];
  const other = responseModalities.find((modality) => !possible.includes(modality));
  if (other !== undefined) {
    const description = `${model.id} answers in ${possible.join(' and ')}, not in ${other}`;
    report(`${CONFIG}.response_modalities`, description);
  }
  if (imageConfig !== undefined) checkImageConfig(imageConfig, model, report);
  if (model.drawsImages !== true) return;
  if (candidateCount > 1) {
    report(`${CONFIG}.candidate_count`, `${model.id} gives one candidate at a time`);
  }
  const pictures = (request.contents ?? [])
    .flatMap((content) => partsOf(content))
    .filter(({ inlineData }) => inlineData?.mimeType?.startsWith('image/'));
  if (pictures.length > MAX_PICTURES) {
    report(
      'contents',
      `${model.id} takes at most ${MAX_PICTURES} pictures, not ${pictures.length}`,
    );
  }
};

function checkImageConfig(
  { aspectRatio, imageSize }: ImageConfig,
  model: SandboxModel,
  report: Report,
): void {
  const field = `${CONFIG}.image_config`;
  if (model.drawsImages !== true) {
    report(field, `${model.id} draws no images`);
    return;
  }
  if (aspectRatio !== undefined && !ASPECT_RATIOS.includes(aspectRatio)) {
    report(`${field}.aspect_ratio`, `must be one of ${ASPECT_RATIOS.join(', ')}`);
  }
  if (imageSize !== undefined && !SIZE_CLASSES.includes(imageSize)) {
    report(`${field}.image_size`, `must be one of ${SIZE_CLASSES.join(', ')}`);
  }
}

const CONFIG_AT = 'generation_config';
const JSON_TYPE = 'application/json';
const ENUM_TYPE = 'text/x.enum';

const checkOutputFormat: Rule = ({ request }, report) => {
  const config = request.generationConfig ?? {};
  const { responseMimeType, responseSchema, responseJsonSchema } = config;
  const type = responseMimeType ?? '';
  if (!['', 'text/plain', JSON_TYPE, ENUM_TYPE].includes(type)) {
    report(
      `${CONFIG_AT}.response_mime_type`,
      `${JSON.stringify(type)} is not a supported output type`,
    );
  }
  if (responseSchema !== undefined && responseJsonSchema !== undefined) {
    report(CONFIG_AT, 'response_schema and response_json_schema exclude each other');
  }
  const hasSchema = responseSchema !== undefined || responseJsonSchema !== undefined;
  if (hasSchema && type !== JSON_TYPE && type !== ENUM_TYPE) {
    report(
      `${CONFIG_AT}.response_mime_type`,
      `must be ${JSON_TYPE} when a response schema is given`,
    );
  }
  if (type === ENUM_TYPE && !responseSchema?.enum?.length) {
    report(`${CONFIG_AT}.response_schema`, `${ENUM_TYPE} needs a STRING schema with enum`);
  }
  if (responseSchema !== undefined)
    checkSchema(responseSchema, `${CONFIG_AT}.response_schema`, report);
  if (responseJsonSchema === undefined) return;
  if (isJsonObject(responseJsonSchema)) {
    checkReferences(responseJsonSchema, `${CONFIG_AT}.response_json_schema`, report);
  } else {
    report(`${CONFIG_AT}.response_json_schema`, 'must be a JSON Schema object');
  }
};

const checkSafetySettings: Rule = ({ request }, report) => {
  const seen = new Set<string>();
  request.safetySettings?.forEach(({ category, threshold }, index) => {
    const at = `safety_settings[${index}]`;
    if (category === undefined) report(`${at}.category`, 'is missing');
    if (threshold === undefined) report(`${at}.threshold`, 'is missing');
    if (category === undefined) return;
    if (seen.has(category)) report(`${at}.category`, `${category} is given twice`);
    seen.add(category);
  });
};

const FORMATS = new Map([
  ['STRING', ['enum', 'date-time']],
  ['NUMBER', ['float', 'double']],
  ['INTEGER', ['int32', 'int64']],
]);

/** Reports every violation in the schema and in all it holds. */
function checkSchema(schema: Schema, at: string, report: Report): void {
  if (schema.type === undefined && !schema.anyOf?.length) {
    report(`${at}.type`, 'must be given, or any_of');
  }
  checkFormat(schema, at, report);
  checkEnum(schema, at, report);
  checkItems(schema, at, report);
  checkProperties(schema, at, report);
  schema.anyOf?.forEach((branch, index) => {
    checkSchema(branch, `${at}.any_of[${index}]`, report);
  });
}

function checkFormat({ type = '', format }: Schema, at: string, report: Report): void {
  if (format === undefined || format === '') return;
  const known = FORMATS.get(type);
  if (known === undefined) {
    if (type !== '') report(`${at}.format`, `has no meaning for type ${type}`);
  } else if (!known.includes(format)) {
    report(
      `${at}.format`,
      `type ${type} knows ${known.join(' and ')}, not ${JSON.stringify(format)}`,
    );
  }
}

/** An empty list is an absent one: protobuf.dev, "Application Note: Field Presence", repeated fields. */
function checkEnum(schema: Schema, at: string, report: Report): void {
  if (!schema.enum?.length) return;
  if (schema.type !== 'STRING') report(`${at}.enum`, 'is allowed for type STRING only');
  if (schema.enum.includes('')) report(`${at}.enum`, 'must hold non-empty values');
}

function checkItems(schema: Schema, at: string, report: Report): void {
  if (schema.type === 'ARRAY' && schema.items === undefined) {
    report(`${at}.items`, 'is missing for type ARRAY');
  }
  if (schema.items === undefined) return;
  if (schema.type !== 'ARRAY') report(`${at}.items`, 'is allowed for type ARRAY only');
  checkSchema(schema.items, `${at}.items`, report);
}

function checkProperties(schema: Schema, at: string, report: Report): void {
  const properties = schema.properties ?? {};
  const entries = Object.entries(properties);
  if (schema.type === 'OBJECT' && entries.length === 0) {
    report(`${at}.properties`, 'must not be empty for type OBJECT');
  }
  if (schema.type !== 'OBJECT' && schema.properties !== undefined) {
    report(`${at}.properties`, 'is allowed for type OBJECT only');
  }
  for (const list of ['required', 'propertyOrdering'] as const) {
    const unknown = schema[list]?.find((name) => !Object.hasOwn(properties, name));
    if (unknown !== undefined) {
      const field = list === 'required' ? 'required' : 'property_ordering';
      report(`${at}.${field}`, `names ${JSON.stringify(unknown)}, which is not a property`);
    }
  }
  for (const [name, property] of entries) {
    checkSchema(property, `${at}.properties[${JSON.stringify(name)}]`, report);
  }
}

/** Reports every `$ref` that does not resolve inside the schema itself. */
function checkReferences(root: JsonObject, at: string, report: Report): void {
  const visit = (value: JsonValue): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (!isJsonObject(value)) return;
    const reference = value.$ref;
    if (typeof reference === 'string' && resolveReference(root, reference) === undefined) {
      report(at, `$ref ${JSON.stringify(reference)} does not resolve inside the schema`);
    }
    Object.values(value).forEach(visit);
  };
  visit(root);
}

/** The sub-schema a reference such as `#/$defs/node` or `#anchor` names; undefined when there is none. */
export function resolveReference(root: JsonObject, reference: string): JsonValue | undefined {
  if (reference === '#') return root;
  if (reference.startsWith('#/')) return followPointer(root, reference.slice(2));
  if (reference.startsWith('#')) return findByAnchor(root, reference.slice(1));
  return undefined;
}

/** RFC 6901, in its URI fragment form. */
function followPointer(root: JsonObject, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const step of pointer.split('/')) {
    const key = decodeStep(step);
    if (Array.isArray(value)) value = value[Number(key)];
    else if (isJsonObject(value) && Object.hasOwn(value, key)) value = value[key];
    else return undefined;
  }
  return value;
}

function decodeStep(step: string): string {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

function findByAnchor(value: JsonValue, anchor: string): JsonValue | undefined {
  if (isJsonObject(value) && value.$anchor === anchor) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const item of Object.values(value)) {
    const found = findByAnchor(item, anchor);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Later stages rely on what earlier ones have checked; the first stage with violations ends the check. */
const STAGES: readonly (readonly Rule[])[] = [
  [checkContents],
  [
    checkTurnOrder,
    checkTools,
    checkFunctionCalling,
    checkGenerationConfig,
    checkPictures,
    checkThinking,
    checkOutputFormat,
    checkSafetySettings,
  ],
  [checkSignatures],
];

/** @throws SandboxError 400 listing the violations. */
export function checkRequest(subject: RuleSubject): void {
  for (const stage of STAGES) {
    checkAll((report) => {
      for (const rule of stage) rule(subject, report);
    });
  }
}

/** @throws SandboxError 400 listing what the check reports. */
export function checkAll<Result>(check: (report: Report) => Result): Result {
  const violations: Violation[] = [];
  const result = check((field, description) => {
    violations.push({ field, description });
  });
  if (violations.length > 0) throw badRequest(violations);
  return result;
}
