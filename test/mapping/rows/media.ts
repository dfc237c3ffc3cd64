// Pictures, documents and sound, in questions, histories and tool results.

import type { JsonObject } from '../../../src/lib/json.ts';
import { carried, type Entry, noted, type RequestRow, refused, unsaid } from '../row.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PDF = 'JVBERi0xLjQKJSVFT0YK';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';
const TEXT_BASE64 = 'aGVsbG8=';

const inline = (mimeType: string, data: string) => ({ inlineData: { mimeType, data } });
const contents = (...parts: readonly JsonObject[]) => ({
  contents: [{ role: 'user', parts: [...parts] }],
});
const chat = (...content: readonly JsonObject[]) => ({
  messages: [{ role: 'user', content: [...content] }],
});
const responses = (...content: readonly JsonObject[]) => ({
  input: [{ role: 'user', content: [...content] }],
});
const messages = chat;
const imageUrl = (url: string, detail = {}) => ({
  type: 'image_url',
  image_url: { url, ...detail },
});
const dataUri = (type: string, data: string) => `data:${type};base64,${data}`;
const base64 = (media_type: string, data: string) => ({ type: 'base64', media_type, data });

const CALL_CHAT = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'shoot', arguments: '{}' } }],
};
const CALL = { functionCall: { id: 'c1', name: 'shoot', args: {} } };

/** A picture a tool took: inside its response where the model takes it, else behind it. */
const shot = (ask: JsonObject): Entry =>
  noted(
    ask,
    {
      fields: ({ vocabulary }) => {
        const response = { id: 'c1', name: 'shoot', response: { output: 'done' } };
        const picture = inline('image/png', PNG);
        const parts =
          vocabulary === 'real'
            ? [{ functionResponse: { ...response, parts: [picture] } }]
            : [{ functionResponse: response }, picture];
        const signed = { ...CALL, thoughtSignature: 'skip_thought_signature_validator' };
        return {
          contents: [
            { role: 'user', parts: [{ text: 'Hi' }] },
            { role: 'model', parts: [signed] },
            { role: 'user', parts },
          ],
        };
      },
    },
    ['repaired', 'input' in ask ? 'input' : 'messages'],
  );

