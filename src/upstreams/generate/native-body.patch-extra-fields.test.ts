import { expect, test } from 'vitest';
import type { JsonObject } from '../../lib/json.ts';
import { keyIn } from '../../wire/vocabulary.ts';
import { capabilitiesOf } from './models.ts';
import { patch } from './native-body.ts';
import { createVertexProfile } from './profiles.ts';
import { gemini, sandbox, targetOf } from './requests.test-support.ts';

const contents = [{ role: 'user', parts: [{ text: 'x' }] }];
const vertex = createVertexProfile();

const TOOLS = [
  { googleSearch: { excludeDomains: ['a.example'], blockingConfidence: 'BLOCK_LOW_AND_ABOVE' } },
  { urlContext: {}, retrieval: { vertexAiSearch: { datastore: 'd' } } },
  { enterpriseWebSearch: {} },
];

/** What Vertex AI alone has, beside what every upstream takes. */
const OWN_FIELDS: JsonObject = {
  contents,
  labels: { a: 'b' },
  modelArmorConfig: { promptTemplateName: 't' },
  tools: TOOLS,
  toolConfig: { functionCallingConfig: { mode: 'ANY', streamFunctionCallArguments: true } },
  safetySettings: [{ category: 'C', threshold: 'OFF', method: 'SEVERITY' }],
  generationConfig: {
    temperature: 1,
    audioTimestamp: true,
    routingConfig: { autoMode: { modelRoutingPreference: 'BALANCED' } },
    modelConfig: { featureSelectionPreference: 'PRIORITIZE_COST' },
  },
};

function patched(body: JsonObject, profile: Parameters<typeof patch>[2]) {
  const target = targetOf('gemini-2.5-flash');
  const sent = patch(body, target, profile);
  return { sent, dropped: target.receipt.entries.map(({ path }) => path) };
}

test('an upstream gets the fields of its own as they are', () => {
  expect(patched(OWN_FIELDS, vertex)).toEqual({ sent: OWN_FIELDS, dropped: [] });
  const served = { contents, tools: [{ mcpServers: [{ name: 's' }] }] };
  expect(patched(served, gemini)).toEqual({ sent: served, dropped: [] });
});

test.each([
  ['gemini-api', gemini],
  ['sandbox', sandbox],
])('the fields of another upstream are dropped by their place (%s)', (_name, profile) => {
  const { sent, dropped } = patched(OWN_FIELDS, profile);
  expect(new Set(dropped)).toEqual(
    new Set([
      ...['labels', 'modelArmorConfig', 'tools[1].retrieval', 'tools[2].enterpriseWebSearch'],
      ...['tools[0].googleSearch.excludeDomains', 'tools[0].googleSearch.blockingConfidence'],
      'toolConfig.functionCallingConfig.streamFunctionCallArguments',
      ...['safetySettings[0].method', 'generationConfig.audioTimestamp'],
      ...['generationConfig.routingConfig', 'generationConfig.modelConfig'],
    ]),
  );
  expect(sent).toEqual({
    contents,
    tools: [{ [keyIn(profile.vocabulary, 'googleSearch')]: {} }, { urlContext: {} }],
    toolConfig: { functionCallingConfig: { mode: 'ANY' } },
    safetySettings: [{ category: 'C', threshold: 'OFF' }],
    generationConfig: { temperature: 1 },
  });
});

/** What the public API and Vertex AI have since lately. */
const NEWER_BODY: JsonObject = {
  contents: [
    ...contents,
    { role: 'model', parts: [{ audioTranscription: { text: 'Hi' } }] },
    {
      role: 'user',
      parts: [
        { text: 'x', speechMetadata: { speaker: 'A' } },
        { inlineData: { mimeType: 'video/mp4', data: 'QUJD' }, mediaProcessing: 'AGENTIC' },
      ],
    },
  ],
  tools: [{ computerUse: { enablePromptInjectionDetection: true } }],
  generationConfig: { speechConfig: { voiceConfig: { voice: 'v' } } },
};

test.each([
  ['gemini-api', gemini],
  ['vertex', vertex],
])('the newest fields go where they are documented (%s)', (_name, profile) => {
  expect(patched(NEWER_BODY, profile)).toEqual({ sent: NEWER_BODY, dropped: [] });
});

