import { expect, test } from 'vitest';
import { clientField, createReceipt } from '../../canonical/receipt.ts';
import type { JsonObject } from '../../lib/json.ts';
import { normalizeBody } from './normalize-body.ts';
import { readCountRequest, readRequest } from './read-request.ts';

function read(body: JsonObject) {
  const receipt = createReceipt();
  const request = readRequest(normalizeBody(body, 'm', receipt), receipt);
  return { request, receipt: receipt.entries };
}

const CONTENTS = [{ role: 'user', parts: [{ text: 'x' }] }];

test('a whole conversation with calls, media and settings is read', () => {
  const { request, receipt } = read({
    systemInstruction: { parts: [{ text: 'A' }, { text: 'B' }] },
    contents: [
      { parts: [{ text: 'look' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
      {
        role: 'model',
        parts: [
          { text: 'hm', thought: true, thoughtSignature: 'QUJD' },
          { functionCall: { id: 'c1', name: 'f', args: { a: 1 } }, thoughtSignature: 'REVG' },
        ],
      },
      { parts: [{ functionResponse: { id: 'c1', name: 'f', response: { output: 'ok' } } }] },
    ],
    generationConfig: {
      maxOutputTokens: 9,
      temperature: 0.5,
      stopSequences: ['END'],
      candidateCount: 2,
      responseLogprobs: true,
      logprobs: 3,
      responseModalities: ['TEXT', 'IMAGE'],
      imageConfig: { aspectRatio: '1:1', imageSize: '2K' },
      mediaResolution: 'MEDIA_RESOLUTION_LOW',
    },
    safetySettings: [{ category: 'C', threshold: 'T' }],
    serviceTier: 'flex',
  });
  expect(receipt).toEqual([]);
  expect(request).toMatchObject({
    system: [
      { kind: 'text', text: 'A' },
      { kind: 'text', text: 'B' },
    ],
    turns: [
      {
        role: 'user',
        parts: [
          { kind: 'text', text: 'look' },
          {
            kind: 'media',
            modality: 'image',
            mediaType: 'image/png',
            source: { kind: 'base64', base64: 'AAAA' },
          },
        ],
      },
      {
        role: 'assistant',
        parts: [
          { kind: 'thinking', text: 'hm', signature: { value: 'QUJD', on: 'thinking' } },
          {
            kind: 'tool-call',
            id: 'c1',
            name: 'f',
            input: { a: 1 },
            signature: { value: 'REVG', on: 'tool-call' },
          },
        ],
      },
      {
        role: 'user',
        parts: [
          {
            kind: 'tool-result',
            callId: 'c1',
            name: 'f',
            content: [{ kind: 'text', text: 'ok' }],
            isError: false,
          },
        ],
      },
    ],
    maxOutputTokens: 9,
    sampling: { temperature: 0.5, logprobs: { alternatives: 3 } },
    stopSequences: ['END'],
    choices: 2,
    outputModalities: ['text', 'image'],
    image: { aspectRatio: '1:1', size: '2K' },
    mediaResolution: 'low',
    safety: [{ category: 'C', threshold: 'T' }],
    serviceTier: 'flex',
    toolChoice: { kind: 'auto', names: [] },
  });
});

test.each([
  [{ thinkingLevel: 'NONE' }, { kind: 'off' }],
  [{ thinkingLevel: 'minimal' }, { kind: 'effort', effort: 'minimal' }],
  [{ thinkingLevel: 'LOW' }, { kind: 'effort', effort: 'low' }],
  [{ thinkingLevel: 'medium' }, { kind: 'effort', effort: 'medium' }],
  [{ thinkingLevel: 'HIGH' }, { kind: 'effort', effort: 'high' }],
  [{ thinkingBudget: 0 }, { kind: 'off' }],
  [{ thinkingBudget: -1 }, { kind: 'adaptive' }],
  [{ thinkingBudget: 8192 }, { kind: 'budget', tokens: 8192 }],
  [
    { thinkingBudget: 8192, thinkingLevel: 'HIGH' },
    { kind: 'budget', tokens: 8192 },
  ],
  [{}, { kind: 'unset' }],
])('V110 the thinking config %j is the amount %j', (thinkingConfig, amount) => {
  const { request } = read({ contents: CONTENTS, generationConfig: { thinkingConfig } });
  expect(request.reasoning.amount).toEqual(amount);
});

test.each([
  ['image/png', 'image', 'image/png'],
  ['image/jpg', 'image', 'image/jpeg'],
  ['Audio/WAV', 'audio', 'audio/wav'],
  ['audio/mpeg', 'audio', 'audio/mp3'],
  ['video/mp4', 'video', 'video/mp4'],
  ['application/pdf', 'document', 'application/pdf'],
])('media of type %s are of the kind %s, and spelled %s', (mimeType, modality, mediaType) => {
  const parts = [{ inlineData: { mimeType, data: 'AAAA' } }];
  const [turn] = read({ contents: [{ role: 'user', parts }] }).request.turns;
  expect(turn?.parts).toMatchObject([{ kind: 'media', modality, mediaType }]);
});

test('a file of text is the text it holds, behind its name', () => {
  const data = Buffer.from('a;b\né;1').toString('base64');
  const file = { mimeType: 'text/csv', data };
  const parts = [{ inlineData: file }, { inlineData: { ...file, displayName: 'q.csv' } }];
  const [turn] = read({ contents: [{ role: 'user', parts }] }).request.turns;
  expect(turn?.parts).toMatchObject([
    { kind: 'text', text: 'a;b\né;1' },
    { kind: 'text', text: 'q.csv\na;b\né;1' },
  ]);
});

test.each([
  [{ thinkingBudget: 2000 }, false],
  [{ includeThoughts: true }, true],
])('thoughts are shown where the client asks for them: %j', (thinkingConfig, isShown) => {
  const { request } = read({ contents: CONTENTS, generationConfig: { thinkingConfig } });
  expect(request.reasoning.showThoughts).toBe(isShown);
});

test('the pieces of a streamed thought are one again where an empty one behind them is signed', () => {
  const thought = (text: string, thoughtSignature?: string) => ({
    role: 'model',
    parts: [{ text, thought: true, ...(thoughtSignature && { thoughtSignature }) }],
  });
  const { turns } = read({
    contents: [
      { role: 'user', parts: [{ text: 'Go' }] },
      ...[thought('It is '), thought('about rain.'), thought('', 'U0lH')],
      { role: 'model', parts: [{ text: 'Rain.' }] },
      { role: 'user', parts: [{ text: 'And?' }] },
      ...[thought('Of another.'), thought('Signed.', 'U0lH'), thought('', 'U0lI')],
    ],
  }).request;
  const texts = turns.flatMap(({ parts }) =>
    parts.map((part) => (part.kind === 'text' || part.kind === 'thinking' ? part.text : '')),
  );
  expect(texts).toEqual([
    ...['Go', 'It is about rain.', 'Rain.', 'And?'],
    ...['Of another.', 'Signed.', ''],
  ]);
});

test('the pieces of a streamed answer that are sent back one by one are one text again', () => {
  const said = (...parts: JsonObject[]) => ({ role: 'model', parts });
  const call = { functionCall: { name: 'f', args: {} } };
  const { turns } = read({
    contents: [
      { role: 'user', parts: [{ text: 'Go' }] },
      ...[said({ text: 'It ra' }), said({ text: 'ins' }, { text: '.' }), said(call)],
      ...[said({ text: 'Lo' }), said({ text: 'ok.', thoughtSignature: 'U0lH' })],
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: {} } }] },
      { role: 'user', parts: [{ text: 'And?' }] },
    ],
  }).request;
  expect(turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'user']);
  expect(turns[1]?.parts).toMatchObject([
    ...[{ text: 'It rains.' }, { kind: 'tool-call' }],
    ...[{ text: 'Lo' }, { text: 'ok.', signature: { value: 'U0lH' } }],
  ]);
});

