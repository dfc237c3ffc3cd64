import { expect, test } from 'vitest';
import { capabilitiesOf, contextOf, requestOf } from '../../test/support/canonical.ts';
import type { Tool } from '../canonical/request.ts';
import { promptForDomains } from './instructions.ts';

function steer(search: Partial<Extract<Tool, { kind: 'web-search' }>>) {
  const context = contextOf();
  const tools = [{ kind: 'web-search', path: 'tools[0]', ...search } as const];
  const { system } = promptForDomains(requestOf({ tools }), context);
  const noted = context.receipt.entries.map(({ action, path }) => `${action} ${path}`);
  return { told: system.map(({ text }) => text), noted };
}

test.each([
  [{ city: 'Oslo', country: 'NO' }, 'is roughly in Oslo, Norway'],
  [{ country: 'ZZZ' }, 'is roughly in ZZZ'],
  [{ country: 'de' }, 'is roughly in Germany'],
  [{ timezone: 'Europe/Oslo' }, 'has the time zone Europe/Oslo'],
  [
    { city: 'Oslo', region: 'Oslo', country: 'NO', timezone: 'Europe/Oslo' },
    'is roughly in Oslo, Oslo, Norway and has the time zone Europe/Oslo',
  ],
])('the model is told where the user is: %j', (place, words) => {
  const userLocation = { path: 'tools[0].user_location', ...place };
  expect(steer({ userLocation })).toEqual({
    told: [`When you search the web, take it that the user ${words}.`],
    noted: ['approximated tools[0].user_location'],
  });
});

test('domains and place are told side by side', () => {
  const userLocation = { path: 'tools[0].user_location', city: 'Oslo' };
  const { told, noted } = steer({ blockedDomains: ['a.com'], userLocation });
  expect(told).toHaveLength(2);
  expect(noted).toEqual(['approximated tools[0]', 'approximated tools[0].user_location']);
});

test('a search without wishes is left as it is', () => {
  const request = requestOf({ tools: [{ kind: 'web-search' }] });
  expect(promptForDomains(request, contextOf())).toBe(request);
});

test('nothing is told of a search that the upstream does not run', () => {
  const request = requestOf({ tools: [{ kind: 'web-search', allowedDomains: ['a.com'] }] });
  const context = contextOf({ capabilities: capabilitiesOf({ serverTools: [] }) });
  expect(promptForDomains(request, context)).toBe(request);
});
