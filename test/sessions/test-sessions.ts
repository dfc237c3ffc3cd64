// The two tests every protocol's client goes through.

import { expect, test } from 'vitest';
import type { SessionClient } from './client.ts';
import { runCarefulSession, runSessions, SESSIONS } from './run-sessions.ts';

/** Of a session, on average: below these they would not show what they are for. */
const LEAST_ANSWERS = 40;
const LEAST_CALLS = 23;
const MOST_SHOWN = 3;

export function testSessions(client: SessionClient): void {
  test('whatever a client does to its history, only its own mistakes are refused', async () => {
    const { findings, answered, calls } = await runSessions(client);
    expect(findings.slice(0, MOST_SHOWN)).toEqual([]);
    expect(answered).toBeGreaterThan(SESSIONS * LEAST_ANSWERS);
    expect(calls).toBeGreaterThan(SESSIONS * LEAST_CALLS);
  }, 180_000);

  test('a client that changes nothing never makes the upstream refuse anything', async () => {
    const { report, statuses } = await runCarefulSession(client);
    expect(report.findings).toEqual([]);
    expect(report.refused).toBe(0);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });
}