/** How pages, cells and moments are chosen; `google-genai` 3.4 for Python, `Part` and `FunctionResponsePart`. */
const CHOOSING: JsonObject = {
  documentMetadata: { startPage: 2, endPage: 3, contentLayers: ['PAGE_TEXT'] },
  spreadsheetMetadata: { visibleCells: 'A1:B2', sheetIndex: 1, contentLayers: ['DATA'] },
  audioMetadata: { startOffset: '1s', endOffset: '2s' },
};
const CHOSEN_MEDIUM: JsonObject = {
  inlineData: { mimeType: 'application/pdf', data: 'QUJD', displayName: 'a.pdf' },
  ...CHOOSING,
};
const CHOSEN_BODY: JsonObject = {
  contents: [
    { role: 'user', parts: [CHOSEN_MEDIUM] },
    { role: 'model', parts: [{ functionCall: { name: 'f' }, thoughtSignature: 'QUJD' }] },
    {
      role: 'user',
      parts: [
        {
          functionResponse: {
            name: 'f',
            response: {},
            parts: [{ ...CHOSEN_MEDIUM, videoMetadata: { fps: 1, contentLayers: ['FRAMES'] } }],
          },
        },
      ],
    },
  ],
};

test.each([
  ['gemini-api', gemini],
  ['vertex', vertex],
])('what is chosen of a document goes where it is documented (%s)', (_name, profile) => {
  expect(patched(CHOSEN_BODY, profile).dropped).toEqual([]);
  expect(patched({ contents: [{ role: 'user', parts: [CHOSEN_MEDIUM] }] }, profile).sent).toEqual({
    contents: [{ role: 'user', parts: [CHOSEN_MEDIUM] }],
  });
});

test('what is chosen of a document is dropped by its place elsewhere', () => {
  const within = 'contents[2].parts[0].functionResponse.parts[0]';
  expect(new Set(patched(CHOSEN_BODY, sandbox).dropped)).toEqual(
    new Set([
      ...['inlineData.displayName', ...Object.keys(CHOOSING)].flatMap((key) => [
        `contents[0].parts[0].${key}`,
        `${within}.${key}`,
      ]),
      `${within}.videoMetadata`,
    ]),
  );
});

test('how a result is looked at is for the public API alone', () => {
  const inlineData = { mimeType: 'video/mp4', data: 'QUJD' };
  const parts = [{ inlineData, mediaProcessing: 'AGENTIC' }];
  const functionResponse = { name: 'f', response: {}, parts };
  const body = {
    contents: [
      ...contents,
      { role: 'model', parts: [{ functionCall: { name: 'f' }, thoughtSignature: 'QUJD' }] },
      { role: 'user', parts: [{ functionResponse }] },
    ],
  };
  expect(patched(body, gemini).dropped).toEqual([]);
  expect(patched(body, vertex).dropped).toEqual([
    'contents[2].parts[0].functionResponse.parts[0].mediaProcessing',
  ]);
});

test('the newest fields are dropped by their place elsewhere, and parts of nothing else with them', () => {
  const { sent, dropped } = patched(NEWER_BODY, sandbox);
  expect(new Set(dropped)).toEqual(
    new Set([
      'contents[1].parts[0].audioTranscription',
      ...['contents[2].parts[0].speechMetadata', 'contents[2].parts[1].mediaProcessing'],
      'tools[0].computerUse.enablePromptInjectionDetection',
      'generationConfig.speechConfig.voiceConfig.voice',
    ]),
  );
  expect(sent.contents).toEqual([
    ...contents,
    {
      role: 'user',
      parts: [{ text: 'x' }, { inlineData: { mimeType: 'video/mp4', data: 'QUJD' } }],
    },
  ]);
});

test('how pictures are written and where they are put is for Vertex AI alone', () => {
  const imageConfig = {
    aspectRatio: '1:1',
    imageOutputOptions: { mimeType: 'image/jpeg', compressionQuality: 80 },
    prominentPeople: 'PROMINENT_PEOPLE_UNSPECIFIED',
  };
  const outputConfig = { outputUriPrefix: 'gs://bucket/' };
  const body = { contents, outputConfig, generationConfig: { imageConfig } };
  expect(patched(body, vertex)).toEqual({ sent: body, dropped: [] });
  expect(patched(body, gemini).sent).toEqual({
    contents,
    generationConfig: { imageConfig: { aspectRatio: '1:1' } },
  });
});

