// What a recorded request asked, as the playground writes it: its words and amounts; files and tools are left out.

import type { RequestDetail } from '../../../../src/admin/contract.ts';
import type { Draft, Turn } from '../../wire/write-request.ts';
import type { KeptDraft } from './draft-store.ts';

type Recorded = Pick<RequestDetail, 'protocol' | 'model' | 'stream' | 'clientRequest'>;

/** As JSON has them; whatever else a client sent is left out. */
type Value = unknown;
type Fields = Readonly<Record<string, Value>>;

interface Read {
  readonly system: readonly string[];
  readonly turns: readonly Turn[];
  readonly amounts: Fields;
}

const PROTOCOLS = ['chat', 'responses', 'messages', 'generate'] as const;

/** Undefined where nothing of it is known as a whole. */
export function draftOfRequest(recorded: Recorded): KeptDraft | undefined {
  const { clientRequest, model, stream } = recorded;
  const protocol = PROTOCOLS.find((one) => one === recorded.protocol);
  const body = clientRequest?.isWhole === true ? parse(clientRequest.text) : undefined;
  if (body === undefined || protocol === undefined) return undefined;
  const { system, turns, amounts } = READERS[protocol](body);
  const draft: Partial<Draft> = {
    ...{ protocol, model, stream, system: system.join('\n\n') },
    maxTokens: numberIn(amounts, MAX_TOKENS),
    temperature: numberIn(amounts, ['temperature']),
  };
  return { draft, turns: turns.filter(({ text }) => text !== '') };
}

const MAX_TOKENS = [
  ...(['max_completion_tokens', 'max_tokens', 'max_output_tokens'] as const),
  'maxOutputTokens',
];

const READERS: Readonly<Record<(typeof PROTOCOLS)[number], (body: Fields) => Read>> = {
  chat: (body) => ({ ...conversation(listOf(body.messages)), amounts: body }),
  messages(body) {
    const { system, turns } = conversation(listOf(body.messages));
    return { system: [textOf(body.system), ...system].filter(isText), turns, amounts: body };
  },
  responses(body) {
    const input = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : [];
    const { system, turns } = conversation([...input, ...listOf(body.input)]);
    return { system: [textOf(body.instructions), ...system].filter(isText), turns, amounts: body };
  },
  generate(body) {
    const told = fieldsOf(body.systemInstruction ?? body.system_instruction);
    const contents = listOf(body.contents).map((one) => ({ ...one, content: one.parts }));
    return {
      system: [textOf(told.parts)].filter(isText),
      turns: conversation(contents).turns,
      amounts: fieldsOf(body.generationConfig ?? body.generation_config),
    };
  },
};

function conversation(messages: readonly Fields[]): Pick<Read, 'system' | 'turns'> {
  const system: string[] = [];
  const turns: Turn[] = [];
  for (const { role, content } of messages) {
    const text = textOf(content);
    if (role === 'system' || role === 'developer') system.push(text);
    else if (role === 'assistant' || role === 'model') turns.push({ role: 'assistant', text });
    else if (role === 'user' || role === undefined) turns.push({ role: 'user', text });
  }
  return { system, turns };
}

/** A text, or the texts of a list of parts. */
function textOf(content: Value): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map(({ text }) => text)
    .filter((text) => typeof text === 'string')
    .join('\n');
}

function isText(text: string): boolean {
  return text !== '';
}

function numberIn(fields: Fields, names: readonly string[]): number | undefined {
  return names.map((name) => fields[name]).find((value) => typeof value === 'number');
}

function listOf(value: Value): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

function fieldsOf(value: Value): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function parse(text: string): Fields | undefined {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    // Shown as it is elsewhere; here there is nothing to begin with.
    return undefined;
  }
}
