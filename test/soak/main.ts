// `npm run soak -- --minutes 60`: a gateway under mixed traffic with faults, long streams and changes of its
// settings; fails when memory, descriptors, waiting time or the database grow. Loopback only.

import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { NODE_FLAGS } from '../../scripts/node-flags.mjs';
import { startChild } from '../bench/process.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { load, type Tally } from './load.ts';
import { countDescriptors, type Sample, slope, watch } from './watch.ts';

const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    'requests-per-second': { type: 'string', default: '50' },
    streams: { type: 'string', default: '100' },
    'fault-share': { type: 'string', default: '0.01' },
    /** Keeps the report in this file too. */
    report: { type: 'string' },
  },
});
const minutes = Number(flags.minutes);
if (!(minutes > 0 && minutes <= 24 * 60)) throw new Error('--minutes takes a number up to 1440.');

const SAMPLE_MS = 10_000;
const RELOAD_MS = 15_000;
/** Connections that clients keep are closed after 65 s without a request. */
const SETTLE_MS = 75_000;
const KEY = 'sk-soak-0123456789abcdef';
/** Records leave after a quarter of an hour, so that the database can show that it stops growing. */
const MONITOR = { retention_days: 0.0104 };

/** What may grow: hardening R22, and what a database that is swept every five minutes varies by. */
const MOST = {
  megabytesPerMinute: 0.5,
  lagMsPerMinute: 0.5,
  databaseMegabytesPerMinute: 1,
  // Of the thread that brings the log of the database into its file when that is first needed, and a little.
  descriptors: 10,
  failedShare: 0.001,
};

const folder = mkdtempSync(join(tmpdir(), 'isthmus-soak-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const upstream = await startScriptedUpstream();
const home = join(folder, 'gateway');
mkdirSync(home);
writeConfig(0);
const gateway = await startChild({
  arguments: [
    ...NODE_FLAGS,
    join(import.meta.dirname, '../../lib/main.js'),
    'serve',
    '--port',
    '0',
  ],
  environment: {
    HOME: home,
    ISTHMUS_DATA_DIR: home,
    AUTH_MODE: 'strict',
    API_KEY: KEY,
    UPSTREAM_PROFILE: 'sandbox',
    UPSTREAM_BASE_URL: upstream.url,
    UPSTREAM_API_KEYS: 'key.one,key.two,key.three',
  },
  core: 0,
});
const descriptorsBefore = countDescriptors(gateway.pid);
const watcher = watch({ pid: gateway.pid, url: gateway.url, folder: home });
const samples: Sample[] = [];
const startedAt = performance.now();
const end = AbortSignal.timeout(minutes * 60_000);
const sampling = setInterval(() => {
  if (!end.aborted) samples.push(watcher.take((performance.now() - startedAt) / 60_000));
}, SAMPLE_MS);
let reloads = 0;
const reloading = setInterval(() => {
  reloads += 1;
  writeConfig(reloads);
}, RELOAD_MS);
const tally = await load(
  {
    ...{ url: gateway.url, key: KEY, upstream, seed: 1 },
    requestsPerSecond: Number(flags['requests-per-second']),
    longStreams: Number(flags.streams),
    faultShare: Number(flags['fault-share']),
  },
  end,
);
clearInterval(sampling);
clearInterval(reloading);
watcher.stop();
await wait(SETTLE_MS);
const descriptorsAfter = countDescriptors(gateway.pid);
await gateway.stop();
await upstream.close();
finish();

/** As an editor does: a new file in place of the old one. */
function writeConfig(nth: number): void {
  const proxy = {
    monitor: MONITOR,
    custom_mapping: { 'soak-*': 'alpha-3-flash', [`soak-${nth}`]: 'alpha-2.5-pro' },
  };
  const path = join(home, 'gui_config.json');
  writeFileSync(`${path}.new`, JSON.stringify({ proxy }));
  renameSync(`${path}.new`, path);
}

function finish(): never {
  // The first third fills caches, and the database until its first records leave.
  const settled = samples.filter(({ minute }) => minute >= minutes / 3);
  const failed = [...tally.failures.values()].reduce((sum, count) => sum + count, 0);
  const grown = {
    megabytesPerMinute: slope(settled, ({ megabytes }) => megabytes),
    lagMsPerMinute: slope(settled, ({ lagMs }) => lagMs),
    databaseMegabytesPerMinute: slope(settled, ({ databaseMegabytes }) => databaseMegabytes),
    descriptors: descriptorsAfter - descriptorsBefore,
    failedShare: failed / (failed + tally.succeeded),
  };
  const wrong = Object.entries(MOST).filter(
    ([name, most]) => !(grown[name as keyof typeof MOST] <= most),
  );
  const report = { ...describe(tally, failed), reloads, grown, samples: pick(samples, 7) };
  const text = JSON.stringify(report, undefined, 2);
  console.log(text);
  if (flags.report !== undefined) writeFileSync(flags.report, `${text}\n`);
  for (const [name, most] of wrong) console.error(`${name} is over ${most}.`);
  process.exit(wrong.length === 0 ? 0 : 1);
}

function describe({ succeeded, left, failures }: Tally, failed: number): object {
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GB, node ${process.version}`,
    minutes,
    requests: { succeeded, left, failed, failures: Object.fromEntries(failures) },
  };
}

/** So many samples, evenly spaced, the last one included. */
function pick(all: readonly Sample[], count: number): readonly Sample[] {
  return Array.from(
    { length: count },
    (_, at) => all[Math.round((at * (all.length - 1)) / (count - 1))],
  )
    .filter((sample) => sample !== undefined)
    .map((sample) => ({
      minute: Math.round(sample.minute),
      megabytes: Math.round(sample.megabytes),
      descriptors: sample.descriptors,
      lagMs: Math.round(sample.lagMs * 10) / 10,
      databaseMegabytes: Math.round(sample.databaseMegabytes * 10) / 10,
    }));
}
