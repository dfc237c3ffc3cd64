// Reads what a person sees out of an answer in any of the client protocols; knows no more than that.

import { at, listAt, textAt } from './json-at.ts';
import { type Ending, joinEndings, readEnding } from './read-ending.ts';
import type { WireProtocol } from './wire-protocol.ts';

export type AnswerPiece =
  | { readonly kind: 'text' | 'thought'; readonly text: string }
  /** One that goes on has no name. */
  | {
      readonly kind: 'tool-call';
      readonly id: string;
      readonly name: string;
      readonly text: string;
    }
  | { readonly kind: 'image'; readonly url: string }
  | { readonly kind: 'error'; readonly text: string }
  | Ending;

/** The pieces of one event of a stream, or of a whole answer; what is not understood gives none. */
export function readPieces(protocol: WireProtocol, data: string): readonly AnswerPiece[] {
  const value = parse(data);
  if (value === undefined) return [];
  const error = readError(value);
  if (error !== undefined) return [error];
  return [...readSaid(protocol, value), ...readEnding(protocol, value)];
}

function readSaid(protocol: WireProtocol, value: unknown): readonly AnswerPiece[] {
  switch (protocol) {
    case 'chat':
      return listAt(value, 'choices').flatMap(readChoice);
    case 'messages':
      return readMessagesEvent(value);
    case 'generate':
      return listAt(value, 'candidates').flatMap((candidate) =>
        listAt(at(candidate, 'content'), 'parts').flatMap(readPart),
      );
    case 'responses':
      return readResponsesEvent(value);
    case 'images':
      return listAt(value, 'data').flatMap(readPicture);
    default:
      return protocol satisfies never;
  }
}

/** Joins pieces that go on where the last one ended. */
export function joinPieces(
  known: readonly AnswerPiece[],
  added: readonly AnswerPiece[],
): readonly AnswerPiece[] {
  const joined = [...known];
  for (const piece of added) {
    const last = joined.at(-1);
    const whole = last && goOn(last, piece);
    if (whole === undefined) joined.push(piece);
    else joined[joined.length - 1] = whole;
  }
  return joined;
}

/** Both as one, where the second goes on with the first. */
function goOn(last: AnswerPiece, piece: AnswerPiece): AnswerPiece | undefined {
  switch (piece.kind) {
    case 'text':
    case 'thought':
      return last.kind === piece.kind ? { ...last, text: last.text + piece.text } : undefined;
    case 'tool-call':
      return last.kind === piece.kind && piece.name === ''
        ? { ...last, text: last.text + piece.text }
        : undefined;
    case 'ending':
      return last.kind === piece.kind ? joinEndings(last, piece) : undefined;
    case 'image':
    case 'error':
      return undefined;
    default:
      return piece satisfies never;
  }
}

function readChoice(choice: unknown): readonly AnswerPiece[] {
  const message = at(choice, 'delta') ?? at(choice, 'message');
  const pictures = listAt(message, 'images').map((image) => textAt(at(image, 'image_url'), 'url'));
  return [
    ...pieceOf('thought', textAt(message, 'reasoning_content')),
    ...pieceOf('text', pictures.reduce(withoutPicture, textAt(message, 'content'))),
    ...pictures.flatMap(pictureOf),
    ...listAt(message, 'tool_calls').map((call) => ({
      kind: 'tool-call' as const,
      id: textAt(call, 'id'),
      name: textAt(at(call, 'function'), 'name'),
      text: textAt(at(call, 'function'), 'arguments'),
    })),
  ];
}

/** Content says pictures in Markdown too, for clients that know no `images`; here they would stand twice. */
function withoutPicture(content: string, url: string): string {
  const markdown = `![image](${url})`;
  return content.replaceAll(`\n\n${markdown}`, '').replaceAll(markdown, '');
}

function readMessagesEvent(value: unknown): readonly AnswerPiece[] {
  switch (textAt(value, 'type')) {
    case 'message':
      return listAt(value, 'content').flatMap(readBlock);
    case 'content_block_start':
      return readBlock(at(value, 'content_block'));
    case 'content_block_delta': {
      const delta = at(value, 'delta');
      return [
        ...pieceOf('text', textAt(delta, 'text')),
        ...pieceOf('thought', textAt(delta, 'thinking')),
        ...toolText(textAt(delta, 'partial_json')),
      ];
    }
    default:
      return [];
  }
}

