// Runs many sessions of one protocol at once and gathers what went wrong.

import { countOf } from '../support/counts.ts';
import type { SessionClient } from './client.ts';
import { startGateways } from './gateways.ts';
import { runSession, type SessionReport } from './session.ts';

export const SESSIONS = countOf({ slow: 30, everyday: 3 });
const TURNS = 50;
/** Another start gives other sessions; a finding names its own. */
const SEED = Number(process.env.ISTHMUS_SESSION_SEED ?? 1);
const AT_ONCE = 6;

/** One session of a client that changes nothing: what its upstream answered must all be 200. */
export async function runCarefulSession(
  client: SessionClient,
): Promise<{ readonly report: SessionReport; readonly statuses: readonly number[] }> {
  const gateways = await startGateways();
  try {
    const { urls } = gateways;
    const seed = SEED * 1000 + SESSIONS;
    const report = await runSession({ client, urls, seed, turns: TURNS, isCareless: false });
    return { report, statuses: await gateways.upstreamStatuses() };
  } finally {
    await gateways.close();
  }
}

export async function runSessions(client: SessionClient): Promise<SessionReport> {
  const gateways = await startGateways();
  const reports: SessionReport[] = [];
  const seeds = Array.from({ length: SESSIONS }, (_, index) => SEED * 1000 + index).values();
  const work = async (): Promise<void> => {
    for (const seed of seeds) {
      reports.push(
        await runSession({ client, urls: gateways.urls, seed, turns: TURNS, isCareless: true }),
      );
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    await gateways.close();
  }
  const sum = (count: (report: SessionReport) => number): number =>
    reports.reduce((total, report) => total + count(report), 0);
  return {
    findings: reports.flatMap(({ findings }) => findings),
    answered: sum(({ answered }) => answered),
    refused: sum(({ refused }) => refused),
    calls: sum(({ calls }) => calls),
  };
}
