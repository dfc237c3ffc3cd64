// What clients can ask for, one request of each protocol for each feature: what the grid of docs/translation-grid.md is made from.

import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/lib/json.ts';

export type ClientName = 'chat' | 'responses' | 'messages' | 'generate';

interface Asked {
  /** The field, as the client calls it. */
  readonly field: string;
  /** What the feature adds to the plain body, or puts in the place of its fields. */
  readonly says: JsonObject;
  /** What has to be there for it, and is no part of it. */
  readonly beside?: JsonObject;
  /** Stands in the upstream's body wherever nothing is noted. */
  readonly mark?: string | number;
}

export interface Feature extends Readonly<Partial<Record<ClientName, Asked>>> {
  readonly title: string;
  /**
   * Why the upstream may be sent the same without it and nothing is noted: a `hint` changes no answer, and what the
   * `gateway` does itself reaches the client all the same.
   */
  readonly unsent?: 'hint' | 'gateway';
}

export interface FeatureGroup {
  readonly title: string;
  readonly features: readonly Feature[];
}

const QUESTION = 'What do you see?';

/** The smallest request of each client. */
export const PLAIN: Readonly<Record<ClientName, { path: string; body: JsonObject }>> = {
  chat: {
    path: '/v1/chat/completions',
    body: { model: 'm', messages: [{ role: 'user', content: QUESTION }] },
  },
  responses: { path: '/v1/responses', body: { model: 'm', input: QUESTION } },
  messages: {
    path: '/v1/messages',
    body: { model: 'm', max_tokens: 4000, messages: [{ role: 'user', content: QUESTION }] },
  },
  generate: {
    path: '/v1beta/models/m:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text: QUESTION }] }] },
  },
};

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PDF = 'JVBERi0xLjQKJeLjz9MKMSAwIG9iago8PD4+CmVuZG9iagp0cmFpbGVyCjw8Pj4KJSVFT0Y=';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';
const MP4 = 'AAAAGGZ0eXBtcDQyAAAAAG1wNDJpc29t';
const PICTURE_URL = 'https://example.com/fox.png';
/** A value that stands in no other part of a request. */
const WORD = 'heliotrope';

const SCHEMA: JsonObject = {
  type: 'object',
  properties: { city: { type: 'string', description: WORD } },
  required: ['city'],
  additionalProperties: false,
};

/** A conversation of one user message of these parts. */
const chatUser = (...content: JsonObject[]): JsonObject => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: QUESTION }, ...content] }],
});
const responsesUser = (...content: JsonObject[]): JsonObject => ({
  input: [{ role: 'user', content: [{ type: 'input_text', text: QUESTION }, ...content] }],
});
const messagesUser = (...content: JsonObject[]): JsonObject => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: QUESTION }, ...content] }],
});
const generateUser = (...parts: JsonObject[]): JsonObject => ({
  contents: [{ role: 'user', parts: [{ text: QUESTION }, ...parts] }],
});
const config = (generationConfig: JsonObject): JsonObject => ({ generationConfig });
const base64Source = (media_type: string, data: string): JsonObject => ({
  source: { type: 'base64', media_type, data },
});

interface ToolExtras {
  readonly names?: readonly string[];
  readonly strict?: boolean;
}

/** The same functions in the words of each protocol. */
function tools({ names = ['weather'], strict }: ToolExtras = {}) {
  const held = strict === undefined ? {} : { strict };
  return {
    chat: {
      tools: names.map((name) => ({
        type: 'function',
        function: { name, description: 'Tells the weather', parameters: SCHEMA, ...held },
      })),
    },
    responses: {
      tools: names.map((name) => ({
        type: 'function',
        name,
        description: 'Tells the weather',
        parameters: SCHEMA,
        strict: strict ?? false,
      })),
    },
    messages: {
      tools: names.map((name) => ({
        name,
        description: 'Tells the weather',
        input_schema: SCHEMA,
        ...held,
      })),
    },
    generate: {
      tools: [
        {
          functionDeclarations: names.map((name) => ({
            name,
            description: 'Tells the weather',
            parametersJsonSchema: SCHEMA,
          })),
        },
      ],
    },
  } satisfies Record<ClientName, JsonObject>;
}

const ONE_TOOL = tools();
const TWO_TOOLS = tools({ names: ['weather', 'clock'] });
const STRICT_TOOL = tools({ strict: true });

interface Loop {
  readonly result?: JsonValue;
  readonly failed?: boolean;
  readonly calls?: number;
  /** Stands before the calls. */
  readonly thought?: JsonObject;
  readonly parts?: readonly JsonObject[];
  readonly isUnsigned?: boolean;
}

const callNumbers = (calls: number): number[] => Array.from({ length: calls }, (_, at) => at + 1);

