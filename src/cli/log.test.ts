import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createLog, type LogOptions } from './log.ts';

const SECRET = 'canary-of-the-gateway';

function start({ isTerminal, replica }: Pick<LogOptions, 'isTerminal' | 'replica'>) {
  const clock = createFakeClock(Date.parse('2026-11-21T12:00:00Z'));
  const output: string[] = [];
  const kept: string[] = [];
  const flushes: (() => void)[] = [];
  const files = {
    write: (lines: string) => void kept.push(lines),
    onFlush: (listener: () => void) => void flushes.push(listener),
  };
  const log = createLog({
    files,
    clock,
    secrets: () => [SECRET],
    isTerminal,
    replica,
    output: { write: (text) => void output.push(text) },
  });
  const flush = (): void => {
    for (const listener of flushes) listener();
  };
  return { log, clock, output, kept, flush };
}

test('lines go out together four times a second, each whole and free of credentials', async () => {
  const { log, clock, output, kept } = start({ isTerminal: false });
  log.info({ path: `/v1?key=${SECRET}` }, 'one');
  log.info({ header: `Bearer ${'x'.repeat(20)}` }, 'two');
  expect(output).toEqual([]);
  await clock.advance(250);
  expect(output).toHaveLength(1);
  expect(kept).toEqual(output);
  const lines = (output[0] ?? '').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['one', 'two']);
  expect(output[0]).not.toMatch(/canary|xxx/);
  await clock.advance(1000);
  expect(output).toHaveLength(1);
});

test('every line says which of several gateways it is of, and none where there is one alone', () => {
  for (const replica of ['gateway-1/2', undefined]) {
    const { log, kept, flush } = start({ isTerminal: false, replica });
    log.info('one');
    log.request('info', LINE);
    flush();
    const lines = kept.join('').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).replica)).toEqual([replica, replica]);
  }
});

const LINE = {
  ...{ requestId: 'req_1', method: 'POST', path: '/v1', status: 200, durationMs: 12 },
  ...{ client: '127.0.0.1', clientKeyId: 'key' },
  ...{ error: undefined, passedOver: undefined },
};

test('the line of a request is what pino would write, at its level, in order with the others', () => {
  const { log, kept, flush } = start({ isTerminal: false });
  const { log: other, ...usual } = start({ isTerminal: false });
  const ended = {
    ...{ requestId: 'req_1', method: 'POST', path: `/a"\\\n\u2028${SECRET}`, status: 503 },
    ...{ durationMs: 12, client: '127.0.0.1', clientKeyId: 'key "one"', error: 'overloaded' },
    passedOver: [{ accountId: 'a', verdict: 'is "resting"' }],
  };
  const plain = { ...ended, error: undefined, passedOver: undefined };
  for (const line of [ended, plain]) {
    log.info('before');
    log.request('debug', line);
    log.request('info', line);
    other.info('before');
    other.info(line, 'request');
  }
  flush();
  usual.flush();
  const withoutTime = (text: string): string => text.replace(/"time":\d+/g, '"time":0');
  expect(withoutTime(kept.join(''))).toBe(withoutTime(usual.kept.join('')));
  expect(kept.join('')).not.toContain(SECRET);
  log.level = 'warn';
  log.request('info', plain);
  flush();
  expect(kept).toHaveLength(1);
});

test('what a warning is about says why, and nothing else that hangs at it', () => {
  const { log, kept, flush } = start({ isTerminal: false });
  const cause = Object.assign(new Error(`no space for ${SECRET}`), { code: 'ENOSPC', held: 'x' });
  log.warn({ error: new TypeError('It cannot be saved.', { cause }) }, 'Records are not saved.');
  log.warn({ error: 'a word' }, 'Something else.');
  flush();
  const lines = kept.join('').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).error)).toEqual([
    {
      ...{ name: 'TypeError', message: 'It cannot be saved.' },
      cause: { name: 'Error', message: 'no space for [redacted]', code: 'ENOSPC' },
    },
    'a word',
  ]);
});

test('many lines do not wait, and whoever reads the files gets those that do', () => {
  const { log, output, kept, flush } = start({ isTerminal: false });
  for (let index = 0; index < 80; index += 1) log.info('x'.repeat(1000));
  expect(output).toHaveLength(1);
  flush();
  expect(kept.join('').split('\n')).toHaveLength(81);
});

test('a credential at the end of a line takes nothing of the next one with it', () => {
  const { log, kept, flush } = start({ isTerminal: false });
  log.info({ detail: '-----BEGIN PRIVATE KEY-----' }, `Bearer`);
  log.info({ detail: 'abcdefghijklmnop' }, SECRET);
  log.info('last');
  flush();
  const lines = kept.join('').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).detail)).toEqual([
    '[redacted]',
    'abcdefghijklmnop',
    undefined,
  ]);
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['Bearer', '[redacted]', 'last']);
});

test('a person at a terminal reads each line at once', () => {
  const { log, output } = start({ isTerminal: true });
  log.warn({ a: 1 }, 'Look here.');
  expect(output).toHaveLength(1);
  expect(output[0]).toMatch(/WARN {2}Look here\. a=1\n$/);
});