export const MEDIA_ROWS: readonly RequestRow[] = [
  {
    name: 'a picture as bytes',
    entries: {
      chat: carried(chat(imageUrl(dataUri('image/png', PNG))), contents(inline('image/png', PNG))),
      responses: carried(
        responses({ type: 'input_image', image_url: dataUri('image/png', PNG) }),
        contents(inline('image/png', PNG)),
      ),
      messages: carried(
        messages({ type: 'image', source: base64('image/png', PNG) }),
        contents(inline('image/png', PNG)),
      ),
      generate: carried(
        contents({ inline_data: { mime_type: 'image/png', data: PNG } }),
        contents(inline('image/png', PNG)),
      ),
    },
  },
  {
    name: 'a picture by a public address that tells no type, where the operator fetches none',
    entries: {
      chat: refused(
        chat(imageUrl('https://example.com/a')),
        'messages[0].content[0].image_url.url',
      ),
      responses: refused(
        responses({ type: 'input_image', image_url: 'https://example.com/a' }),
        'input[0].content[0].image_url',
      ),
      messages: refused(
        messages({ type: 'image', source: { type: 'url', url: 'https://example.com/a' } }),
        'messages[0].content[0].source.url',
      ),
      generate: carried(
        contents({ fileData: { fileUri: 'https://example.com/a.png', mimeType: 'image/png' } }),
        contents({ fileData: { fileUri: 'https://example.com/a.png', mimeType: 'image/png' } }),
      ),
    },
  },
  {
    name: 'a picture by a private address or a local path',
    entries: {
      chat: refused(
        chat(imageUrl('http://127.0.0.1/a.png')),
        'messages[0].content[0].image_url.url',
      ),
      responses: refused(
        responses({ type: 'input_image', image_url: 'file:///etc/passwd' }),
        'input[0].content[0].image_url',
      ),
      messages: refused(
        messages({ type: 'image', source: { type: 'url', url: 'http://10.0.0.1/a.png' } }),
        'messages[0].content[0].source.url',
      ),
      generate: carried(
        contents({ fileData: { fileUri: 'file:///etc/passwd' } }),
        contents({ fileData: { fileUri: 'file:///etc/passwd' } }),
      ),
    },
  },
  {
    name: 'how closely a picture is looked at',
    entries: {
      chat: detail(chat(imageUrl(dataUri('image/png', PNG), { detail: 'low' })), 'messages'),
      responses: detail(
        responses({ type: 'input_image', image_url: dataUri('image/png', PNG), detail: 'low' }),
        'input',
      ),
      messages: unsaid('Image blocks have no detail level.'),
      generate: carried(
        { generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_LOW' } },
        { generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_LOW' } },
      ),
    },
  },
  {
    name: 'a PDF as bytes',
    entries: {
      chat: carried(
        chat({ type: 'file', file: { file_data: dataUri('application/pdf', PDF) } }),
        contents(inline('application/pdf', PDF)),
      ),
      responses: carried(
        responses({ type: 'input_file', file_data: dataUri('application/pdf', PDF) }),
        contents(inline('application/pdf', PDF)),
      ),
      messages: carried(
        messages({ type: 'document', source: base64('application/pdf', PDF) }),
        contents(inline('application/pdf', PDF)),
      ),
      generate: carried(
        contents(inline('application/pdf', PDF)),
        contents(inline('application/pdf', PDF)),
      ),
    },
  },
  {
    name: 'a text file becomes text under its title',
    entries: {
      chat: carried(
        chat({
          type: 'file',
          file: { filename: 'a.txt', file_data: dataUri('text/plain', TEXT_BASE64) },
        }),
        contents({ text: 'a.txt\nhello' }),
      ),
      responses: carried(
        responses({
          type: 'input_file',
          filename: 'a.txt',
          file_data: dataUri('text/plain', TEXT_BASE64),
        }),
        contents({ text: 'a.txt\nhello' }),
      ),
      messages: carried(
        messages({
          type: 'document',
          title: 'a.txt',
          source: { type: 'text', media_type: 'text/plain', data: 'hello' },
        }),
        contents({ text: 'a.txt\n\nhello' }),
      ),
      generate: unsaid('A text file is a part of text, or bytes of its own type.'),
    },
  },
  {
    name: 'a file on a server that is not here',
    entries: {
      chat: refused(
        chat({ type: 'file', file: { file_id: 'file-1' } }),
        'messages[0].content[0].file.file_id',
      ),
      responses: refused(
        responses({ type: 'input_file', file_id: 'file-1' }),
        'input[0].content[0].file_id',
      ),
      messages: refused(
        messages({ type: 'document', source: { type: 'file', file_id: 'file_1' } }),
        'messages[0].content[0].source.type',
      ),
      generate: carried(
        contents({
          fileData: { fileUri: 'https://example.com/v1beta/files/1', mimeType: 'image/png' },
        }),
        contents({
          fileData: { fileUri: 'https://example.com/v1beta/files/1', mimeType: 'image/png' },
        }),
      ),
    },
  },
  {
    name: 'recorded sound',
    entries: {
      chat: carried(
        chat({ type: 'input_audio', input_audio: { data: WAV, format: 'wav' } }),
        contents(inline('audio/wav', WAV)),
      ),
      responses: carried(
        responses({ type: 'input_audio', input_audio: { data: WAV, format: 'wav' } }),
        contents(inline('audio/wav', WAV)),
      ),
      messages: unsaid('The protocol has no sound.'),
      generate: carried(contents(inline('audio/wav', WAV)), contents(inline('audio/wav', WAV))),
    },
  },
  {
    name: 'a video',
    entries: {
      chat: unsaid('The protocol has no video.'),
      responses: unsaid('The protocol has no video.'),
      messages: unsaid('The protocol has no video.'),
      generate: carried(
        contents({ ...inline('video/mp4', 'AAAAGGZ0eXA='), videoMetadata: { fps: 2 } }),
        contents({ ...inline('video/mp4', 'AAAAGGZ0eXA='), videoMetadata: { fps: 2 } }),
      ),
    },
  },
  {
    name: 'a spoken answer',
    entries: {
      chat: refused(
        { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
        'modalities[1]',
      ),
      responses: unsaid('Responses are not spoken.'),
      messages: unsaid('The protocol has no sound.'),
      generate: carried(
        {
          generationConfig: {
            responseModalities: ['AUDIO'],
            speechConfig: { languageCode: 'de-DE' },
          },
        },
        {
          generationConfig: {
            responseModalities: ['AUDIO'],
            speechConfig: { languageCode: 'de-DE' },
          },
        },
      ),
    },
  },
  {
    name: 'a picture in a tool result',
    entries: {
      chat: shot({
        messages: [
          { role: 'user', content: 'Hi' },
          CALL_CHAT,
          {
            role: 'tool',
            tool_call_id: 'c1',
            content: [{ type: 'text', text: 'done' }, imageUrl(dataUri('image/png', PNG))],
          },
        ],
      }),
      responses: shot({
        input: [
          { role: 'user', content: 'Hi' },
          { type: 'function_call', call_id: 'c1', name: 'shoot', arguments: '{}' },
          {
            type: 'function_call_output',
            call_id: 'c1',
            output: [
              { type: 'input_text', text: 'done' },
              { type: 'input_image', image_url: dataUri('image/png', PNG) },
            ],
          },
        ],
      }),
      messages: shot({
        messages: [
          { role: 'user', content: 'Hi' },
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 'c1', name: 'shoot', input: {} }],
          },
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'c1',
                content: [
                  { type: 'text', text: 'done' },
                  { type: 'image', source: base64('image/png', PNG) },
                ],
              },
            ],
          },
        ],
      }),
      generate: unsaid('Media stand in the parts of the response and are forwarded.'),
    },
  },
  {
    name: 'bytes that are no base64',
    entries: {
      chat: refused(
        chat(imageUrl('data:image/png;base64,%%%')),
        'messages[0].content[0].image_url.url',
      ),
      responses: refused(
        responses({ type: 'input_image', image_url: 'data:image/png;base64,%%%' }),
        'input[0].content[0].image_url',
      ),
      messages: refused(
        messages({ type: 'image', source: base64('image/png', '%%%') }),
        'messages[0].content[0].source.data',
      ),
      generate: refused(
        contents(inline('image/png', '%%%')),
        'contents[0].parts[0].inlineData.data',
      ),
    },
  },
];

function detail(ask: JsonObject, path: string): Entry {
  const plain = inline('image/png', PNG);
  return {
    kind: 'written',
    ask,
    expected: {
      fields: ({ vocabulary }) =>
        contents(
          vocabulary === 'real'
            ? { ...plain, mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' } }
            : plain,
        ),
    },
    noted: ({ vocabulary }) => (vocabulary === 'real' ? [] : [['dropped', path]]),
  };
}