/** Question, calls and their results, with the tool declared. */
const LOOPS = {
  chat: ({ result = 'Sunny', calls = 1, thought }: Loop = {}): JsonObject => ({
    ...ONE_TOOL.chat,
    messages: [
      { role: 'user', content: QUESTION },
      {
        role: 'assistant',
        content: null,
        ...thought,
        tool_calls: callNumbers(calls).map((at) => ({
          id: `call_${at}`,
          type: 'function',
          function: { name: 'weather', arguments: `{"city":"Oslo ${at}"}` },
        })),
      },
      ...callNumbers(calls).map((at) => ({
        role: 'tool',
        tool_call_id: `call_${at}`,
        content: result,
      })),
    ],
  }),
  responses: ({ result = 'Sunny', calls = 1, thought }: Loop = {}): JsonObject => ({
    ...ONE_TOOL.responses,
    input: [
      { role: 'user', content: QUESTION },
      ...(thought === undefined ? [] : [thought]),
      ...callNumbers(calls).map((at) => ({
        type: 'function_call',
        call_id: `call_${at}`,
        name: 'weather',
        arguments: `{"city":"Oslo ${at}"}`,
      })),
      ...callNumbers(calls).map((at) => ({
        type: 'function_call_output',
        call_id: `call_${at}`,
        output: result,
      })),
    ],
  }),
  messages: ({ result = 'Sunny', calls = 1, thought, failed }: Loop = {}): JsonObject => ({
    ...ONE_TOOL.messages,
    messages: [
      { role: 'user', content: QUESTION },
      {
        role: 'assistant',
        content: [
          ...(thought === undefined ? [] : [thought]),
          ...callNumbers(calls).map((at) => ({
            type: 'tool_use',
            id: `call_${at}`,
            name: 'weather',
            input: { city: `Oslo ${at}` },
          })),
        ],
      },
      {
        role: 'user',
        content: callNumbers(calls).map((at) => ({
          type: 'tool_result',
          tool_use_id: `call_${at}`,
          content: result,
          ...(failed === true ? { is_error: true } : {}),
        })),
      },
    ],
  }),
  generate: ({ calls = 1, thought, parts, isUnsigned }: Loop = {}): JsonObject => ({
    ...ONE_TOOL.generate,
    contents: [
      { role: 'user', parts: [{ text: QUESTION }] },
      {
        role: 'model',
        parts: [
          ...(thought === undefined ? [] : [thought]),
          ...callNumbers(calls).map((at) => ({
            functionCall: { id: `call_${at}`, name: 'weather', args: { city: `Oslo ${at}` } },
            ...(at === 1 && isUnsigned !== true ? { thoughtSignature: SIGNATURE } : {}),
          })),
        ],
      },
      {
        role: 'user',
        parts: callNumbers(calls).map((at) => ({
          functionResponse: {
            id: `call_${at}`,
            name: 'weather',
            response: { output: 'Sunny' },
            ...(parts === undefined ? {} : { parts: [...parts] }),
          },
        })),
      },
    ],
  }),
};

const SIGNATURE = 'EoYBCoMBAdHtim9QkT2ZkT2ZkT2ZkT2ZkT2ZkT2ZkT2ZkT2ZkT2ZkT2Z';
/** As the answer before would have brought it to a client of each protocol. */
const OTHER_SIGNATURE = 'gw1:anthropic:thinking:U0lH';

/** The first call with a signature. */
function withSignedCall(body: JsonObject): JsonObject {
  const extra_content = { google: { thought_signature: SIGNATURE } };
  const sign = (message: JsonValue): JsonValue =>
    isJsonObject(message) && Array.isArray(message.tool_calls)
      ? {
          ...message,
          tool_calls: message.tool_calls.map((call) =>
            isJsonObject(call) ? { ...call, extra_content } : call,
          ),
        }
      : message;
  return {
    ...body,
    messages: Array.isArray(body.messages) ? body.messages.map(sign) : [],
  };
}

/** Before the last question stand a question and an answer with these additions. */
const answered = {
  chat: (answer: JsonObject): JsonObject => ({
    messages: [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Good day', ...answer },
      { role: 'user', content: QUESTION },
    ],
  }),
  messages: (...content: JsonObject[]): JsonObject => ({
    messages: [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: [...content, { type: 'text', text: 'Good day' }] },
      { role: 'user', content: QUESTION },
    ],
  }),
};