function readBlock(block: unknown): readonly AnswerPiece[] {
  switch (textAt(block, 'type')) {
    case 'text':
      return pieceOf('text', textAt(block, 'text'));
    case 'thinking':
      return pieceOf('thought', textAt(block, 'thinking'));
    case 'tool_use': {
      const input = at(block, 'input');
      const isEmpty = typeof input !== 'object' || input === null || isBare(input);
      return [
        {
          kind: 'tool-call',
          id: textAt(block, 'id'),
          name: textAt(block, 'name'),
          text: isEmpty ? '' : JSON.stringify(input),
        },
      ];
    }
    case 'image': {
      const source = at(block, 'source');
      return pictureOf(`data:${textAt(source, 'media_type')};base64,${textAt(source, 'data')}`);
    }
    default:
      return [];
  }
}

function readPart(part: unknown): readonly AnswerPiece[] {
  const call = at(part, 'functionCall');
  if (call !== undefined) {
    const input = JSON.stringify(at(call, 'args') ?? {});
    return [{ kind: 'tool-call', id: textAt(call, 'id'), name: textAt(call, 'name'), text: input }];
  }
  const inline = at(part, 'inlineData');
  if (inline !== undefined) {
    return pictureOf(`data:${textAt(inline, 'mimeType')};base64,${textAt(inline, 'data')}`);
  }
  return pieceOf(at(part, 'thought') === true ? 'thought' : 'text', textAt(part, 'text'));
}

function readResponsesEvent(value: unknown): readonly AnswerPiece[] {
  const delta = textAt(value, 'delta');
  switch (textAt(value, 'type')) {
    case 'response.output_text.delta':
      return pieceOf('text', delta);
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      return pieceOf('thought', delta);
    case 'response.function_call_arguments.delta':
      return toolText(delta);
    case 'response.output_item.added': {
      const item = at(value, 'item');
      if (textAt(item, 'type') !== 'function_call') return [];
      return [
        { kind: 'tool-call', id: textAt(item, 'call_id'), name: textAt(item, 'name'), text: '' },
      ];
    }
    case 'response.output_item.done': {
      // All other items were told in parts by then.
      const item = at(value, 'item');
      return textAt(item, 'type') === 'image_generation_call' ? readOutputItem(item) : [];
    }
    case 'response.failed':
      return [readError(at(value, 'response')) ?? { kind: 'error', text: '' }];
    case 'error':
      return [{ kind: 'error', text: textAt(value, 'message') }];
    default:
      return textAt(value, 'object') === 'response'
        ? listAt(value, 'output').flatMap(readOutputItem)
        : [];
  }
}

function readOutputItem(item: unknown): readonly AnswerPiece[] {
  switch (textAt(item, 'type')) {
    case 'message':
      return listAt(item, 'content').flatMap((part) => pieceOf('text', textAt(part, 'text')));
    case 'reasoning':
      return listAt(item, 'summary').flatMap((part) => pieceOf('thought', textAt(part, 'text')));
    case 'function_call':
      return [
        {
          kind: 'tool-call',
          id: textAt(item, 'call_id'),
          name: textAt(item, 'name'),
          text: textAt(item, 'arguments'),
        },
      ];
    case 'image_generation_call':
      return pictureOf(`data:image/png;base64,${textAt(item, 'result')}`);
    default:
      return [];
  }
}

function readPicture(item: unknown): readonly AnswerPiece[] {
  const base64 = textAt(item, 'b64_json');
  return pictureOf(base64 === '' ? textAt(item, 'url') : `data:image/png;base64,${base64}`);
}

/** Only pictures that came along: an address elsewhere is never loaded. */
const PICTURE = /^data:image\/(?:png|jpeg|webp|gif);base64,[A-Za-z0-9+/=]+$/;

function pictureOf(url: string): readonly AnswerPiece[] {
  return PICTURE.test(url) ? [{ kind: 'image', url }] : [];
}

function toolText(text: string): readonly AnswerPiece[] {
  return text === '' ? [] : [{ kind: 'tool-call', id: '', name: '', text }];
}

function pieceOf(kind: 'text' | 'thought', text: string): readonly AnswerPiece[] {
  return text === '' ? [] : [{ kind, text }];
}

function readError(value: unknown): AnswerPiece | undefined {
  const error = at(value, 'error');
  if (error === undefined || error === null) return undefined;
  const text = typeof error === 'string' ? error : textAt(error, 'message');
  return { kind: 'error', text: text === '' ? JSON.stringify(error) : text };
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

function isBare(value: object): boolean {
  return Object.keys(value).length === 0;
}
