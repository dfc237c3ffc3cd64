// What a key allows to be recorded of its requests, whatever the settings say.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningGateway, startGateway } from '../support/gateway-process.ts';

const PASSWORD = 'a password for the console';
const PROMPT = 'canary-prompt-of-a-person';
const AGENT = 'canary-agent/1.0';
let folder: string;
let gateway: RunningGateway;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'isthmus-recording-'));
  const file = { proxy: { auth_mode: 'strict', monitor: { bodies: true } } };
  writeFileSync(join(folder, 'gui_config.json'), JSON.stringify(file));
  gateway = await startGateway({
    ISTHMUS_DATA_DIR: folder,
    WEB_PASSWORD: PASSWORD,
    LOG_LEVEL: 'debug',
  });
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

const asAdmin = { authorization: `Bearer ${PASSWORD}`, 'content-type': 'application/json' };
const api = async (path: string, init: RequestInit = {}): Promise<string> =>
  (await fetch(`${gateway.url}${path}`, { headers: asAdmin, ...init })).text();

/** @returns the record of a request with a new key of this kind */
async function recordWith(recording: string | undefined): Promise<string> {
  const body = JSON.stringify({ name: recording ?? 'all', recording });
  const made = JSON.parse(await api('/api/keys', { method: 'POST', body }));
  const answer = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': made.secret, 'content-type': 'application/json', 'user-agent': AGENT },
    body: JSON.stringify({
      ...{ model: 'beta-sonnet-4-6', max_tokens: 100 },
      messages: [{ role: 'user', content: PROMPT }],
    }),
  });
  expect(answer.status).toBe(200);
  await answer.text();
  const id = answer.headers.get('x-request-id') ?? '';
  const record = await api(`/api/requests/${id}`);
  const { keys } = JSON.parse(await api('/api/keys'));
  const used = keys.find((key: { id: string }) => key.id === made.key.id).usedToday;
  expect(used).toMatchObject({ requests: 1 });
  expect(used.tokens).toBeGreaterThan(0);
  const replay = await api(`/api/requests/${id}/replay`, { method: 'POST', body: '{}' });
  expect(replay.includes('was not kept')).toBe(recording !== undefined);
  return record;
}

test('without a word everything is kept as the settings say', async () => {
  const record = await recordWith(undefined);
  expect(record).toContain(PROMPT);
  expect(record).toContain(AGENT);
});

test.each([
  ['no-bodies', true],
  ['counts', false],
])(
  'with "%s" no body is kept, and usage and limits count all the same',
  async (recording, keeps) => {
    const record = await recordWith(recording);
    expect(record).not.toContain(PROMPT);
    expect(record.includes(AGENT)).toBe(keeps);
    expect(JSON.parse(record)).toMatchObject({ status: 200, model: 'beta-sonnet-4-6' });
    expect(JSON.parse(record).inputTokens).toBeGreaterThan(0);
  },
);

test('no line of the log holds what somebody wrote', () => {
  const lines = readdirSync(join(folder, 'logs')).map((name) =>
    readFileSync(join(folder, 'logs', name), 'utf8'),
  );
  expect(lines.join('') + gateway.output()).not.toContain(PROMPT);
});
