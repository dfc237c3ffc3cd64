// Reads a recorded request as a conversation of the playground: what a person would have typed there.

import type { Attachment } from './attachments.ts';
import { at, listAt, textAt } from './json-at.ts';
import { readTools } from './tools.ts';
import type { WireProtocol } from './wire-protocol.ts';
import {
  type Draft,
  effortOf,
  joinTurns,
  THINKING_TOKENS,
  type ToolResult,
  type Turn,
} from './write-request.ts';

export interface ReadRequest {
  readonly draft: Partial<Draft>;
  readonly turns: readonly Turn[];
  /** As JSON; '' without any. */
  readonly tools: string;
}

/** What the playground has no field for is left out. Undefined for a body that is no JSON object. */
export function readRequest(
  protocol: Exclude<WireProtocol, 'images'>,
  model: string,
  text: string,
): ReadRequest | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  const { system, turns } = readConversation(protocol, body);
  const tools = at(body, 'tools');
  const isKnown = tools !== undefined && readTools(JSON.stringify(tools)) !== undefined;
  const settings = protocol === 'generate' ? at(body, 'generationConfig') : body;
  const thinkingTokens = readThinking(settings);
  // The answer of a Messages request comes on top of the thinking.
  const beside = numberAt(at(settings, 'thinking'), 'budget_tokens') ?? 0;
  const limit = MAX_TOKENS.map((name) => numberAt(settings, name)).find(Boolean);
  const maxTokens = limit !== undefined && limit > beside ? limit - beside : limit;
  const temperature = numberAt(settings, 'temperature');
  return {
    draft: {
      protocol,
      model,
      system,
      stream: protocol === 'generate' || at(body, 'stream') === true,
      ...(maxTokens === undefined ? {} : { maxTokens }),
      ...(temperature === undefined ? {} : { temperature }),
      ...(thinkingTokens === undefined ? {} : { thinkingTokens }),
    },
    turns: nameResults(joinCalls(turns.filter(isSaid))),
    tools: isKnown ? JSON.stringify(tools, null, 2) : '',
  };
}

const MAX_TOKENS = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'maxOutputTokens',
] as const;

/** The step of the playground that is asked for, in the words or the tokens of any of the protocols. */
function readThinking(settings: unknown): number | undefined {
  const config = at(settings, 'thinkingConfig');
  const tokens =
    numberAt(at(settings, 'thinking'), 'budget_tokens') ?? numberAt(config, 'thinkingBudget') ?? 0;
  if (tokens > 0) return THINKING_TOKENS[effortOf(tokens)];
  const words = [
    textAt(settings, 'reasoning_effort'),
    textAt(at(settings, 'reasoning'), 'effort'),
    textAt(at(settings, 'output_config'), 'effort'),
    textAt(config, 'thinkingLevel').toLowerCase(),
  ];
  return WORDS.get(words.find((word) => word !== '') ?? '');
}

const WORDS = new Map<string, number>([
  ['minimal', THINKING_TOKENS.low],
  ...Object.entries(THINKING_TOKENS),
  ['xhigh', THINKING_TOKENS.high],
  ['max', THINKING_TOKENS.high],
]);

interface Read {
  readonly system: string;
  readonly turns: readonly Turn[];
}

function readConversation(protocol: Exclude<WireProtocol, 'images'>, body: unknown): Read {
  switch (protocol) {
    case 'chat': {
      const messages = listAt(body, 'messages');
      const isSystem = (one: unknown): boolean =>
        /^(?:system|developer)$/.test(textAt(one, 'role'));
      return {
        system: messages
          .filter(isSystem)
          .map((one) => wordsOf(at(one, 'content')))
          .join('\n\n'),
        turns: messages.filter((one) => !isSystem(one)).map(readMessage),
      };
    }
    case 'messages':
      return {
        system: wordsOf(at(body, 'system')),
        turns: listAt(body, 'messages').map(readMessage),
      };
    case 'generate':
      return {
        system: wordsOf(
          listAt(at(body, 'systemInstruction') ?? at(body, 'system_instruction'), 'parts'),
        ),
        turns: listAt(body, 'contents').map((content) => ({
          role: textAt(content, 'role') === 'model' ? 'assistant' : 'user',
          ...readParts(listAt(content, 'parts')),
        })),
      };
    case 'responses': {
      const input = at(body, 'input');
      const items =
        typeof input === 'string' ? [{ role: 'user', content: input }] : listAt(body, 'input');
      return { system: textAt(body, 'instructions'), turns: items.map(readItem) };
    }
    default:
      return protocol satisfies never;
  }
}