test('the name of a medium stands before it, in a turn and in a result', () => {
  const inlineData = { mimeType: 'image/png', data: 'AAAA', displayName: 'chart.png' };
  const fileUri = 'https://a.example/a.pdf';
  const fileData = { mimeType: 'application/pdf', fileUri, displayName: 'terms.pdf' };
  const response = { chart: { $ref: 'chart.png' } };
  const { turns } = read({
    contents: [
      { role: 'user', parts: [{ inlineData }, { fileData }] },
      { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'f', response, parts: [{ inlineData }] } }],
      },
    ],
  }).request;
  expect(turns[0]?.parts).toMatchObject([
    ...[{ text: 'chart.png' }, { modality: 'image' }],
    ...[{ text: 'terms.pdf' }, { modality: 'document' }],
  ]);
  expect(turns[2]?.parts).toMatchObject([
    { content: [{ kind: 'json' }, { text: 'chart.png' }, { modality: 'image' }] },
  ]);
});

test.each([
  ['https://a.example/a.png', 'image/png', 'url'],
  ['https://a.example/a.pdf', 'application/pdf', 'url'],
  ['https://www.youtube.com/watch?v=x', 'video/mp4', 'file'],
  ['https://www.youtube.com/watch?v=x', undefined, 'file'],
  ['https://generativelanguage.googleapis.com/v1beta/files/x', 'image/png', 'file'],
  ['gs://bucket/a.png', 'image/png', 'file'],
  ['https://10.0.0.1/a.png', 'image/png', 'file'],
])('%s of the type %s is read as a %s', (fileUri, mimeType, kind) => {
  const contents = [
    { role: 'user', parts: [{ fileData: { fileUri, ...(mimeType && { mimeType }) } }] },
  ];
  const [turn] = read({ contents }).request.turns;
  expect(turn?.parts).toMatchObject([{ kind: 'media', source: { kind } }]);
});

