import { expect, test } from 'vitest';
import type { GroundingEvent } from '../../canonical/grounding.ts';
import type { Tool } from '../../canonical/request.ts';
import { createSourceFilter } from './sources.ts';

const found: GroundingEvent = {
  kind: 'grounding',
  choice: 0,
  queries: ['q'],
  sources: [
    { url: 'https://docs.example.com/a', title: 'Docs' },
    { url: 'https://other.test/b', title: 'Other' },
    { url: 'https://leads.on/redirect/1', title: 'example.com' },
  ],
  citations: [
    { startIndex: 0, endIndex: 2, text: 'ab', sources: [0, 1] },
    { startIndex: 2, endIndex: 4, text: 'cd', sources: [1] },
    { startIndex: 4, endIndex: 6, text: 'ef', sources: [2] },
  ],
};

function filtered(tools: readonly Tool[]): GroundingEvent | undefined {
  const [event] = createSourceFilter(tools)?.([found]) ?? [];
  return event?.kind === 'grounding' ? event : undefined;
}

const urlsOf = (event: GroundingEvent | undefined) => event?.sources.map(({ url }) => url);

test('without lists of domains nothing is filtered', () => {
  expect(createSourceFilter([{ kind: 'web-search' }])).toBeUndefined();
  expect(createSourceFilter([{ kind: 'function', name: 'f' }])).toBeUndefined();
});

test('only allowed domains are cited, those an address leads on to as well', () => {
  const event = filtered([{ kind: 'web-search', allowedDomains: ['www.Example.com/'] }]);
  expect(urlsOf(event)).toEqual(['https://docs.example.com/a', 'https://leads.on/redirect/1']);
  expect(event?.citations.map(({ text, sources }) => [text, sources])).toEqual([
    ['ab', [0]],
    ['ef', [1]],
  ]);
});

test('blocked domains are left out', () => {
  const event = filtered([{ kind: 'web-search', blockedDomains: ['other.test'] }]);
  expect(urlsOf(event)).toHaveLength(2);
});

test('a domain is no ending of another one, and a path counts', () => {
  const only = (domain: string) =>
    urlsOf(filtered([{ kind: 'web-search', allowedDomains: [domain] }]));
  expect(only('ample.com')).toEqual([]);
  expect(only('docs.example.com/a')).toEqual(['https://docs.example.com/a']);
  expect(only('docs.example.com/z')).toEqual([]);
});
