// The fields that items of a Responses request may hold: what is read, and what no answer changes without.
// Source: `openai` resources/responses.

import { objectShape, type Shape, taggedShape } from '../../../canonical/field-shapes.ts';
import { PART_SHAPES } from '../message-shapes.ts';

/** Names and states of items, which answers carry and clients return with them, and notes a client makes for itself. */
const ITEM = [
  ...['type', 'id', 'status', 'created_by', 'caller', 'call_id', 'async'],
  'internal_chat_message_metadata_passthrough',
];
const CALL = [...ITEM, 'name', 'namespace'];
const THOUGHT = objectShape(['type', 'text']);

const MESSAGE = objectShape([...ITEM, 'role', 'phase'], { content: PART_SHAPES });
const AGENT_MESSAGE = objectShape([...ITEM, 'author', 'recipient', 'agent'], {
  content: PART_SHAPES,
});
const OUTPUT = objectShape(CALL, { output: PART_SHAPES });

/** Items of other kinds are told, sent or refused as a whole; those of a role alone are messages. */
export const ITEM_SHAPES: Shape = taggedShape(
  'type',
  {
    message: MESSAGE,
    compaction: objectShape([...ITEM, 'encrypted_content']),
    agent_message: AGENT_MESSAGE,
    function_call: objectShape([...CALL, 'arguments', 'parsed_arguments']),
    custom_tool_call: objectShape([...CALL, 'input']),
    function_call_output: OUTPUT,
    custom_tool_call_output: OUTPUT,
    local_shell_call: objectShape([...ITEM, 'action']),
    local_shell_call_output: OUTPUT,
    shell_call: objectShape([...ITEM, 'action', 'environment']),
    shell_call_output: objectShape([...ITEM, 'output', 'max_output_length']),
    apply_patch_call: objectShape([...ITEM, 'operation']),
    apply_patch_call_output: OUTPUT,
    reasoning: objectShape([...ITEM, 'encrypted_content'], { summary: THOUGHT, content: THOUGHT }),
    web_search_call: objectShape([...ITEM, 'action']),
    tool_search_call: objectShape([...ITEM, 'arguments', 'execution']),
    tool_search_output: objectShape([...ITEM, 'tools', 'execution']),
    additional_tools: objectShape([...ITEM, 'role', 'tools']),
    item_reference: objectShape(ITEM),
  },
  taggedShape('role', { user: MESSAGE, assistant: MESSAGE, system: MESSAGE, developer: MESSAGE }),
);
