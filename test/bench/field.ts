// Starts everything that takes part: the upstream they share, the bare pass-through, the gateway, rivals.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { NODE_FLAGS } from '../../scripts/node-flags.mjs';
import type { Contender } from './contender.ts';
import { median } from './figures.ts';
import { type Child, startChild } from './process.ts';
import { startRivals } from './rivals.ts';
import { type Dialect, GATEWAY_KEY, type OtherWire } from './workloads.ts';

export interface Field {
  /** No proxy at all: what the client and the upstream cost by themselves. */
  readonly direct: Contender;
  readonly bare: Contender;
  /** One gateway, asked in each dialect; chat comes first. */
  readonly gateway: Readonly<Record<Dialect, Contender>>;
  /** Before an upstream of another wire: the pass-through asked in its words, and a gateway of its own. */
  readonly others: Readonly<Record<OtherWire, Side>>;
  readonly rivals: readonly Contender[];
  readonly gatewayStartMs: number;
  readonly children: readonly Child[];
  stop(): Promise<void>;
}

export interface Side {
  readonly bare: Contender;
  readonly gateway: Readonly<Record<OtherWire, Contender>>;
}

/** The measured servers run on the first core; the client and the upstream share the second. */
export const MEASURED_CORE = 0;
export const LOAD_CORE = 1;

const GATEWAY_STARTS = 3;
const source = (path: string): string => join(import.meta.dirname, path);

export async function startField({
  folder,
  withRivals,
}: {
  readonly folder: string;
  readonly withRivals: boolean;
}): Promise<Field> {
  const upstream = await startChild({
    arguments: [source('mock-upstream.ts')],
    core: LOAD_CORE,
  });
  const bare = await startChild({
    arguments: [source('pass-through.ts'), upstream.url],
    core: MEASURED_CORE,
  });
  const { gateway, startMs } = await startGateways({
    ...{ profile: 'gemini-api', upstreamUrl: upstream.url, folder, starts: GATEWAY_STARTS },
  });
  const ofMessages = await startGateways({
    ...{ profile: 'anthropic', upstreamUrl: `${upstream.url}/messages`, folder, starts: 1 },
  });
  const ofChat = await startGateways({
    ...{ profile: 'openai', upstreamUrl: `${upstream.url}/chat/v1`, folder, starts: 1 },
  });
  const rivals = withRivals
    ? await startRivals({ upstreamUrl: upstream.url, folder, core: MEASURED_CORE })
    : [];
  const gateways = [gateway, ofMessages.gateway, ofChat.gateway];
  const children = [...rivals.map((rival) => rival.child), ...gateways, bare, upstream];
  const contender = (name: string, dialect: Dialect, child: Child): Contender => ({
    name,
    dialect,
    child,
    headers: {},
  });
  const side = (wire: OtherWire, child: Child): Side => ({
    bare: { ...contender('bare pass-through', wire, bare), prefix: `/${wire}` },
    gateway: {
      chat: contender('isthmus, chat', 'chat', child),
      messages: contender('isthmus, messages', 'messages', child),
    },
  });
  return {
    direct: contender('direct', 'native', upstream),
    bare: contender('bare pass-through', 'native', bare),
    gateway: {
      chat: contender('isthmus, chat', 'chat', gateway),
      messages: contender('isthmus, messages', 'messages', gateway),
      native: contender('isthmus, native', 'native', gateway),
    },
    others: {
      messages: side('messages', ofMessages.gateway),
      chat: side('chat', ofChat.gateway),
    },
    rivals,
    gatewayStartMs: startMs,
    children,
    stop: async () => {
      for (const child of children) await child.stop();
    },
  };
}

interface GatewayOptions {
  readonly profile: string;
  readonly upstreamUrl: string;
  readonly folder: string;
  readonly starts: number;
}

/** Starts it a few times for the median starting time; the last one stays. */
async function startGateways({
  profile,
  upstreamUrl,
  folder,
  starts,
}: GatewayOptions): Promise<{ readonly gateway: Child; readonly startMs: number }> {
  const startsMs: number[] = [];
  for (;;) {
    const home = join(folder, `${profile}-${startsMs.length}`);
    mkdirSync(home);
    const gateway = await startChild({
      arguments: [...NODE_FLAGS, source('../../lib/main.js'), 'serve', '--port', '0'],
      environment: {
        HOME: home,
        ISTHMUS_DATA_DIR: home,
        AUTH_MODE: 'strict',
        API_KEY: GATEWAY_KEY,
        UPSTREAM_PROFILE: profile,
        UPSTREAM_BASE_URL: upstreamUrl,
        UPSTREAM_API_KEYS: 'bench-upstream-1,bench-upstream-2,bench-upstream-3',
      },
      core: MEASURED_CORE,
    });
    startsMs.push(gateway.startMs);
    if (startsMs.length === starts) return { gateway, startMs: median(startsMs) };
    await gateway.stop();
  }
}
