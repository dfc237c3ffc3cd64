// The grammar of Responses streams: the life of the response, of its items, and of their parts.

import { isJsonObject, type JsonObject } from '../../../src/lib/json.ts';
import type { StreamEnd } from './chat.ts';
import { readNamedFrames } from './frames.ts';
import { check, checkSum, countIn, idIn, listIn, objectIn, textIn } from './rule.ts';

interface OpenItem {
  readonly id: string;
  readonly type: string;
  /** What was told of it so far, in order, without its deltas' repetitions. */
  readonly steps: string[];
  text: string;
  annotations: number;
}

/** The steps each kind of item goes through between `added` and `done`; `*` may be repeated or absent. */
const LIVES: Readonly<Record<string, RegExp>> = {
  message:
    /^content_part\.added ((output_text\.delta )*(output_text\.annotation\.added )*output_text\.done|refusal\.delta refusal\.done) content_part\.done$/,
  reasoning:
    /^(reasoning_summary_part\.added( reasoning_summary_text\.delta)* reasoning_summary_text\.done reasoning_summary_part\.done)?$/,
  function_call: /^(function_call_arguments\.delta )*function_call_arguments\.done$/,
  custom_tool_call: /^(custom_tool_call_input\.delta )*custom_tool_call_input\.done$/,
  web_search_call:
    /^web_search_call\.in_progress web_search_call\.searching web_search_call\.completed$/,
  image_generation_call:
    /^image_generation_call\.in_progress image_generation_call\.generating( image_generation_call\.partial_image)* image_generation_call\.completed$/,
  local_shell_call: /^$/,
  shell_call: /^$/,
  apply_patch_call: /^$/,
  tool_search_call: /^$/,
  tool_search_output: /^$/,
};

/** The text of a finished item that its deltas add up to. */
const TEXTS: Readonly<Record<string, (item: JsonObject) => unknown>> = {
  message: (item) => listIn(item, 'content')[0]?.text ?? listIn(item, 'content')[0]?.refusal,
  reasoning: (item) => listIn(item, 'summary')[0]?.text ?? '',
  function_call: (item) => item.arguments,
  custom_tool_call: (item) => item.input,
};

const ENDS = ['completed', 'incomplete', 'failed'];

/** Sources: `openai` lib/responses/ResponseStream, resources/responses; `@ai-sdk/openai` chunk schema. */
export function checkResponsesStream(text: string): StreamEnd {
  const frames = readNamedFrames(text);
  frames.forEach((frame, index) => {
    check(frame.sequence_number === index, 'sequence numbers rise by one from 0');
  });
  const [created, progress, ...rest] = frames;
  check(created !== undefined, 'a stream says something');
  if (created.type === 'error') {
    check(frames.length === 1, 'an error before the beginning is alone');
    idIn(created, 'message');
    return 'error';
  }
  checkBeginning(created, progress ?? {});
  const last = rest.at(-1) ?? {};
  const life = new ItemLife();
  for (const frame of rest.slice(0, -1)) life.see(frame);
  return checkEnd(last, objectIn(created, 'response'), life);
}

function checkBeginning(created: JsonObject, progress: JsonObject): void {
  check(created.type === 'response.created', 'response.created comes first');
  check(progress.type === 'response.in_progress', 'response.in_progress comes second');
  const response = objectIn(created, 'response');
  idIn(response, 'id');
  idIn(response, 'model');
  countIn(response, 'created_at');
  check(response.status === 'in_progress', 'it begins in progress');
  check(listIn(response, 'output').length === 0, 'it begins without output');
}