test('calls and results without ids are paired by name and order', () => {
  const call = (name: string) => ({ functionCall: { name } });
  const response = (name: string) => ({ functionResponse: { name, response: {} } });
  const { request } = read({
    contents: [
      { parts: [{ text: 'go' }] },
      { role: 'model', parts: [call('f'), call('g')] },
      { role: 'model', parts: [call('f')] },
      { parts: [response('g'), response('f'), response('f')] },
      { role: 'model', parts: [call('f')] },
      { parts: [response('f')] },
    ],
  });
  const ids = request.turns.map((turn) =>
    turn.parts.map((part) =>
      part.kind === 'tool-call' ? part.id : part.kind === 'tool-result' ? part.callId : '',
    ),
  );
  const [, [f1, g, f2] = [], results, [f3] = [], last] = ids;
  expect(results).toEqual([g, f1, f2]);
  expect(last).toEqual([f3]);
  expect(new Set([f1, g, f2, f3]).size).toBe(4);
});

test('a result without id finds a call that has one, and a call left open is not confused later', () => {
  const { request } = read({
    contents: [
      { role: 'model', parts: [{ functionCall: { id: 'lost', name: 'f' } }] },
      { parts: [{ text: 'never mind' }] },
      { role: 'model', parts: [{ functionCall: { id: 'c2', name: 'f' } }] },
      { parts: [{ functionResponse: { name: 'f', response: {} } }] },
    ],
  });
  expect(request.turns[3]?.parts).toMatchObject([{ kind: 'tool-result', callId: 'c2' }]);
});

test('a result with neither the id nor the name of a call answers the first open call of its step', () => {
  const response = (name: string) => ({ functionResponse: { name, response: {} } });
  const { request } = read({
    contents: [
      { role: 'model', parts: [{ functionCall: { id: 'old', name: 'f' } }] },
      { parts: [{ text: 'never mind' }] },
      {
        role: 'model',
        parts: ['a', 'b', 'c'].map((id) => ({ functionCall: { id, name: `files-${id}` } })),
      },
      { parts: [response('files-a'), response('files__b'), response('files__c')] },
    ],
  });
  expect(request.turns[3]?.parts).toMatchObject([
    { callId: 'a' },
    { callId: 'b' },
    { callId: 'c' },
  ]);
});

