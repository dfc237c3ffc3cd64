// Schemas of the tools clients run themselves but declare by a dated type instead of a schema.
// Source: Messages API, "Bash tool", "Text editor tool", "Memory tool".

import type { FunctionTool } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';

const TEXT = { type: 'string' };
const RANGE = { type: 'array', items: { type: 'integer' }, description: 'First and last line' };

/** The tool a dated type such as `bash_20250124` stands for. */
export function builtInTool(type: 'bash' | 'text_editor' | 'memory', name: string): FunctionTool {
  switch (type) {
    case 'bash':
      return { kind: 'function', name, ...BASH };
    case 'text_editor':
      return { kind: 'function', name, ...TEXT_EDITOR };
    case 'memory':
      return { kind: 'function', name, ...MEMORY };
    default:
      return type satisfies never;
  }
}

const BASH = {
  description: 'Runs a command in a bash session that lasts between calls.',
  parameters: object(
    { command: TEXT, restart: { type: 'boolean', description: 'True starts a new session' } },
    [],
  ),
};

const TEXT_EDITOR = {
  description: 'Views, creates and edits text files. str_replace needs one exact, unique match.',
  parameters: object(
    {
      command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert'] },
      path: { type: 'string', description: 'File or folder' },
      file_text: { type: 'string', description: 'Whole content, for create' },
      old_str: { type: 'string', description: 'Text to replace, for str_replace' },
      new_str: { type: 'string', description: 'Text to put there, for str_replace' },
      insert_line: { type: 'integer', description: 'Line to insert after, 0 for the start' },
      insert_text: { type: 'string', description: 'Text to put there, for insert' },
      view_range: RANGE,
    },
    ['command', 'path'],
  ),
};

const MEMORY = {
  description: 'Keeps notes between conversations as files under /memories.',
  parameters: object(
    {
      command: {
        type: 'string',
        enum: ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'],
      },
      path: TEXT,
      file_text: TEXT,
      old_str: TEXT,
      new_str: TEXT,
      insert_line: { type: 'integer' },
      insert_text: TEXT,
      old_path: TEXT,
      new_path: TEXT,
      view_range: RANGE,
    },
    ['command'],
  ),
};

function object(properties: JsonObject, required: string[]): JsonObject {
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}