const CONVERSATION: FeatureGroup = {
  title: 'Instructions and turns',
  features: [
    {
      title: 'Instructions',
      chat: {
        field: '`system` message',
        says: {
          messages: [
            { role: 'system', content: WORD },
            { role: 'user', content: QUESTION },
          ],
        },
        mark: WORD,
      },
      responses: { field: '`instructions`', says: { instructions: WORD }, mark: WORD },
      messages: { field: '`system`', says: { system: WORD }, mark: WORD },
      generate: {
        field: '`systemInstruction`',
        says: { systemInstruction: { parts: [{ text: WORD }] } },
        mark: WORD,
      },
    },
    {
      title: 'Instructions of the developer',
      chat: {
        field: '`developer` message',
        says: {
          messages: [
            { role: 'developer', content: WORD },
            { role: 'user', content: QUESTION },
          ],
        },
        mark: WORD,
      },
      responses: {
        field: '`developer` item',
        says: {
          input: [
            { role: 'developer', content: WORD },
            { role: 'user', content: QUESTION },
          ],
        },
        mark: WORD,
      },
    },
    {
      title: 'Instructions in mid-conversation',
      chat: {
        field: 'later `system` message',
        says: {
          messages: [
            { role: 'user', content: 'Hello' },
            { role: 'assistant', content: 'Good day' },
            { role: 'system', content: WORD },
            { role: 'user', content: QUESTION },
          ],
        },
        beside: answered.chat({}),
        mark: WORD,
      },
      responses: {
        field: 'later `developer` item',
        says: {
          input: [
            { role: 'user', content: 'Hello' },
            { role: 'assistant', content: 'Good day' },
            { role: 'developer', content: WORD },
            { role: 'user', content: QUESTION },
          ],
        },
        mark: WORD,
      },
      messages: {
        field: 'later `system` message',
        says: {
          messages: [
            { role: 'user', content: 'Hello' },
            { role: 'assistant', content: 'Good day' },
            { role: 'system', content: WORD },
            { role: 'user', content: QUESTION },
          ],
        },
        beside: answered.messages(),
        mark: WORD,
      },
    },
    {
      title: 'An answer to go on with (prefill)',
      chat: {
        field: 'last `assistant` message',
        says: {
          messages: [
            { role: 'user', content: QUESTION },
            { role: 'assistant', content: WORD },
          ],
        },
        mark: WORD,
      },
      responses: {
        field: 'last `assistant` item',
        says: {
          input: [
            { role: 'user', content: QUESTION },
            { role: 'assistant', content: WORD },
          ],
        },
        mark: WORD,
      },
      messages: {
        field: 'last `assistant` message',
        says: {
          messages: [
            { role: 'user', content: QUESTION },
            { role: 'assistant', content: WORD },
          ],
        },
        mark: WORD,
      },
      generate: {
        field: 'last `model` content',
        says: {
          contents: [
            { role: 'user', parts: [{ text: QUESTION }] },
            { role: 'model', parts: [{ text: WORD }] },
          ],
        },
        mark: WORD,
      },
    },
    {
      title: 'Name of who speaks',
      chat: {
        field: '`name` of a message',
        says: { messages: [{ role: 'user', name: WORD, content: QUESTION }] },
        mark: WORD,
      },
    },
    {
      title: 'Thoughts of earlier turns, unsigned',
      chat: {
        field: '`reasoning_content`',
        says: answered.chat({ reasoning_content: WORD }),
        beside: answered.chat({}),
        mark: WORD,
      },
      messages: {
        field: '`thinking` without `signature`',
        says: answered.messages({ type: 'thinking', thinking: WORD, signature: '' }),
        beside: answered.messages(),
        mark: WORD,
      },
      generate: {
        field: 'part with `thought`',
        says: {
          contents: [
            { role: 'user', parts: [{ text: 'Hello' }] },
            { role: 'model', parts: [{ text: WORD, thought: true }, { text: 'Good day' }] },
            { role: 'user', parts: [{ text: QUESTION }] },
          ],
        },
        mark: WORD,
      },
    },
    {
      title: 'Signed thoughts before a call, of another family of models',
      chat: {
        field: '`thought_signature`',
        says: LOOPS.chat({
          thought: {
            reasoning_content: WORD,
            extra_content: { google: { thought_signature: OTHER_SIGNATURE } },
          },
        }),
        beside: LOOPS.chat(),
      },
      responses: {
        field: '`reasoning` item',
        says: LOOPS.responses({
          thought: {
            type: 'reasoning',
            id: 'rs_1',
            summary: [{ type: 'summary_text', text: WORD }],
            encrypted_content: 'gw1:gemini-3:tool-call:U0lH',
          },
        }),
        beside: LOOPS.responses(),
      },
      messages: {
        field: '`signature` of `thinking`',
        says: LOOPS.messages({
          thought: {
            type: 'thinking',
            thinking: WORD,
            signature: 'gw1:gemini-3:tool-call:U0lH',
          },
        }),
        beside: LOOPS.messages(),
      },
    },
    {
      title: 'Signature of a call, of no known family',
      chat: {
        field: '`thought_signature`',
        says: withSignedCall(LOOPS.chat()),
        beside: LOOPS.chat(),
      },
      generate: {
        field: '`thoughtSignature`',
        says: LOOPS.generate(),
        beside: LOOPS.generate({ isUnsigned: true }),
      },
    },
    {
      title: 'Redacted thinking',
      messages: {
        field: '`redacted_thinking`',
        says: LOOPS.messages({ thought: { type: 'redacted_thinking', data: 'U0lHTkVE' } }),
        beside: LOOPS.messages(),
        mark: 'U0lHTkVE',
      },
    },
  ],
};