test('results with names of calls answer these, wherever those with other names stand', () => {
  const response = (name: string) => ({ functionResponse: { name, response: {} } });
  const { request } = read({
    contents: [
      {
        role: 'model',
        parts: ['a', 'b', 'c'].map((name) => ({ functionCall: { id: name, name } })),
      },
      { parts: [response('plugin_b'), response('a')] },
      { parts: [response('plugin_c')] },
    ],
  });
  const results = request.turns.flatMap(({ parts }) => parts).slice(3);
  expect(results).toMatchObject([{ callId: 'b' }, { callId: 'a' }, { callId: 'c' }]);
});

test.each<[JsonObject, boolean, JsonObject]>([
  [{ output: 'ok' }, false, { kind: 'text', text: 'ok' }],
  [{ error: 'bad' }, true, { kind: 'text', text: 'bad' }],
  [{ output: { a: 1 } }, false, { kind: 'json', value: { output: { a: 1 } } }],
  [{ result: 'ok' }, false, { kind: 'json', value: { result: 'ok' } }],
  [{ error: 'x', output: 'y' }, false, { kind: 'json', value: { error: 'x', output: 'y' } }],
  [{}, false, { kind: 'json', value: {} }],
  [{ name: 'f', content: 'ok' }, false, { kind: 'text', text: 'ok' }],
  [{ name: 'f', content: { a: 1 } }, false, { kind: 'json', value: { a: 1 } }],
  [{ name: 'f', content: [1] }, false, { kind: 'text', text: '[1]' }],
  [{ name: 'f', error: 'bad' }, true, { kind: 'text', text: 'bad' }],
  [{ name: 'f', error: { a: 1 } }, true, { kind: 'json', value: { a: 1 } }],
  [{ name: 'Ada', error: 'bad' }, false, { kind: 'json', value: { name: 'Ada', error: 'bad' } }],
  [{ name: 'f' }, false, { kind: 'json', value: { name: 'f' } }],
])('the function response %j is read', (response, isError, content) => {
  const { request } = read({
    contents: [{ parts: [{ functionResponse: { id: 'c', name: 'f', response } }] }],
  });
  const path = 'contents[0].parts[0].functionResponse';
  expect(request.turns[0]?.parts).toEqual([
    { kind: 'tool-result', callId: 'c', name: 'f', content: [content], isError, path },
  ]);
});

test('P067 media inside a function response is part of the result', () => {
  const parts = [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }];
  const { request } = read({
    contents: [{ parts: [{ functionResponse: { id: 'c', name: 'f', response: {}, parts } }] }],
  });
  expect(request.turns[0]?.parts[0]).toMatchObject({
    content: [{ kind: 'json' }, { kind: 'media', modality: 'image' }],
  });
});

test('tools are read in both schema forms, and hosted ones without counterpart are noted', () => {
  const { request, receipt } = read({
    contents: CONTENTS,
    tools: [
      {
        functionDeclarations: [
          { name: 'a', description: 'd', parameters: { type: 'OBJECT' } },
          { name: 'b', parametersJsonSchema: { type: 'object' } },
          { name: 'c' },
        ],
        vendoraSearch: {},
      },
      { urlContext: {}, codeExecution: {} },
      { googleMaps: {} },
      { mcpServers: [{ name: 's' }] },
    ],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['a'] } },
  });
  expect(request.tools).toMatchObject([
    { kind: 'function', name: 'a', description: 'd', parameters: { type: 'OBJECT' } },
    { kind: 'function', name: 'b', parameters: { type: 'object' } },
    { kind: 'function', name: 'c' },
    { kind: 'web-search' },
    { kind: 'url-context' },
    { kind: 'code-execution' },
  ]);
  expect(request.tools.map(({ path }) => path)).toEqual([
    ...[0, 1, 2].map((index) => `tools[0].functionDeclarations[${index}]`),
    'tools[0].googleSearch',
    'tools[1].urlContext',
    'tools[1].codeExecution',
  ]);
  expect(request.tools.slice(0, 2)).toMatchObject([
    { parametersPath: 'tools[0].functionDeclarations[0].parameters' },
    { parametersPath: 'tools[0].functionDeclarations[1].parametersJsonSchema' },
  ]);
  expect(request.toolChoice).toMatchObject({ kind: 'required', names: ['a'] });
  expect(receipt).toMatchObject([
    { action: 'dropped', path: 'tools[2].googleMaps' },
    { action: 'dropped', path: 'tools[3].mcpServers' },
  ]);
});

