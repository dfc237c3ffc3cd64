// The upstreams requests are translated for, and the models their accounts offer.

import { CATALOG } from '../../src/routing/catalog.ts';
import { createFamilies } from '../../src/routing/families.ts';
import { createRouter, type Router } from '../../src/routing/router.ts';
import { createUpstream } from '../../src/upstreams/index.ts';
import { createMessagesUpstream } from '../../src/upstreams/messages/index.ts';
import { createAnthropicProfile } from '../../src/upstreams/messages/profiles.ts';
import type { Upstream } from '../../src/upstreams/upstream.ts';
import { createFakeClock } from '../support/fake-clock.ts';

export type Route = ReturnType<Router['route']>;

export type TargetName = 'sandbox' | 'gemini' | 'anthropic';
/** Those of the generate-content wire, for which every request is translated. */
export const TARGET_NAMES: readonly TargetName[] = ['sandbox', 'gemini'];

export interface Target {
  readonly upstream: Upstream;
  readonly router: Router;
  /** The upstream's own id of the model a route leads to. */
  modelIdOf(route: Route): string;
}

/** What the public API's model list holds, shortened; both generations. */
const GEMINI_MODELS = [
  'gemini-2.5-flash',
  'gemini-2.5-flash-image',
  'gemini-2.5-flash-lite',
  'gemini-2.5-pro',
  'gemini-3-flash-preview',
  'gemini-3-pro-image-preview',
  'gemini-3-pro-preview',
  'gemini-3.1-pro-preview',
  'gemini-3.8-flash',
];

/** The goldens were made for this one of the flash models. */
const FAMILIES = createFamilies({ flash: ['gemini-3-flash-preview'] });

export const targets: Readonly<Record<TargetName, Target>> = {
  sandbox: createTarget(
    createUpstream(
      { profile: 'sandbox', baseUrl: 'http://127.0.0.1:1' },
      { clock: createFakeClock() },
    ),
    CATALOG.map(({ id }) => id),
  ),
  gemini: createTarget(
    createUpstream({ profile: 'gemini-api' }, { clock: createFakeClock() }),
    GEMINI_MODELS,
  ),
  anthropic: {
    ...createTarget(
      createMessagesUpstream({ profile: createAnthropicProfile(), clock: createFakeClock() }),
      [],
    ),
    modelIdOf: () => 'claude-opus-4-5',
  },
};

function createTarget(upstream: Upstream, models: readonly string[]): Target {
  const offered = Object.assign(new Set(models), {
    isComplete: true,
    servedAs: (name: string) => name,
  });
  const listed = new Map(models.map((id) => [id, {}]));
  return {
    upstream,
    router: createRouter({ mapping: () => ({}), offered, families: () => FAMILIES }),
    modelIdOf({ target }) {
      const id =
        FAMILIES.preferred(target, listed) ??
        upstream.modelIds(target).find((candidate) => offered.has(candidate)) ??
        FAMILIES.newest(target, listed);
      if (id === undefined) throw new Error(`No account offers ${target}.`);
      return id;
    },
  };
}