test('servers of tools are for the public API alone', () => {
  const body = { contents, tools: [{ mcpServers: [{ name: 's' }] }] };
  expect(patched(body, vertex)).toEqual({ sent: { contents }, dropped: ['tools[0].mcpServers'] });
});

const called = { functionCall: { name: 'f', args: {} }, thoughtSignature: 'QUJD' };
const answered = { functionResponse: { name: 'f', response: {} } };
const search = { id: 's', toolType: 'GOOGLE_SEARCH_WEB' };

/** What the wire has, and Vertex AI not. */
const PUBLIC_BODY: JsonObject = {
  contents: [
    { role: 'user', parts: [{ text: 'x', partMetadata: { a: 1 } }] },
    { role: 'model', parts: [{ toolCall: search, thoughtSignature: 'QUJD' }] },
    { role: 'user', parts: [{ text: 'y' }] },
    { role: 'model', parts: [{ toolResponse: search }, called] },
    {
      role: 'user',
      parts: [{ functionResponse: { ...answered.functionResponse, willContinue: true } }],
    },
  ],
  systemInstruction: { parts: [{ text: 's', partMetadata: { a: 1 } }] },
  tools: [
    { fileSearch: { fileSearchStoreNames: ['s'] } },
    { googleSearch: { timeRangeFilter: { startTime: '2026-01-01T00:00:00Z' } } },
    { functionDeclarations: [{ name: 'f' }] },
  ],
  toolConfig: { includeServerSideToolInvocations: true },
  generationConfig: { temperature: 1, enableEnhancedCivicAnswers: true },
};

function patchedForGeneration3(profile: Parameters<typeof patch>[2]) {
  const target = targetOf('gemini-3-pro', { capabilities: capabilitiesOf(gemini, 'gemini-3-pro') });
  const sent = patch(PUBLIC_BODY, target, profile);
  return { sent, dropped: target.receipt.entries.map(({ path }) => path) };
}

test('what only the public API has goes there as it is', () => {
  expect(patchedForGeneration3(gemini)).toEqual({ sent: PUBLIC_BODY, dropped: [] });
});

test('Vertex AI gets nothing that only the public API has, and no part or turn left empty', () => {
  expect(patchedForGeneration3(vertex)).toEqual({
    sent: {
      contents: [
        { role: 'user', parts: [{ text: 'x' }] },
        { role: 'user', parts: [{ text: 'y' }] },
        { role: 'model', parts: [called] },
        { role: 'user', parts: [answered] },
      ],
      systemInstruction: { parts: [{ text: 's' }] },
      tools: [{ googleSearch: {} }, { functionDeclarations: [{ name: 'f' }] }],
      generationConfig: { temperature: 1 },
    },
    dropped: [
      ...['contents[0].parts[0].partMetadata', 'contents[1].parts[0].toolCall'],
      ...['contents[3].parts[0].toolResponse'],
      'contents[4].parts[0].functionResponse.willContinue',
      ...['systemInstruction.parts[0].partMetadata', 'tools[0].fileSearch'],
      ...['tools[1].googleSearch.timeRangeFilter', 'toolConfig.includeServerSideToolInvocations'],
      'generationConfig.enableEnhancedCivicAnswers',
    ],
  });
});

test('who may be drawn is for Vertex AI alone to say, and for upstreams with the neutral words', () => {
  const body = { contents, generationConfig: { imageConfig: { personGeneration: 'ALLOW_NONE' } } };
  expect(patched(body, vertex)).toEqual({ sent: body, dropped: [] });
  expect(patched(body, sandbox)).toEqual({ sent: body, dropped: [] });
  expect(patched(body, gemini).dropped).toEqual(['generationConfig.imageConfig.personGeneration']);
});

test('Vertex AI takes search beside functions without being told', () => {
  const tools = [{ functionDeclarations: [{ name: 'f' }] }, { googleSearch: {} }];
  const target = targetOf('gemini-3-pro', { capabilities: capabilitiesOf(gemini, 'gemini-3-pro') });
  expect(patch({ contents, tools }, target, vertex)).toEqual({ contents, tools });
  expect(patch({ contents, tools }, target, gemini)).toEqual({
    contents,
    tools,
    toolConfig: { includeServerSideToolInvocations: true },
  });
});