test.each<[JsonObject, JsonObject]>([
  [{}, { kind: 'text' }],
  [{ responseMimeType: 'text/plain' }, { kind: 'text' }],
  [{ responseMimeType: 'application/json' }, { kind: 'json' }],
  [
    { responseMimeType: 'application/json', responseJsonSchema: { type: 'object' } },
    { kind: 'json-schema', schema: { type: 'object' } },
  ],
  [
    { responseMimeType: 'application/json', responseSchema: { type: 'OBJECT' } },
    { kind: 'json-schema', schema: { type: 'OBJECT' }, isClosed: true },
  ],
  [
    { responseMimeType: 'text/x.enum', responseSchema: { type: 'STRING', enum: ['a'] } },
    { kind: 'enum', schema: { type: 'STRING', enum: ['a'] } },
  ],
])('the output settings %j are %j', (generationConfig, outputFormat) => {
  const { request, receipt } = read({ contents: CONTENTS, generationConfig });
  expect([request.outputFormat, receipt]).toEqual([outputFormat, []]);
});

test.each(['application/xml', 'text/x.enum'])('an answer of the type %s is none here', (type) => {
  const generationConfig = { responseMimeType: type };
  const { request, receipt } = read({ contents: CONTENTS, generationConfig });
  expect(request.outputFormat).toEqual({ kind: 'text' });
  expect(receipt).toMatchObject([{ action: 'dropped', path: 'generationConfig.responseMimeType' }]);
});

