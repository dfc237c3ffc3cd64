// The tools this surface has by name and clients run themselves: shells and patches, as declarations.

import type { FunctionTool } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';

/** Forms whose call is one object on the item, under this key. */
export const OBJECT_KEYS = {
  local_shell: 'action',
  shell: 'action',
  apply_patch: 'operation',
} as const;

export type ClientToolForm = keyof typeof OBJECT_KEYS;

/** Members the object of an item always has, which models leave out. */
const SHOWN_DEFAULTS: Readonly<Record<ClientToolForm, JsonObject>> = {
  local_shell: { type: 'exec', command: [], env: {} },
  shell: { commands: [], timeout_ms: null, max_output_length: null },
  apply_patch: {},
};

/** The object of an item, from the arguments of a call or from what a client returned. */
export function completeClientCall(form: ClientToolForm, given: JsonObject): JsonObject {
  return { ...SHOWN_DEFAULTS[form], ...given };
}

/** What calls are made of (`openai` resources/responses: `LocalShellCall`, `ShellCall`, `ApplyPatchCall`). */
const DECLARATIONS: Readonly<
  Record<ClientToolForm, { description: string; parameters: JsonObject }>
> = {
  local_shell: {
    description: 'Runs a command in the shell of the user and gives its output.',
    parameters: {
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['exec'] },
        command: { type: 'array', items: { type: 'string' } },
        env: { type: 'object' },
        working_directory: { type: 'string' },
        timeout_ms: { type: 'integer' },
      },
      required: ['type', 'command'],
    },
  },
  shell: {
    description:
      'Runs commands in the shell of the user, each on its own, and gives the output and exit code of each.',
    parameters: {
      type: 'object',
      properties: {
        commands: { type: 'array', items: { type: 'string' } },
        timeout_ms: { type: 'integer' },
        max_output_length: { type: 'integer' },
      },
      required: ['commands'],
    },
  },
  apply_patch: {
    description:
      'Creates, updates or deletes one file. diff is in the V4A format: for create_file every line ' +
      'begins with "+"; for update_file hunks begin with "@@" and lines with " ", "-" or "+". ' +
      'delete_file takes no diff.',
    parameters: {
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
        path: { type: 'string' },
        diff: { type: 'string' },
      },
      required: ['type', 'path'],
    },
  },
};

export function clientTool(form: ClientToolForm, path: string): FunctionTool {
  const shownDefaults = SHOWN_DEFAULTS[form];
  return { kind: 'function', name: form, ...DECLARATIONS[form], path, shownDefaults };
}
