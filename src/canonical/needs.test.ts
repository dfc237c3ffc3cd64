import { expect, test } from 'vitest';
import { assistant, capabilitiesOf, requestOf, user } from '../../test/support/canonical.ts';
import type { ModelCapabilities } from './model.ts';
import { lackingOf, type Need, needSet, needsOf, variantNeeds, worstOf } from './needs.ts';
import type { CanonicalRequest, MediaPart, Modality, Tool } from './request.ts';

const media = (modality: Modality, change: Partial<MediaPart> = {}): MediaPart => ({
  kind: 'media',
  modality,
  source: { kind: 'base64', base64: 'AAAA' },
  ...change,
});
const FUNCTION: Tool = { kind: 'function', name: 'weather' };
const SEARCH: Tool = { kind: 'web-search' };
const SCHEMA = { kind: 'json-schema', schema: { type: 'object' } } as const;

test.each<readonly [string, Partial<CanonicalRequest>, readonly Need[]]>([
  ['plain text', { turns: [user('hello')] }, []],
  ['a picture', { turns: [user('see', media('image'))] }, ['image']],
  [
    'media of a tool result',
    {
      turns: [
        user({ kind: 'tool-result', callId: 'c', isError: false, content: [media('audio')] }),
      ],
    },
    ['audio'],
  ],
  ['what the model drew itself', { turns: [assistant(media('image')), user('more')] }, []],
  ['a mask', { turns: [user(media('image', { isMask: true }))] }, ['image', 'mask']],
  [
    'a file that is stored with an upstream',
    { turns: [user(media('document', { source: { kind: 'file', uri: 'files/1' } }))] },
    ['document', 'own-wire'],
  ],
  ['a stored prompt', { cachedContent: 'cachedContents/1' }, ['own-wire']],
  ['functions', { tools: [FUNCTION] }, ['functions']],
  [
    'one call at a time',
    { tools: [FUNCTION], parallelToolCalls: false },
    ['functions', 'serial-calls'],
  ],
  [
    'a call that is demanded',
    { tools: [FUNCTION], toolChoice: { kind: 'required', names: [] } },
    ['functions', 'forced-call'],
  ],
  ['a search', { tools: [SEARCH] }, ['web-search']],
  [
    'a search beside functions',
    { tools: [FUNCTION, SEARCH] },
    ['functions', 'web-search', 'server-tools-with-functions'],
  ],
  ['a search that is ruled out', { tools: [SEARCH], toolChoice: { kind: 'none' } }, []],
  ['JSON', { outputFormat: { kind: 'json' } }, ['format']],
  ['a schema', { outputFormat: SCHEMA }, ['format', 'schema']],
  [
    'a schema beside tools',
    { outputFormat: SCHEMA, tools: [FUNCTION] },
    ['format-with-tools', 'schema', 'functions'],
  ],
  ['thinking', { reasoning: { amount: { kind: 'effort', effort: 'low' } } }, ['thinking']],
  ['no thinking', { reasoning: { amount: { kind: 'off' } } }, []],
  ['words to go on from', { turns: [user('say'), assistant('I')] }, ['prefill']],
  ['a drawing', { outputModalities: ['text', 'image'] }, ['drawing']],
  ['a drawing that is demanded', { mustDraw: true }, ['drawing']],
  ['speech', { outputModalities: ['audio'] }, ['speech']],
  ['log-probabilities', { sampling: { logprobs: { alternatives: 0 } } }, ['logprobs']],
])('%s needs just that', (_, change, needs) => {
  expect(needsOf(requestOf(change))).toBe(needSet(...needs));
});

test('words of a model name are needs too', () => {
  const needs = variantNeeds({ webSearch: true, thinking: 'on', image: { aspectRatio: '16:9' } });
  expect(needs).toBe(needSet('version', 'family', 'web-search', 'thinking', 'drawing'));
  expect(variantNeeds({ webSearch: false })).toBe(needSet('version', 'family'));
});

test.each<readonly [Need, Partial<ModelCapabilities>]>([
  ['image', { refusesMedia: ['image'] }],
  ['document', { refusesMedia: ['document'] }],
  ['thinking', { thinking: { kind: 'none' } }],
  ['functions', { callsFunctions: false }],
  ['format', { outputFormats: 'nowhere' }],
  ['format-with-tools', { outputFormats: 'without-tools' }],
  ['schema', { refusesSchemas: true }],
  ['web-search', { serverTools: [] }],
  ['prefill', { refusesPrefill: true }],
  ['speech', { refusesSpeech: true }],
  ['drawing', { drawsImages: false }],
  ['serial-calls', { takesSerialCalls: undefined }],
  ['token-count', { countsNoTokens: true }],
  ['logprobs', { refusesLogprobs: true }],
])('a model may lack %s, and has what nobody knows of it', (need, change) => {
  const known = { drawsImages: true, takesSerialCalls: true } as const;
  const lacking = (one: Partial<ModelCapabilities>): number =>
    lackingOf({ wire: 'w', capabilities: capabilitiesOf({ ...known, ...one }) }, undefined);
  expect(lacking({}) & needSet(need)).toBe(0);
  expect(lacking(change) & needSet(need)).toBe(needSet(need));
});

test('only the wire of the client’s own body takes what has no other words, in the usual form', () => {
  const own = needSet('own-wire', 'own-fields');
  const lacking = (wire: string, change: Partial<ModelCapabilities> = {}): number =>
    own & lackingOf({ wire, capabilities: capabilitiesOf(change) }, 'chat');
  expect(lacking('chat')).toBe(0);
  expect(lacking('generate')).toBe(own);
  expect(lacking('chat', { hasOwnForm: true })).toBe(own);
});

test('a picture that is lost is worse than all that is only put into other words', () => {
  const worded = needSet('schema', 'thinking', 'serial-calls', 'prefill', 'own-fields');
  expect(needSet('image')).toBeGreaterThan(worded);
  expect(worstOf(worded | needSet('image'))).toBe('image');
  expect(worstOf(0)).toBeUndefined();
});
