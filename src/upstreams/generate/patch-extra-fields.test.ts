import { expect, test } from 'vitest';
import type { JsonObject } from '../../lib/json.ts';
import { gemini, sandbox, targetOf } from './__fixtures__/requests.ts';
import { patch } from './patch.ts';
import { createVertexProfile } from './profiles/vertex.ts';

const contents = [{ role: 'user', parts: [{ text: 'x' }] }];
const vertex = createVertexProfile();

const TOOLS = [
  { urlContext: {}, retrieval: { vertexAiSearch: { datastore: 'd' } } },
  { enterpriseWebSearch: {} },
];

/** What Vertex AI alone has, beside what every upstream takes. */
const OWN_FIELDS: JsonObject = {
  contents,
  labels: { a: 'b' },
  modelArmorConfig: { promptTemplateName: 't' },
  tools: TOOLS,
  toolConfig: { functionCallingConfig: { mode: 'AUTO', streamFunctionCallArguments: true } },
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
      ...['labels', 'modelArmorConfig', 'tools[0].retrieval', 'tools[1].enterpriseWebSearch'],
      'toolConfig.functionCallingConfig.streamFunctionCallArguments',
      ...['safetySettings[0].method', 'generationConfig.audioTimestamp'],
      ...['generationConfig.routingConfig', 'generationConfig.modelConfig'],
    ]),
  );
  expect(sent).toEqual({
    contents,
    tools: [{ urlContext: {} }],
    toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    safetySettings: [{ category: 'C', threshold: 'OFF' }],
    generationConfig: { temperature: 1 },
  });
});

test('servers of tools are for the public API alone', () => {
  const body = { contents, tools: [{ mcpServers: [{ name: 's' }] }] };
  expect(patched(body, vertex)).toEqual({ sent: { contents }, dropped: ['tools[0].mcpServers'] });
});