function checkEnd(last: JsonObject, begun: JsonObject, life: ItemLife): StreamEnd {
  const response = objectIn(last, 'response');
  const status = textIn(response, 'status');
  check(ENDS.includes(status) && last.type === `response.${status}`, 'the end names the status');
  check(response.id === begun.id && response.model === begun.model, 'id and model stay the same');
  const output = listIn(response, 'output');
  const whole = output.slice(0, life.done.length);
  check(JSON.stringify(whole) === JSON.stringify(life.done), 'the end repeats the items');
  const unfinished = output.slice(life.done.length);
  check(unfinished.length === 0 || status === 'failed', 'an item that is not done is no output');
  if (status === 'failed') {
    for (const item of unfinished) checkUnfinished(item, life);
    const error = objectIn(response, 'error');
    idIn(error, 'code');
    idIn(error, 'message');
    return 'error';
  }
  check(life.open === undefined, 'every item is done');
  const usage = objectIn(response, 'usage');
  checkSum(usage, ['input_tokens', 'output_tokens'], 'total_tokens');
  countIn(objectIn(usage, 'input_tokens_details'), 'cached_tokens');
  countIn(objectIn(usage, 'output_tokens_details'), 'reasoning_tokens');
  if (status === 'incomplete') idIn(objectIn(response, 'incomplete_details'), 'reason');
  return 'success';
}

/** Of an answer that broke off: the item that was open, as far as it came. */
function checkUnfinished(item: JsonObject, { open }: ItemLife): void {
  check(item.id === open?.id, 'what is unfinished is the open item');
  check(item.status === 'incomplete', 'what is unfinished says so');
}

class ItemLife {
  readonly done: JsonObject[] = [];
  readonly #ids = new Set<string>();
  readonly #callIds = new Set<string>();
  open: OpenItem | undefined;

  see(frame: JsonObject): void {
    const type = textIn(frame, 'type').replace('response.', '');
    check(countIn(frame, 'output_index') === this.done.length, `${type} is about the open item`);
    if (type === 'output_item.added') this.#add(objectIn(frame, 'item'));
    else if (type === 'output_item.done') this.#finish(objectIn(frame, 'item'));
    else this.#step(type, frame);
  }

  #add(item: JsonObject): void {
    check(this.open === undefined, 'one item is open at a time');
    const id = idIn(item, 'id');
    check(!this.#ids.has(id), 'item ids are unique');
    this.#ids.add(id);
    const type = textIn(item, 'type');
    check(type in LIVES, `${type} is an item`);
    this.open = { id, type, steps: [], text: '', annotations: 0 };
  }

  #step(type: string, frame: JsonObject): void {
    const { open } = this;
    check(open !== undefined && frame.item_id === open.id, `${type} stands inside its item`);
    open.steps.push(type);
    if (typeof frame.delta === 'string') open.text += frame.delta;
    if (type === 'output_text.annotation.added') {
      check(countIn(frame, 'annotation_index') === open.annotations, 'annotations are numbered');
      open.annotations += 1;
    }
    for (const key of ['text', 'arguments', 'input', 'refusal']) {
      if (type.endsWith('.done') && typeof frame[key] === 'string') {
        check(frame[key] === open.text, `${type} repeats the deltas`);
      }
    }
  }

  #finish(item: JsonObject): void {
    const { open } = this;
    check(
      open !== undefined && item.id === open.id && item.type === open.type,
      'what is done was added',
    );
    const steps = open.steps.join(' ');
    check(LIVES[open.type]?.test(steps) === true, `a ${open.type} does not live by: ${steps}`);
    const text = TEXTS[open.type]?.(item);
    check(text === undefined || text === open.text, 'the finished item holds the deltas');
    if (open.type === 'message') {
      const [part = {}] = listIn(item, 'content');
      const told = part.type === 'refusal' ? [] : listIn(part, 'annotations');
      check(told.length === open.annotations, 'every annotation was told');
    }
    if (typeof item.call_id === 'string') {
      check(!this.#callIds.has(item.call_id), 'call ids are unique');
      this.#callIds.add(idIn(item, 'call_id'));
      check(item.status === 'completed', 'a call that is done is completed');
    }
    if (item.type === 'function_call') {
      check(isJsonObject(JSON.parse(textIn(item, 'arguments'))), 'arguments are an object');
    }
    this.done.push(item);
    this.open = undefined;
  }
}
