// One call item while it is written: the arguments of functions as they come, of other kinds in one piece.

import type { JsonObject } from '../../../lib/json.ts';
import type { FrameNumbering } from './frames.ts';
import { type CallDraft, callItem, freeformInput } from './output-items.ts';
import type { CallForm, ToolIdentity } from './tool-directory.ts';

export interface OpenCallOptions {
  readonly tool: ToolIdentity;
  readonly callId: string;
  readonly outputIndex: number;
  createId(prefix: string): string;
}

const ID_PREFIXES: Readonly<Record<CallForm, string>> = {
  function: 'fc_',
  custom: 'ctc_',
  local_shell: 'lsh_',
  shell: 'sh_',
  apply_patch: 'apc_',
  tool_search: 'tsc_',
};

export class OpenCall {
  readonly #draft: CallDraft;
  readonly #outputIndex: number;
  readonly #frames: FrameNumbering;
  readonly #delta: (json: string) => string;
  #json = '';

  constructor(options: OpenCallOptions, frames: FrameNumbering) {
    const { tool, callId, outputIndex, createId } = options;
    this.#draft = { tool, callId, id: createId(ID_PREFIXES[tool.form]) };
    this.#outputIndex = outputIndex;
    this.#frames = frames;
    this.#delta = frames.deltas('response.function_call_arguments.delta', this.#at());
  }

  open(): string {
    return isStreamed(this.#draft.tool.form) ? this.#added('') : '';
  }

  add(json: string): string {
    this.#json += json;
    return this.#draft.tool.form === 'function' && json !== '' ? this.#delta(json) : '';
  }

  close(): { item: JsonObject; text: string } {
    const item = callItem(this.#draft, 'completed', this.#json);
    const done = this.#frames.write.bind(this.#frames);
    const text =
      (isStreamed(this.#draft.tool.form) ? '' : this.#added(this.#json)) +
      this.#content() +
      done('response.output_item.done', { output_index: this.#outputIndex, item });
    return { item, text };
  }

  #added(json: string): string {
    return this.#frames.write('response.output_item.added', {
      output_index: this.#outputIndex,
      item: callItem(this.#draft, 'in_progress', json),
    });
  }

  #content(): string {
    const at = this.#at();
    switch (this.#draft.tool.form) {
      case 'function': {
        const late = this.#json === '' ? this.#delta('{}') : '';
        const text = this.#json === '' ? '{}' : this.#json;
        const { name } = this.#draft.tool;
        const whole = { ...at, name, arguments: text };
        return late + this.#frames.write('response.function_call_arguments.done', whole);
      }
      case 'custom': {
        const input = freeformInput(this.#json);
        return (
          this.#frames.write('response.custom_tool_call_input.delta', { ...at, delta: input }) +
          this.#frames.write('response.custom_tool_call_input.done', { ...at, input })
        );
      }
      case 'local_shell':
      case 'shell':
      case 'apply_patch':
      case 'tool_search':
        return '';
      default:
        return this.#draft.tool.form satisfies never;
    }
  }

  #at(): JsonObject {
    return { item_id: this.#draft.id, output_index: this.#outputIndex };
  }
}

/** Calls of other forms are one object, and nothing of it is known before it is whole. */
function isStreamed(form: CallForm): boolean {
  return form === 'function' || form === 'custom';
}
