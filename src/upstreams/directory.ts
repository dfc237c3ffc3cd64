// The upstreams in use: built from the settings, kept while those stay the same, closed when done with.

import type { Timer } from '../lib/clock.ts';
import { createUpstream, type UpstreamSettings } from './index.ts';
import type { Upstream } from './upstream.ts';
import type { OwnedUpstream, WireOptions } from './wire-parts.ts';

export type UpstreamDirectory = ReturnType<typeof createUpstreamDirectory>;

interface UpstreamDirectoryOptions
  extends Pick<WireOptions<never>, 'clock' | 'answerRoom' | 'proxyFor'> {
  /** Ours, for the user agent. */
  readonly version: string;
}

interface Entry {
  readonly settings: string;
  readonly upstream: OwnedUpstream;
}

/** A call that has the upstream already may begin this long after its end. */
const GRACE_MS = 60_000;
const CHECK_MS = 5_000;
/** No call lasts longer. */
const MAX_MS = 60 * 60_000;

export function createUpstreamDirectory(options: UpstreamDirectoryOptions) {
  const { clock, version, ...shared } = options;
  let entries: ReadonlyMap<string, Entry> = new Map();
  let upstreams: readonly Upstream[] = [];
  const retired = new Map<OwnedUpstream, Timer>();

  const retire = (upstream: OwnedUpstream, since: number, delayMs: number): void => {
    const check = (): void => {
      const isLate = clock.monotonic() - since >= MAX_MS;
      if (upstream.callsUnderWay() > 0 && !isLate) {
        retire(upstream, since, CHECK_MS);
        return;
      }
      retired.delete(upstream);
      void upstream.close();
    };
    retired.set(upstream, clock.startTimer(delayMs, check));
  };

  return {
    get: (id: string): Upstream | undefined => entries.get(id)?.upstream,
    /** In the order of the settings. */
    list: () => upstreams,
    /**
     * Puts other settings in force. An upstream whose settings stayed the same keeps its connections;
     * one that is gone or changed ends the calls it has and is closed after them.
     * @throws Error when two have one id or an address is none; nothing is changed then.
     */
    replace(settings: readonly UpstreamSettings[]): void {
      const next = buildEntries(
        settings.map((one) => ({ ...one, version })),
        { entries, clock, ...shared },
      );
      const kept = new Set([...next.values()].map(({ upstream }) => upstream));
      const gone = [...entries.values()].filter(({ upstream }) => !kept.has(upstream));
      entries = next;
      upstreams = [...kept];
      for (const { upstream } of gone) retire(upstream, clock.monotonic(), GRACE_MS);
    },
    /** Closes everything at once. */
    async close() {
      const open = [...[...entries.values()].map(({ upstream }) => upstream), ...retired.keys()];
      for (const timer of retired.values()) timer.cancel();
      retired.clear();
      entries = new Map();
      upstreams = [];
      await Promise.all(open.map((upstream) => upstream.close()));
    },
  };
}

/** The entries of the settings, those that stayed the same taken over. */
function buildEntries(
  settings: readonly UpstreamSettings[],
  {
    entries,
    ...options
  }: Omit<UpstreamDirectoryOptions, 'version'> & {
    readonly entries: ReadonlyMap<string, Entry>;
  },
): ReadonlyMap<string, Entry> {
  const next = new Map<string, Entry>();
  try {
    for (const one of settings) {
      const id = one.id ?? one.profile;
      if (next.has(id)) throw new Error(`Two upstreams have the id ${id}; name them differently.`);
      const text = JSON.stringify(one);
      const before = entries.get(id);
      const isSame = before !== undefined && before.settings === text;
      next.set(id, isSame ? before : { settings: text, upstream: createUpstream(one, options) });
    }
  } catch (error) {
    const known = new Set([...entries.values()]);
    for (const entry of next.values()) if (!known.has(entry)) void entry.upstream.close();
    throw error;
  }
  return next;
}
