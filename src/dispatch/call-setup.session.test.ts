import { expect, test } from 'vitest';
import { requestOf, user } from '../../test/support/canonical.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import { type JsonObject, parseObject } from '../lib/json.ts';
import { fingerprintOf, nameSession } from './call-setup.ts';
import { callOf } from './dispatch.test-support.ts';

const LONG = 'Please read the file.';

interface Named {
  readonly header?: string;
  readonly body?: string;
  readonly system?: string;
  readonly texts?: readonly string[];
}

function nameOf({ header, body, system, texts = [LONG] }: Named): string | undefined {
  const asked: Partial<CanonicalRequest> = {
    turns: texts.map((text) => user(text)),
    system: system === undefined ? [] : [{ kind: 'text', text: system }],
  };
  const call = callOf({ bodySession: body, request: requestOf(asked) });
  return nameSession(call, { headerSession: header }, String);
}

test('the header names the session before the body, and the body before the words', () => {
  const names = [{ header: 's', body: 's' }, { body: 's' }, {}].map(nameOf);
  expect(names[0]).toBe(nameOf({ header: 's' }));
  expect(new Set(names).size).toBe(3);
});

test('a long name is known by its digest: sessions outlive their requests', () => {
  const long = (end: string) => 'x'.repeat(5_000_000) + end;
  for (const place of ['header', 'body'] as const) {
    const name = nameOf({ [place]: long('a') });
    expect(name?.length).toBeLessThan(100);
    expect(nameOf({ [place]: long('a') })).toBe(name);
    expect(nameOf({ [place]: long('b') })).not.toBe(name);
  }
});

test('without a name a conversation is known by its beginning', () => {
  const first = nameOf({});
  expect(first).toBeDefined();
  expect(first).not.toContain('Please');
  expect(nameOf({ texts: [LONG, 'And now another one.'] })).toBe(first);
  expect(nameOf({ texts: ['Please read the other.', LONG] })).not.toBe(first);
});

test('conversations that begin alike under other system texts are others', () => {
  expect(nameOf({ system: 'Be brief.' })).not.toBe(nameOf({ system: 'Be kind.' }));
  expect(nameOf({ system: 'Be brief.' })).not.toBe(nameOf({}));
});

test('a billing line, which is another with every request, makes no other conversation', () => {
  const billed = (turn: number) => `x-vendorb-billing-header: cc_version=2; cch=${turn};`;
  expect(nameOf({ system: billed(1) })).toBe(nameOf({ system: billed(2) }));
  expect(nameOf({ system: billed(1) })).toBe(nameOf({}));
  const joined = (turn: number) => `${billed(turn)}\nBe brief.`;
  expect(nameOf({ system: joined(1) })).toBe(nameOf({ system: joined(2) }));
  expect(nameOf({ system: joined(1) })).not.toBe(nameOf({}));
});

test('less than ten characters name nothing, as too many conversations begin so; what follows does', () => {
  expect(nameOf({ texts: ['Hi there!'], system: 'Be brief.' })).toBeUndefined();
  expect(nameOf({ texts: ['Hi, there!'] })).toBeDefined();
  const begun = callOf({ beginsSession: true, request: requestOf({ turns: [user('Hi there!')] }) });
  expect(nameSession(begun, { headerSession: undefined }, String)).toBe('body session_');
  const second = nameOf({ texts: ['Hi there!', LONG] });
  expect(second).toBeDefined();
  expect(nameOf({ texts: ['Hi there!', LONG, 'And now another one.'] })).toBe(second);
});

test('a conversation has one name, in whatever lane it goes', () => {
  const refuse = (): never => {
    throw new Error('nothing is written here');
  };
  const relay = {
    wire: 'fake-wire',
    body: {},
    declaredNames: () => new Set<string>(),
    renameCalls: (frame: JsonObject) => frame,
    openingText: () => `Be brief.\n${LONG}`,
    createStreamWriter: refuse,
    writeReply: refuse,
  };
  const name = nameOf({ texts: ['Hi', LONG], system: 'Be brief.' });
  expect(nameSession(callOf({ relay }), { headerSession: undefined }, String)).toBe(name);
});

test('a request is known again by numbers that no double holds, too', () => {
  const of = (text: string): string => fingerprintOf(parseObject(text));
  expect(of('{"seed":12345678901234567890}')).toBe(of('{"seed":12345678901234567890}'));
  expect(of('{"seed":12345678901234567890}')).not.toBe(of('{"seed":12345678901234567891}'));
});