const MEDIA: FeatureGroup = {
  title: 'Pictures, sounds and files',
  features: [
    {
      title: 'Picture as data',
      chat: {
        field: '`image_url` with a data URI',
        says: chatUser({ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }),
        mark: PNG,
      },
      responses: {
        field: '`input_image` with a data URI',
        says: responsesUser({ type: 'input_image', image_url: `data:image/png;base64,${PNG}` }),
        mark: PNG,
      },
      messages: {
        field: '`image` with `base64`',
        says: messagesUser({ type: 'image', ...base64Source('image/png', PNG) }),
        mark: PNG,
      },
      generate: {
        field: '`inlineData`',
        says: generateUser({ inlineData: { mimeType: 'image/png', data: PNG } }),
        mark: PNG,
      },
    },
    {
      title: 'Picture by address',
      chat: {
        field: '`image_url`',
        says: chatUser({ type: 'image_url', image_url: { url: PICTURE_URL } }),
        mark: PICTURE_URL,
      },
      responses: {
        field: '`input_image`',
        says: responsesUser({ type: 'input_image', image_url: PICTURE_URL }),
        mark: PICTURE_URL,
      },
      messages: {
        field: '`image` with `url`',
        says: messagesUser({ type: 'image', source: { type: 'url', url: PICTURE_URL } }),
        mark: PICTURE_URL,
      },
      generate: {
        field: '`fileData`',
        says: generateUser({ fileData: { mimeType: 'image/png', fileUri: PICTURE_URL } }),
        mark: PICTURE_URL,
      },
    },
    {
      title: 'How closely a picture is looked at',
      chat: {
        field: '`detail`',
        says: chatUser({
          type: 'image_url',
          image_url: { url: `data:image/png;base64,${PNG}`, detail: 'low' },
        }),
        beside: chatUser({ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }),
      },
      responses: {
        field: '`detail`',
        says: responsesUser({
          type: 'input_image',
          image_url: `data:image/png;base64,${PNG}`,
          detail: 'low',
        }),
        beside: responsesUser({ type: 'input_image', image_url: `data:image/png;base64,${PNG}` }),
      },
      generate: {
        field: '`mediaResolution` of a part',
        says: generateUser({
          inlineData: { mimeType: 'image/png', data: PNG },
          mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' },
        }),
        beside: generateUser({ inlineData: { mimeType: 'image/png', data: PNG } }),
      },
    },
    {
      title: 'How closely all media are looked at',
      generate: {
        field: '`mediaResolution`',
        says: config({ mediaResolution: 'MEDIA_RESOLUTION_LOW' }),
      },
    },
    {
      title: 'Sound',
      chat: {
        field: '`input_audio`',
        says: chatUser({ type: 'input_audio', input_audio: { data: WAV, format: 'wav' } }),
        mark: WAV,
      },
      responses: {
        field: '`input_audio`',
        says: responsesUser({ type: 'input_audio', input_audio: { data: WAV, format: 'wav' } }),
        mark: WAV,
      },
      generate: {
        field: '`inlineData`',
        says: generateUser({ inlineData: { mimeType: 'audio/wav', data: WAV } }),
        mark: WAV,
      },
    },
    {
      title: 'Video',
      chat: {
        field: '`video_url` with a data URI',
        says: chatUser({ type: 'video_url', video_url: { url: `data:video/mp4;base64,${MP4}` } }),
        mark: MP4,
      },
      generate: {
        field: '`inlineData`',
        says: generateUser({ inlineData: { mimeType: 'video/mp4', data: MP4 } }),
        mark: MP4,
      },
    },
    {
      title: 'PDF',
      chat: {
        field: '`file` with `file_data`',
        says: chatUser({
          type: 'file',
          file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` },
        }),
        mark: PDF,
      },
      responses: {
        field: '`input_file` with `file_data`',
        says: responsesUser({
          type: 'input_file',
          filename: 'a.pdf',
          file_data: `data:application/pdf;base64,${PDF}`,
        }),
        mark: PDF,
      },
      messages: {
        field: '`document` with `base64`',
        says: messagesUser({ type: 'document', ...base64Source('application/pdf', PDF) }),
        mark: PDF,
      },
      generate: {
        field: '`inlineData`',
        says: generateUser({ inlineData: { mimeType: 'application/pdf', data: PDF } }),
        mark: PDF,
      },
    },
    {
      title: 'Text as a document',
      messages: {
        field: '`document` with `text`',
        says: messagesUser({
          type: 'document',
          source: { type: 'text', media_type: 'text/plain', data: WORD },
        }),
        mark: WORD,
      },
    },
    {
      title: 'Title of a document',
      messages: {
        field: '`title`',
        says: messagesUser({
          type: 'document',
          ...base64Source('application/pdf', PDF),
          title: WORD,
        }),
        beside: messagesUser({ type: 'document', ...base64Source('application/pdf', PDF) }),
        mark: WORD,
      },
    },
    {
      title: 'Citations of a document',
      messages: {
        field: '`citations`',
        says: messagesUser({
          type: 'document',
          ...base64Source('application/pdf', PDF),
          citations: { enabled: true },
        }),
        beside: messagesUser({ type: 'document', ...base64Source('application/pdf', PDF) }),
      },
    },
    {
      title: 'Results of a search of the client',
      messages: {
        field: '`search_result`',
        says: messagesUser({
          type: 'search_result',
          source: 'https://example.com',
          title: 'Example',
          content: [{ type: 'text', text: WORD }],
        }),
        mark: WORD,
      },
    },
    {
      title: 'File that a service keeps',
      chat: {
        field: '`file_id`',
        says: chatUser({ type: 'file', file: { file_id: 'file-1' } }),
        mark: 'file-1',
      },
      responses: {
        field: '`file_id`',
        says: responsesUser({ type: 'input_file', file_id: 'file-1' }),
        mark: 'file-1',
      },
      messages: {
        field: '`file_id`',
        says: messagesUser({ type: 'document', source: { type: 'file', file_id: 'file-1' } }),
        mark: 'file-1',
      },
      generate: {
        field: '`fileData` of the Files API',
        says: generateUser({
          fileData: {
            mimeType: 'application/pdf',
            fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/file-1',
          },
        }),
        mark: 'file-1',
      },
    },
  ],
};

const FREEFORM = {
  chat: { tools: [{ type: 'custom', custom: { name: WORD, description: 'Takes text' } }] },
  responses: { tools: [{ type: 'custom', name: WORD, description: 'Takes text' }] },
};

const TOOLS: FeatureGroup = {
  title: 'Functions',
  features: [
    {
      title: 'Functions',
      chat: { field: '`tools`', says: ONE_TOOL.chat, mark: WORD },
      responses: { field: '`tools`', says: ONE_TOOL.responses, mark: WORD },
      messages: { field: '`tools`', says: ONE_TOOL.messages, mark: WORD },
      generate: { field: '`functionDeclarations`', says: ONE_TOOL.generate, mark: WORD },
    },
    {
      title: 'Functions that take free text',
      chat: { field: '`custom`', says: FREEFORM.chat, mark: WORD },
      responses: { field: '`custom`', says: FREEFORM.responses, mark: WORD },
    },
    {
      title: 'Grammar of free text',
      chat: {
        field: '`format`',
        says: {
          tools: [
            {
              type: 'custom',
              custom: {
                name: WORD,
                description: 'Takes text',
                format: { type: 'grammar', grammar: { syntax: 'regex', definition: 'a+b' } },
              },
            },
          ],
        },
        beside: FREEFORM.chat,
        mark: 'a+b',
      },
      responses: {
        field: '`format`',
        says: {
          tools: [
            {
              type: 'custom',
              name: WORD,
              description: 'Takes text',
              format: { type: 'grammar', syntax: 'regex', definition: 'a+b' },
            },
          ],
        },
        beside: FREEFORM.responses,
        mark: 'a+b',
      },
    },
    {
      title: 'Strict schemas',
      chat: {
        field: '`strict`',
        says: STRICT_TOOL.chat,
        beside: ONE_TOOL.chat,
      },
      responses: {
        field: '`strict`',
        says: STRICT_TOOL.responses,
        beside: ONE_TOOL.responses,
      },
      messages: {
        field: '`strict`',
        says: STRICT_TOOL.messages,
        beside: ONE_TOOL.messages,
      },
    },
    {
      title: 'A call is demanded',
      chat: { field: '`tool_choice`: `required`', ...chosen('chat', { tool_choice: 'required' }) },
      responses: {
        field: '`tool_choice`: `required`',
        ...chosen('responses', { tool_choice: 'required' }),
      },
      messages: {
        field: '`tool_choice`: `any`',
        ...chosen('messages', { tool_choice: { type: 'any' } }),
      },
      generate: {
        field: '`mode`: `ANY`',
        ...chosen('generate', { toolConfig: { functionCallingConfig: { mode: 'ANY' } } }),
      },
    },
    {
      title: 'A call of one function is demanded',
      chat: {
        field: '`tool_choice` with a name',
        ...chosen('chat', { tool_choice: { type: 'function', function: { name: 'clock' } } }),
      },
      responses: {
        field: '`tool_choice` with a name',
        ...chosen('responses', { tool_choice: { type: 'function', name: 'clock' } }),
      },
      messages: {
        field: '`tool_choice`: `tool`',
        ...chosen('messages', { tool_choice: { type: 'tool', name: 'clock' } }),
      },
      generate: {
        field: '`allowedFunctionNames`',
        ...chosen('generate', {
          toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['clock'] } },
        }),
      },
    },
    {
      title: 'Some of the functions may be called',
      chat: {
        field: '`allowed_tools`',
        ...chosen('chat', {
          tool_choice: {
            type: 'allowed_tools',
            allowed_tools: {
              mode: 'auto',
              tools: [{ type: 'function', function: { name: 'clock' } }],
            },
          },
        }),
      },
      responses: {
        field: '`allowed_tools`',
        ...chosen('responses', {
          tool_choice: {
            type: 'allowed_tools',
            mode: 'auto',
            tools: [{ type: 'function', name: 'clock' }],
          },
        }),
      },
    },
    {
      title: 'No call',
      chat: { field: '`tool_choice`: `none`', ...chosen('chat', { tool_choice: 'none' }) },
      responses: {
        field: '`tool_choice`: `none`',
        ...chosen('responses', { tool_choice: 'none' }),
      },
      messages: {
        field: '`tool_choice`: `none`',
        ...chosen('messages', { tool_choice: { type: 'none' } }),
      },
      generate: {
        field: '`mode`: `NONE`',
        ...chosen('generate', { toolConfig: { functionCallingConfig: { mode: 'NONE' } } }),
      },
    },
    {
      title: 'Calls that match their schema',
      chat: {
        field: '`tool_choice`: `validated`',
        ...chosen('chat', { tool_choice: 'validated' }),
      },
      generate: {
        field: '`mode`: `VALIDATED`',
        ...chosen('generate', { toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } } }),
      },
    },
    {
      title: 'One call at a time',
      chat: {
        field: '`parallel_tool_calls`',
        ...chosen('chat', { parallel_tool_calls: false }),
      },
      responses: {
        field: '`parallel_tool_calls`',
        ...chosen('responses', { parallel_tool_calls: false }),
      },
      messages: {
        field: '`disable_parallel_tool_use`',
        ...chosen('messages', { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }),
      },
    },
    {
      title: 'Calls and their results',
      chat: { field: '`tool_calls`, `tool` message', says: LOOPS.chat(), beside: ONE_TOOL.chat },
      responses: {
        field: '`function_call`, `function_call_output`',
        says: LOOPS.responses(),
        beside: ONE_TOOL.responses,
      },
      messages: {
        field: '`tool_use`, `tool_result`',
        says: LOOPS.messages(),
        beside: ONE_TOOL.messages,
      },
      generate: {
        field: '`functionCall`, `functionResponse`',
        says: LOOPS.generate(),
        beside: ONE_TOOL.generate,
        mark: 'Oslo 1',
      },
    },
    {
      title: 'Parallel calls',
      chat: {
        field: 'several `tool_calls`',
        says: LOOPS.chat({ calls: 2 }),
        beside: LOOPS.chat(),
        mark: 'Oslo 2',
      },
      responses: {
        field: 'several `function_call` items',
        says: LOOPS.responses({ calls: 2 }),
        beside: LOOPS.responses(),
        mark: 'Oslo 2',
      },
      messages: {
        field: 'several `tool_use`',
        says: LOOPS.messages({ calls: 2 }),
        beside: LOOPS.messages(),
        mark: 'Oslo 2',
      },
      generate: {
        field: 'several `functionCall`',
        says: LOOPS.generate({ calls: 2 }),
        beside: LOOPS.generate(),
        mark: 'Oslo 2',
      },
    },
    {
      title: 'A result that is a failure',
      messages: {
        field: '`is_error`',
        says: LOOPS.messages({ failed: true }),
        beside: LOOPS.messages(),
      },
    },
    {
      title: 'A picture in a result',
      chat: {
        field: '`image_url` in a `tool` message',
        says: LOOPS.chat({
          result: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }],
        }),
        beside: LOOPS.chat(),
        mark: PNG,
      },
      responses: {
        field: '`input_image` in an output',
        says: LOOPS.responses({
          result: [{ type: 'input_image', image_url: `data:image/png;base64,${PNG}` }],
        }),
        beside: LOOPS.responses(),
        mark: PNG,
      },
      messages: {
        field: '`image` in a `tool_result`',
        says: LOOPS.messages({
          result: [{ type: 'image', ...base64Source('image/png', PNG) }],
        }),
        beside: LOOPS.messages(),
        mark: PNG,
      },
      generate: {
        field: '`parts` of a `functionResponse`',
        says: LOOPS.generate({ parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }] }),
        beside: LOOPS.generate(),
        mark: PNG,
      },
    },
  ],
};

/** A choice among two functions. */
function chosen(client: ClientName, choice: JsonObject): Pick<Asked, 'says' | 'beside'> {
  return { says: choice, beside: TWO_TOOLS[client] };
}

const SERVICES: FeatureGroup = {
  title: 'Tools of the provider',
  features: [
    {
      title: 'Web search',
      chat: { field: '`web_search_options`', says: { web_search_options: {} } },
      responses: { field: '`web_search`', says: { tools: [{ type: 'web_search' }] } },
      messages: {
        field: '`web_search_…`',
        says: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      },
      generate: { field: '`googleSearch`', says: { tools: [{ googleSearch: {} }] } },
    },
    {
      title: 'Domains of a search',
      responses: {
        field: '`filters.allowed_domains`',
        says: {
          tools: [{ type: 'web_search', filters: { allowed_domains: ['example.com'] } }],
        },
        beside: { tools: [{ type: 'web_search' }] },
      },
      messages: {
        field: '`allowed_domains`',
        says: {
          tools: [
            {
              type: 'web_search_20250305',
              name: 'web_search',
              allowed_domains: ['example.com'],
            },
          ],
        },
        beside: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      },
    },
    {
      title: 'Place of a search',
      chat: {
        field: '`user_location`',
        says: {
          web_search_options: {
            user_location: { type: 'approximate', approximate: { city: 'Oslo' } },
          },
        },
        beside: { web_search_options: {} },
      },
      responses: {
        field: '`user_location`',
        says: {
          tools: [{ type: 'web_search', user_location: { type: 'approximate', city: 'Oslo' } }],
        },
        beside: { tools: [{ type: 'web_search' }] },
      },
      messages: {
        field: '`user_location`',
        says: {
          tools: [
            {
              type: 'web_search_20250305',
              name: 'web_search',
              user_location: { type: 'approximate', city: 'Oslo' },
            },
          ],
        },
        beside: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      },
    },
    {
      title: 'How much of the web is read',
      chat: {
        field: '`search_context_size`',
        says: { web_search_options: { search_context_size: 'high' } },
        beside: { web_search_options: {} },
      },
      responses: {
        field: '`search_context_size`',
        says: { tools: [{ type: 'web_search', search_context_size: 'high' }] },
        beside: { tools: [{ type: 'web_search' }] },
      },
      messages: {
        field: '`max_uses`',
        says: { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }] },
        beside: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      },
    },
    {
      title: 'Reading of pages',
      messages: {
        field: '`web_fetch_…`',
        says: { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] },
      },
      generate: { field: '`urlContext`', says: { tools: [{ urlContext: {} }] } },
    },
    {
      title: 'Running of code',
      responses: {
        field: '`code_interpreter`',
        says: { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
      },
      messages: {
        field: '`code_execution_…`',
        says: { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] },
      },
      generate: { field: '`codeExecution`', says: { tools: [{ codeExecution: {} }] } },
    },
    {
      title: 'Maps',
      generate: { field: '`googleMaps`', says: { tools: [{ googleMaps: {} }] } },
    },
    {
      title: 'Search of files',
      responses: {
        field: '`file_search`',
        says: { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
      },
    },
    {
      title: 'MCP servers',
      responses: {
        field: '`mcp`',
        says: {
          tools: [{ type: 'mcp', server_label: 's', server_url: 'https://example.com/mcp' }],
        },
      },
      messages: {
        field: '`mcp_servers`',
        says: {
          mcp_servers: [{ type: 'url', name: 's', url: 'https://example.com/mcp' }],
        },
      },
    },
    {
      title: 'Use of a computer',
      responses: {
        field: '`computer_use_preview`',
        says: {
          tools: [
            {
              type: 'computer_use_preview',
              display_width: 800,
              display_height: 600,
              environment: 'linux',
            },
          ],
        },
      },
      messages: {
        field: '`computer_…`',
        says: {
          tools: [
            {
              type: 'computer_20250124',
              name: 'computer',
              display_width_px: 800,
              display_height_px: 600,
            },
          ],
        },
      },
    },
    {
      title: 'Drawing as a tool',
      responses: { field: '`image_generation`', says: { tools: [{ type: 'image_generation' }] } },
    },
  ],
};

const JSON_SCHEMA_FORMAT: JsonObject = {
  type: 'json_schema',
  name: 'place',
  schema: SCHEMA,
  strict: true,
};

const OUTPUT: FeatureGroup = {
  title: 'Form of the answer',
  features: [
    {
      title: 'JSON',
      chat: { field: '`json_object`', says: { response_format: { type: 'json_object' } } },
      responses: { field: '`json_object`', says: { text: { format: { type: 'json_object' } } } },
      generate: {
        field: '`responseMimeType`',
        says: config({ responseMimeType: 'application/json' }),
      },
    },
    {
      title: 'JSON of a schema',
      chat: {
        field: '`json_schema`',
        says: {
          response_format: {
            type: 'json_schema',
            json_schema: { name: 'place', schema: SCHEMA, strict: true },
          },
        },
        mark: WORD,
      },
      responses: {
        field: '`json_schema`',
        says: { text: { format: JSON_SCHEMA_FORMAT } },
        mark: WORD,
      },
      messages: {
        field: '`output_config.format`',
        says: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
        mark: WORD,
      },
      generate: {
        field: '`responseJsonSchema`',
        says: config({ responseMimeType: 'application/json', responseJsonSchema: SCHEMA }),
        mark: WORD,
      },
    },
    {
      title: 'One word of a list',
      generate: {
        field: '`text/x.enum`',
        says: config({
          responseMimeType: 'text/x.enum',
          responseSchema: { type: 'STRING', enum: [WORD, 'other'] },
        }),
        mark: WORD,
      },
    },
    {
      title: 'Pictures in the answer',
      chat: { field: '`modalities`', says: { modalities: ['text', 'image'] } },
      generate: {
        field: '`responseModalities`',
        says: config({ responseModalities: ['TEXT', 'IMAGE'] }),
      },
    },
    {
      title: 'Size of pictures',
      chat: { field: '`size`', says: { size: '1024x1024' } },
      generate: { field: '`imageConfig`', says: config({ imageConfig: { aspectRatio: '16:9' } }) },
    },
    {
      title: 'Spoken answers',
      chat: {
        field: '`audio`',
        says: { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
      },
      generate: {
        field: '`speechConfig`',
        says: config({
          responseModalities: ['AUDIO'],
          speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
        }),
      },
    },
    {
      title: 'How wordy an answer is',
      chat: { field: '`verbosity`', says: { verbosity: 'low' } },
      responses: { field: '`text.verbosity`', says: { text: { verbosity: 'low' } } },
    },
    {
      title: 'Text that is expected',
      chat: {
        field: '`prediction`',
        says: { prediction: { type: 'content', content: WORD } },
      },
    },
  ],
};

const THINKING: FeatureGroup = {
  title: 'Thinking',
  features: [
    {
      title: 'A level',
      chat: { field: '`reasoning_effort`', says: { reasoning_effort: 'low' } },
      responses: { field: '`reasoning.effort`', says: { reasoning: { effort: 'low' } } },
      messages: {
        field: '`output_config.effort`',
        says: { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
      },
      generate: {
        field: '`thinkingLevel`',
        says: config({ thinkingConfig: { thinkingLevel: 'LOW' } }),
      },
    },
    {
      title: 'The highest level',
      chat: { field: '`reasoning_effort`', says: { reasoning_effort: 'xhigh' } },
      responses: { field: '`reasoning.effort`', says: { reasoning: { effort: 'xhigh' } } },
      messages: {
        field: '`output_config.effort`',
        says: { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } },
      },
    },
    {
      title: 'A budget',
      chat: { field: '`thinking.budget_tokens`', says: { thinking: { budget_tokens: 2000 } } },
      messages: {
        field: '`thinking.budget_tokens`',
        says: { thinking: { type: 'enabled', budget_tokens: 2000 } },
      },
      generate: {
        field: '`thinkingBudget`',
        says: config({ thinkingConfig: { thinkingBudget: 2000 } }),
      },
    },
    {
      title: 'As much as the model wants',
      messages: { field: '`thinking`: `adaptive`', says: { thinking: { type: 'adaptive' } } },
      generate: {
        field: '`thinkingBudget`: −1',
        says: config({ thinkingConfig: { thinkingBudget: -1 } }),
      },
      unsent: 'gateway',
    },
    {
      title: 'None',
      chat: { field: '`reasoning_effort`: `none`', says: { reasoning_effort: 'none' } },
      responses: { field: '`effort`: `none`', says: { reasoning: { effort: 'none' } } },
      messages: { field: '`thinking`: `disabled`', says: { thinking: { type: 'disabled' } } },
      generate: {
        field: '`thinkingBudget`: 0',
        says: config({ thinkingConfig: { thinkingBudget: 0 } }),
      },
    },
    {
      title: 'Whether thoughts are shown',
      responses: {
        field: '`reasoning.summary`',
        says: { reasoning: { effort: 'high', summary: 'auto' } },
        beside: { reasoning: { effort: 'high' } },
      },
      messages: {
        field: '`display`: `omitted`',
        says: { thinking: { type: 'adaptive', display: 'omitted' } },
        beside: { thinking: { type: 'adaptive' } },
      },
      generate: {
        field: '`includeThoughts`',
        says: config({ thinkingConfig: { thinkingLevel: 'HIGH', includeThoughts: true } }),
        beside: config({ thinkingConfig: { thinkingLevel: 'HIGH' } }),
      },
      unsent: 'gateway',
    },
  ],
};

const SAMPLING: FeatureGroup = {
  title: 'Length, sampling and stops',
  features: [
    {
      title: 'Longest answer',
      chat: { field: '`max_completion_tokens`', says: { max_completion_tokens: 3217 }, mark: 3217 },
      responses: { field: '`max_output_tokens`', says: { max_output_tokens: 3217 }, mark: 3217 },
      messages: { field: '`max_tokens`', says: { max_tokens: 3217 }, mark: 3217 },
      generate: {
        field: '`maxOutputTokens`',
        says: config({ maxOutputTokens: 3217 }),
        mark: 3217,
      },
    },
    {
      title: 'Temperature',
      chat: { field: '`temperature`', says: { temperature: 0.37 }, mark: 0.37 },
      responses: { field: '`temperature`', says: { temperature: 0.37 }, mark: 0.37 },
      messages: { field: '`temperature`', says: { temperature: 0.37 }, mark: 0.37 },
      generate: { field: '`temperature`', says: config({ temperature: 0.37 }), mark: 0.37 },
    },
    {
      title: 'Temperature above 1',
      chat: { field: '`temperature`', says: { temperature: 1.37 }, mark: 1.37 },
      responses: { field: '`temperature`', says: { temperature: 1.37 }, mark: 1.37 },
      generate: { field: '`temperature`', says: config({ temperature: 1.37 }), mark: 1.37 },
    },
    {
      title: 'Share of the likeliest tokens',
      chat: { field: '`top_p`', says: { top_p: 0.97 }, mark: 0.97 },
      responses: { field: '`top_p`', says: { top_p: 0.97 }, mark: 0.97 },
      messages: { field: '`top_p`', says: { top_p: 0.97 }, mark: 0.97 },
      generate: { field: '`topP`', says: config({ topP: 0.97 }), mark: 0.97 },
    },
    {
      title: 'Number of the likeliest tokens',
      chat: { field: '`top_k`', says: { top_k: 37 }, mark: 37 },
      messages: { field: '`top_k`', says: { top_k: 37 }, mark: 37 },
      generate: { field: '`topK`', says: config({ topK: 37 }), mark: 37 },
    },
    {
      title: 'Seed',
      chat: { field: '`seed`', says: { seed: 4711 }, mark: 4711 },
      generate: { field: '`seed`', says: config({ seed: 4711 }), mark: 4711 },
    },
    {
      title: 'Presence penalty',
      chat: { field: '`presence_penalty`', says: { presence_penalty: 0.37 }, mark: 0.37 },
      responses: { field: '`presence_penalty`', says: { presence_penalty: 0.37 }, mark: 0.37 },
      generate: {
        field: '`presencePenalty`',
        says: config({ presencePenalty: 0.37 }),
        mark: 0.37,
      },
    },
    {
      title: 'Frequency penalty',
      chat: { field: '`frequency_penalty`', says: { frequency_penalty: 0.37 }, mark: 0.37 },
      responses: { field: '`frequency_penalty`', says: { frequency_penalty: 0.37 }, mark: 0.37 },
      generate: {
        field: '`frequencyPenalty`',
        says: config({ frequencyPenalty: 0.37 }),
        mark: 0.37,
      },
    },
    {
      title: 'Bias of tokens',
      chat: { field: '`logit_bias`', says: { logit_bias: { '50256': -100 } }, mark: '50256' },
    },
    {
      title: 'Log-probabilities',
      chat: { field: '`logprobs`', says: { logprobs: true, top_logprobs: 2 } },
      responses: { field: '`top_logprobs`', says: { top_logprobs: 2 } },
      generate: { field: '`responseLogprobs`', says: config({ responseLogprobs: true }) },
    },
    {
      title: 'Several answers',
      chat: { field: '`n`', says: { n: 2 } },
      generate: { field: '`candidateCount`', says: config({ candidateCount: 2 }) },
    },
    {
      title: 'Stop sequences',
      chat: { field: '`stop`', says: { stop: [WORD] }, mark: WORD },
      messages: { field: '`stop_sequences`', says: { stop_sequences: [WORD] }, mark: WORD },
      generate: { field: '`stopSequences`', says: config({ stopSequences: [WORD] }), mark: WORD },
    },
    {
      title: 'Six stop sequences',
      messages: {
        field: '`stop_sequences`',
        says: { stop_sequences: ['a1', 'b2', 'c3', 'd4', 'e5', 'f6'] },
      },
      generate: {
        field: '`stopSequences`',
        says: config({ stopSequences: ['a1', 'b2', 'c3', 'd4', 'e5', 'f6'] }),
      },
    },
  ],
};

const SERVICE: FeatureGroup = {
  title: 'Caches, conversations and the service',
  features: [
    {
      title: 'Where the prompt is cached',
      chat: {
        field: '`cache_control`',
        beside: { messages: [{ role: 'user', content: [{ type: 'text', text: QUESTION }] }] },
        says: {
          messages: [
            {
              role: 'user',
              content: [{ type: 'text', text: QUESTION, cache_control: { type: 'ephemeral' } }],
            },
          ],
        },
      },
      messages: {
        field: '`cache_control`',
        beside: { messages: [{ role: 'user', content: [{ type: 'text', text: QUESTION }] }] },
        says: {
          messages: [
            {
              role: 'user',
              content: [{ type: 'text', text: QUESTION, cache_control: { type: 'ephemeral' } }],
            },
          ],
        },
      },
      unsent: 'hint',
    },
    {
      title: 'Key of the cache',
      chat: { field: '`prompt_cache_key`', says: { prompt_cache_key: 'k' } },
      responses: { field: '`prompt_cache_key`', says: { prompt_cache_key: 'k' } },
      unsent: 'hint',
    },
    {
      title: 'Cache that a service keeps',
      generate: {
        field: '`cachedContent`',
        says: { cachedContent: 'cachedContents/abc' },
        mark: 'cachedContents/abc',
      },
    },
    {
      title: 'Conversation that the gateway keeps',
      responses: { field: '`store`', says: { store: true } },
      unsent: 'gateway',
    },
    {
      title: 'Turns that may be left out',
      responses: { field: '`truncation`: `auto`', says: { truncation: 'auto' } },
      unsent: 'gateway',
    },
    {
      title: 'Edits of a long conversation',
      messages: {
        field: '`context_management`',
        says: {
          context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
        },
      },
    },
    {
      title: 'Skills of a container',
      messages: {
        field: '`container`',
        says: { container: { skills: [{ type: 'anthropic', skill_id: 'xlsx' }] } },
      },
    },
    {
      title: 'Notes on the request',
      chat: { field: '`metadata`', says: { metadata: { a: 'b' } } },
      responses: { field: '`metadata`', says: { metadata: { a: 'b' } } },
      messages: { field: '`metadata.user_id`', says: { metadata: { user_id: 'u' } } },
      generate: { field: '`labels`', says: { labels: { a: 'b' } } },
      unsent: 'hint',
    },
    {
      title: 'Who asks',
      chat: { field: '`user`', says: { user: 'u' } },
      responses: { field: '`safety_identifier`', says: { safety_identifier: 'u' } },
      unsent: 'hint',
    },
    {
      title: 'Service tier',
      chat: { field: '`service_tier`', says: { service_tier: 'flex' }, mark: 'flex' },
      responses: { field: '`service_tier`', says: { service_tier: 'flex' }, mark: 'flex' },
      // Each wire has a word of its own for it.
      messages: { field: '`service_tier`', says: { service_tier: 'standard_only' } },
      generate: { field: '`serviceTier`', says: { serviceTier: 'flex' }, mark: 'flex' },
    },
    {
      title: 'Safety settings',
      chat: {
        field: '`safety_settings`',
        says: {
          safety_settings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
        },
        mark: 'HARM_CATEGORY_HARASSMENT',
      },
      generate: {
        field: '`safetySettings`',
        says: {
          safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
        },
        mark: 'HARM_CATEGORY_HARASSMENT',
      },
    },
    {
      title: 'Place of the computation',
      messages: { field: '`inference_geo`', says: { inference_geo: 'eu' } },
    },
    {
      title: 'Speed',
      messages: { field: '`speed`', says: { speed: 'fast' } },
    },
    {
      title: 'Usage at the end of a stream',
      chat: {
        field: '`include_usage`',
        says: { stream: true, stream_options: { include_usage: true } },
        beside: { stream: true },
      },
      unsent: 'gateway',
    },
    {
      title: 'A field nobody knows',
      chat: { field: '`heliotrope`', says: { [WORD]: 1 }, mark: WORD },
      responses: { field: '`heliotrope`', says: { [WORD]: 1 }, mark: WORD },
      messages: { field: '`heliotrope`', says: { [WORD]: 1 }, mark: WORD },
      generate: { field: '`heliotrope`', says: { [WORD]: 1 }, mark: WORD },
    },
  ],
};

export const FEATURE_GROUPS: readonly FeatureGroup[] = [
  CONVERSATION,
  MEDIA,
  TOOLS,
  SERVICES,
  OUTPUT,
  THINKING,
  SAMPLING,
  SERVICE,
];
