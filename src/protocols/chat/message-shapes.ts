// The fields that messages and choices of Chat Completions may hold: what is read, and what no answer changes without.
// Source: `openai` resources/chat/completions.

import { extendShape, objectShape, type Shape, taggedShape } from '../../canonical/field-shapes.ts';

/** Hints on caching stand on every part. */
const PART = ['type', 'cache_control', 'prompt_cache_breakpoint'];

/** `parsed` is what the helpers of SDKs read the text as, and hand back beside it. */
const TEXT = objectShape([...PART, 'text', 'annotations', 'logprobs', 'parsed']);
const REFUSAL = objectShape([...PART, 'refusal']);
const FILE = ['file_data', 'file_url', 'file_id', 'filename', 'detail'];
const PICTURE = objectShape([...PART, 'file_id', 'detail'], {
  image_url: objectShape(['url', 'detail']),
});

/** Both protocols of this folder: clients mix in the words of the other one. */
export const PART_SHAPES: Shape = taggedShape('type', {
  text: TEXT,
  input_text: TEXT,
  output_text: TEXT,
  refusal: REFUSAL,
  image_url: PICTURE,
  input_image: PICTURE,
  video_url: objectShape(PART, { video_url: objectShape(['url']) }),
  input_audio: objectShape(PART, { input_audio: objectShape(['data', 'format']) }),
  file: objectShape(PART, { file: objectShape(FILE) }),
  input_file: objectShape([...PART, ...FILE]),
});

const MESSAGE = objectShape(['role', 'name', 'cache_control'], { content: PART_SHAPES });
const FUNCTION_CALL = objectShape(['name', 'arguments', 'parsed_arguments']);

/** Streams number their calls, and clients return the number with them. */
const TOOL_CALL = objectShape(['id', 'type', 'index', 'extra_content', 'cache_control'], {
  function: FUNCTION_CALL,
  custom: objectShape(['name', 'input']),
});

/** What answers of this protocol carry and SDKs hand back, the text already says. */
const ASSISTANT = extendShape(
  MESSAGE,
  [
    ...['refusal', 'reasoning_content', 'reasoning', 'reasoning_details', 'extra_content'],
    ...['annotations', 'parsed'],
  ],
  {
    tool_calls: TOOL_CALL,
    function_call: FUNCTION_CALL,
    images: objectShape(['type', 'index'], { image_url: objectShape(['url', 'detail']) }),
  },
);

export const MESSAGE_SHAPES: Shape = taggedShape('role', {
  system: MESSAGE,
  developer: MESSAGE,
  user: MESSAGE,
  assistant: ASSISTANT,
  tool: extendShape(MESSAGE, ['tool_call_id']),
  function: MESSAGE,
});

const NAMED = objectShape(['name']);
/** Of the Responses protocol too, which names tools beside their type. */
const CHOSEN = objectShape(['type', 'name', 'namespace'], { function: NAMED, custom: NAMED });

export const CHOICE_SHAPE: Shape = extendShape(CHOSEN, ['mode', 'server_label'], {
  tools: CHOSEN,
  allowed_tools: objectShape(['mode'], { tools: CHOSEN }),
});

export const FORMAT_SHAPE: Shape = objectShape(['type'], {
  json_schema: objectShape(['name', 'description', 'schema', 'strict']),
});

export const STREAM_OPTIONS_SHAPE: Shape = objectShape(['include_usage', 'include_obfuscation']);

export const SAFETY_SHAPE: Shape = objectShape(['category', 'threshold', 'method']);
