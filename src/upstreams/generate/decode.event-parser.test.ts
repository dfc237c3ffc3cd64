import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { isJsonObject, type JsonValue, parseJson } from '../../lib/json.ts';
import { RepeatedTexts } from '../transport/repeated-texts.ts';
import { findTextPart } from './plain-text.ts';

/** The text of an event as the public API spells it; the defaults are what most events of a stream share. */
function spell(text: string, given: { counts?: string; front?: string; link?: string } = {}) {
  const { front = '{"candidates": [{"content": {"parts": [{"text": ' } = given;
  const { link = '}],"role": "model"},"index": 0}],"usageMetadata": ' } = given;
  const { counts = '{"promptTokenCount": 7,"details": [{"modality": "TEXT"}]}' } = given;
  return `${front}${JSON.stringify(text)}${link}${counts},"responseId": "r"}`;
}

/** Gives each event's value, as a reader of frames has it. */
function createEventParser(): (text: string) => JsonValue {
  const memory = new RepeatedTexts(findTextPart);
  memory.learn('the first', {});
  return (text) => {
    const repeated = memory.repeat(text);
    if (repeated !== undefined) return repeated.value;
    const value = parseJson(text);
    if (isJsonObject(value)) memory.learn(text, value);
    return value;
  };
}

/** How many of the events are parsed whole. */
function countWhole(events: readonly string[]): number {
  const parse = createEventParser();
  const spy = vi.spyOn(JSON, 'parse');
  try {
    for (const text of events) parse(text);
    return spy.mock.calls.filter(([text]) => events.includes(text)).length;
  } finally {
    spy.mockRestore();
  }
}

const expectAlike = (events: readonly string[]): JsonValue[] => {
  const parse = createEventParser();
  const values = events.map((text) => parse(text));
  // As text: the order of members counts, and so do numbers that a double cannot hold.
  expect(values.map((value) => JSON.stringify(value))).toEqual(
    events.map((text) => JSON.stringify(parseJson(text))),
  );
  return values;
};

describe('events of one stream', () => {
  test('none repeats the first, as most answers are over before that', () => {
    const memory = new RepeatedTexts(findTextPart);
    memory.learn(spell('a'), { candidates: [] });
    expect(memory.repeat(spell('b'))).toBeUndefined();
    const value = parseJson(spell('b'));
    if (isJsonObject(value)) memory.learn(spell('b'), value);
    expect(memory.repeat(spell('c'))).toMatchObject({ said: 'c' });
  });

  test('of those that differ in text and counts alone only the first is parsed whole', () => {
    const events = ['a', 'b "quoted" \\ \n', 'ünï 🌍', '', 'last'].flatMap((text, index) => [
      spell(text),
      spell(text, {
        counts: `{"promptTokenCount": ${index},"candidatesTokenCount": 12345678901234567890}`,
      }),
    ]);
    expectAlike(events);
    expect(countWhole(events)).toBe(1);
  });

  test('events without counts, of thoughts, and without spaces repeat each other as well', () => {
    for (const front of [
      '{"candidates":[{"content":{"parts":[{"thought":true,"text":',
      '{"candidates":[{"content":{"parts":[{"text":',
    ]) {
      const events = ['a', 'b', 'c'].map((text) => `${front}${JSON.stringify(text)}}]}}]}`);
      expectAlike(events);
      expect(countWhole(events)).toBe(1);
    }
  });

  test('what an event says besides is never taken from the one before', () => {
    const [plain = '', next = ''] = [spell('a'), spell('b')];
    const odd = [
      next.replace('"index": 0', '"finishReason": "STOP","index": 0'),
      next.replace('"responseId": "r"', '"responseId": "s"'),
      next.replace('"text": "b"', '"text": "b","thoughtSignature": "x"'),
      next.replace('{"text": "b"}', '{"text": "b"},{"text": "c"}'),
      next.replace('"text": "b"', '"text": "b","text": "c"'),
      next.replace('"text": "b"', '"text": 1'),
      next.replace('"responseId": "r"', '"candidates": [],"responseId": "r"'),
      next.replace('"responseId": "r"', '"usageMetadata": {"a": 1},"responseId": "r"'),
      next.replace(/"usageMetadata": .*\]\},/, ''),
      next.replace(/"usageMetadata": .*\]\},/, '"usageMetadata": null,'),
      next.replace('7', '-0'),
      '{"error": {"code": 503}}',
      '{}',
      '[]',
    ];
    for (const one of odd) {
      expect(one).not.toBe(next);
      expectAlike([plain, one, next]);
      expectAlike([one, plain, one, one, next]);
    }
  });

  test('what is no JSON in the place of text or counts is refused as ever', () => {
    const parts = [
      spell('a').replace('"a"', '"a\tb"'),
      spell('a').replace('"a"', '"a'),
      spell('a', { counts: '{"a":}' }),
    ];
    for (const text of [...parts, spell('a').replace('"a"', '"\\x"'), `${spell('a')}}`]) {
      const parse = createEventParser();
      parse(spell('a'));
      expect(() => parse(text)).toThrow(SyntaxError);
      expect(JSON.stringify(parse(spell('b')))).toBe(JSON.stringify(parseJson(spell('b'))));
    }
  });

  test('an event of several lines is none that others repeat, nor repeats others', () => {
    const memory = new RepeatedTexts(findTextPart);
    memory.learn('the first', {});
    const broken = spell('a').replace('{"promptTokenCount"', '{\n"promptTokenCount"');
    memory.learn(broken, { candidates: [] });
    expect(memory.repeat(broken)).toBeUndefined();
    const value = parseJson(spell('a'));
    if (isJsonObject(value)) memory.learn(spell('a'), value);
    expect(memory.repeat(broken)).toBeUndefined();
    expect(memory.repeat(spell('b'))).toMatchObject({
      text: spell('b'),
      said: 'b',
      repeats: value,
    });
  });

  test('a later event changes nothing of an earlier one', () => {
    const events = [
      spell('a'),
      spell('b'),
      spell('c', { counts: '{"x": 1}' }),
      spell('d', { counts: '{"x": 2}' }),
    ];
    const values = expectAlike(events);
    expect(values).toEqual(events.map((text) => parseJson(text)));
  });

  test('any events in any order are what they are by themselves', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('"', '\\', '"text":', '}],"role": "model"}', '"usageMetadata": {'),
    );
    const event = fc.record({
      text,
      counts: fc.constantFrom('{"a": 1}', '{"a": 2}', '{"a": {"b": "}"}}', '0', 'null'),
      front: fc.constantFrom(
        '{"candidates": [{"content": {"parts": [{"text": ',
        '{"text": "x","candidates": [{"content": {"parts": [{"text": ',
        '{"usageMetadata": {"z": 1},"candidates": [{"content": {"parts": [{"text": "q","text": ',
        '{"__proto__": {"a": 1},"candidates": [{"content": {"parts": [{"text": ',
      ),
      link: fc.constantFrom(
        '}],"role": "model"},"index": 0}],"usageMetadata": ',
        '}],"role": "model"},"index": 0}],"candidates": [],"usageMetadata": ',
        ',"text": "twice"}]}}],"usageMetadata": ',
        ',"usageMetadata": {"b": 1}}]}}],"other": ',
      ),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), (events) => {
        expectAlike(events.map(({ text: said, ...rest }) => spell(said, rest)));
      }),
    );
  });
});