function readMessage(message: unknown): Turn {
  const role = textAt(message, 'role');
  const content = at(message, 'content');
  if (role === 'tool') {
    const result = { id: textAt(message, 'tool_call_id'), name: '', text: wordsOf(content) };
    return { role: 'user', text: '', results: [result] };
  }
  const calls = listAt(message, 'tool_calls').map((call) => ({
    id: textAt(call, 'id'),
    name: textAt(at(call, 'function'), 'name'),
    text: textAt(at(call, 'function'), 'arguments'),
  }));
  const parts =
    typeof content === 'string' ? { text: content } : readParts(listAt(message, 'content'));
  const turn: Turn = { role: role === 'assistant' ? 'assistant' : 'user', ...parts };
  return calls.length === 0 ? turn : { ...turn, calls };
}

function readItem(item: unknown): Turn {
  switch (textAt(item, 'type')) {
    case 'function_call': {
      const call = {
        id: textAt(item, 'call_id'),
        name: textAt(item, 'name'),
        text: textAt(item, 'arguments'),
      };
      return { role: 'assistant', text: '', calls: [call] };
    }
    case 'function_call_output': {
      const result = { id: textAt(item, 'call_id'), name: '', text: wordsOf(at(item, 'output')) };
      return { role: 'user', text: '', results: [result] };
    }
    default:
      return readMessage(item);
  }
}

/** Parts of any of the protocols: each has names of its own. */
function readParts(parts: readonly unknown[]): Omit<Turn, 'role'> {
  const files = parts.flatMap(readFile);
  const calls = parts.flatMap((part) => {
    const call = textAt(part, 'type') === 'tool_use' ? part : at(part, 'functionCall');
    if (call === undefined) return [];
    const input = at(call, 'input') ?? at(call, 'args') ?? {};
    return [{ id: textAt(call, 'id'), name: textAt(call, 'name'), text: JSON.stringify(input) }];
  });
  const results = parts.flatMap((part) => {
    if (textAt(part, 'type') === 'tool_result') {
      const text = wordsOf(at(part, 'content'));
      return [{ id: textAt(part, 'tool_use_id'), name: '', text }];
    }
    const response = at(part, 'functionResponse');
    if (response === undefined) return [];
    const text = JSON.stringify(at(response, 'response') ?? {});
    return [{ id: textAt(response, 'id'), name: textAt(response, 'name'), text }];
  });
  return {
    text: wordsOf(parts),
    ...(files.length === 0 ? {} : { files }),
    ...(calls.length === 0 ? {} : { calls }),
    ...(results.length === 0 ? {} : { results }),
  };
}

/** Files that came along with the request; an address elsewhere is left out. */
function readFile(part: unknown): readonly Attachment[] {
  const name = 'file';
  const source = at(part, 'source');
  if (textAt(source, 'type') === 'base64') {
    return [{ name, type: textAt(source, 'media_type'), base64: textAt(source, 'data') }];
  }
  const inline = at(part, 'inlineData') ?? at(part, 'inline_data');
  if (inline !== undefined) {
    const type = textAt(inline, 'mimeType') || textAt(inline, 'mime_type');
    return [{ name, type, base64: textAt(inline, 'data') }];
  }
  const url =
    textAt(at(part, 'image_url'), 'url') ||
    textAt(part, 'image_url') ||
    textAt(part, 'file_data') ||
    textAt(at(part, 'file'), 'file_data');
  const [, type = '', base64 = ''] = /^data:([\w/+.-]+);base64,([\w+/=]*)$/.exec(url) ?? [];
  return base64 === '' ? [] : [{ name, type, base64 }];
}

/** The words of a content, and of all its parts. */
function wordsOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .filter((part) => at(part, 'thought') !== true)
    .map((part) => textAt(part, 'text'))
    .filter((text) => text !== '')
    .join('\n\n');
}

function isSaid({ text, files = [], calls = [], results = [] }: Turn): boolean {
  return text !== '' || files.length > 0 || calls.length > 0 || results.length > 0;
}

/** Calls at once, and what they gave, are several messages in some protocols. */
function joinCalls(turns: readonly Turn[]): readonly Turn[] {
  const joined: Turn[] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    const isOne =
      last?.role === turn.role &&
      (turn.role === 'assistant' || (hasResultsAlone(last) && hasResultsAlone(turn)));
    if (isOne) joined[joined.length - 1] = joinTurns(last, turn);
    else joined.push(turn);
  }
  return joined;
}

function hasResultsAlone({ text, files = [], results = [] }: Turn): boolean {
  return text === '' && files.length === 0 && results.length > 0;
}

/** Most protocols name a result by its call alone. */
function nameResults(turns: readonly Turn[]): readonly Turn[] {
  const calls = turns.flatMap((turn) => turn.calls ?? []);
  const named = (result: ToolResult): ToolResult => ({
    ...result,
    name: result.name || (calls.findLast(({ id }) => id === result.id)?.name ?? ''),
  });
  return turns.map((turn) =>
    turn.results === undefined ? turn : { ...turn, results: turn.results.map(named) },
  );
}

function numberAt(value: unknown, key: string): number | undefined {
  const number = at(value, key);
  return typeof number === 'number' ? number : undefined;
}