test('server-side tool traces and code keep their places', () => {
  const { request } = read({
    contents: [
      {
        role: 'model',
        parts: [
          { toolCall: { id: 's', toolType: 'google_search_web', args: { q: 'x' } } },
          { toolResponse: { id: 's', toolType: 'GOOGLE_SEARCH_WEB', response: { a: 1 } } },
          { executableCode: { language: 'python', code: '1' } },
          { executableCode: { language: 'LANGUAGE_UNSPECIFIED', code: 'ls' } },
          { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
        ],
      },
    ],
  });
  expect(request.turns[0]?.parts).toMatchObject([
    { kind: 'server-tool-call', id: 's', name: 'GOOGLE_SEARCH_WEB', input: { q: 'x' } },
    { kind: 'server-tool-result', callId: 's', text: '{"a":1}' },
    { kind: 'code', language: 'python', code: '1' },
    { kind: 'code', language: '', code: 'ls' },
    { kind: 'code-result', outcome: 'ok', output: '1' },
  ]);
});

test('V115 safety settings are not part of what is counted', () => {
  const receipt = createReceipt();
  const body = normalizeBody(
    { contents: CONTENTS, safetySettings: [{ category: 'C', threshold: 'T' }] },
    'm',
    receipt,
  );
  expect(readCountRequest(body, '', receipt).safety).toEqual([]);
  expect(receipt.entries).toEqual([]);
});

test('receipts and errors of rules are named in the words of this protocol', () => {
  const generationConfig = { responseJsonSchema: { type: 'object' } };
  expect(read({ contents: CONTENTS, generationConfig }).request.clientNames).toMatchObject({
    messages: 'contents',
    max_tokens: 'generationConfig.maxOutputTokens',
    response_schema: 'generationConfig.responseJsonSchema',
  });
});

test('settings that an upstream of another wire lacks are told under the names of this protocol', () => {
  const { clientNames } = read({ contents: CONTENTS }).request;
  const named = (words: readonly string[]) => words.map((word) => clientField(word, clientNames));
  expect(named(['temperature', 'top_p', 'presence_penalty', 'frequency_penalty'])).toEqual([
    'generationConfig.temperature',
    'generationConfig.topP',
    'generationConfig.presencePenalty',
    'generationConfig.frequencyPenalty',
  ]);
  expect(named(['speech', 'modalities', 'media_resolution', 'safety_settings'])).toEqual([
    'generationConfig.speechConfig',
    'generationConfig.responseModalities',
    'generationConfig.mediaResolution',
    'safetySettings',
  ]);
});

test('the choice is one among functions: tools the upstream runs stay allowed', () => {
  const choice = (functionCallingConfig: JsonObject) =>
    read({
      contents: CONTENTS,
      tools: [{ functionDeclarations: [{ name: 'f' }] }, { googleSearch: {} }],
      toolConfig: { functionCallingConfig },
    }).request.toolChoice;
  const serverTools = ['web-search'];
  expect(choice({ mode: 'NONE' })).toEqual({ kind: 'none', serverTools });
  expect(choice({ mode: 'ANY', allowedFunctionNames: ['f'] })).toMatchObject({ serverTools });
  expect(choice({ mode: 'AUTO' })).toEqual({ kind: 'auto', names: [] });
});

test('a call that is demanded where there is no tool is refused', () => {
  const toolConfig = { functionCallingConfig: { mode: 'ANY' } };
  expect(() => read({ contents: CONTENTS, toolConfig })).toThrow(
    /^toolConfig.functionCallingConfig.mode demands a function call, but/,
  );
});

test('what one upstream alone has is noted by its place where the wire is another', () => {
  const { receipt } = read({
    contents: CONTENTS,
    model_armor_config: { promptTemplateName: 't' },
    tools: [{ enterprise_web_search: {} }],
    toolConfig: { functionCallingConfig: { streamFunctionCallArguments: true } },
    safetySettings: [{ category: 'C', threshold: 'OFF', method: 'severity' }],
    generationConfig: { audioTimestamp: true, routing_config: {}, modelSelectionConfig: {} },
  });
  expect(new Set(receipt.map(({ action, path }) => `${action} ${path}`))).toEqual(
    new Set([
      'dropped modelArmorConfig',
      'dropped tools[0].enterpriseWebSearch',
      'dropped toolConfig.functionCallingConfig.streamFunctionCallArguments',
      'dropped safetySettings[0].method',
      'dropped generationConfig.audioTimestamp',
      'dropped generationConfig.routingConfig',
      'dropped generationConfig.modelConfig',
    ]),
  );
});

test('P066 a picture inside markdown text becomes a picture where nothing vouches for the text', () => {
  const text = 'before ![x](data:image/png;base64,AAAA) after';
  const kindsOf = (part: JsonObject) =>
    read({ contents: [{ role: 'user', parts: [part] }] }).request.turns[0]?.parts.map(
      ({ kind }) => kind,
    );
  expect(kindsOf({ text })).toEqual(['text', 'media', 'text']);
  expect(kindsOf({ text, thoughtSignature: 'U0lH' })).toEqual(['text']);
});

test('what is chosen of media is told, of those of results as well', () => {
  const medium = {
    inlineData: { mimeType: 'video/mp4', data: 'AAAA' },
    mediaProcessing: 'AGENTIC',
    videoMetadata: { fps: 1 },
  };
  const functionResponse = { id: 'c', name: 'f', response: {}, parts: [medium] };
  const { receipt } = read({ contents: [{ parts: [medium, { functionResponse }] }] });
  expect(receipt.map(({ action, path }) => `${action} ${path}`)).toEqual([
    'dropped contents[0].parts[0].videoMetadata',
    'dropped contents[0].parts[0].mediaProcessing',
    'dropped contents[0].parts[1].functionResponse.parts[0].videoMetadata',
    'dropped contents[0].parts[1].functionResponse.parts[0].mediaProcessing',
  ]);
});
