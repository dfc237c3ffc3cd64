// Settings, models, upstreams, routes and sign-ins of the fixture server.

import type { ConfigSection, Models } from '../../src/admin/contract.ts';
import { CATALOG } from '../../src/routing/catalog.ts';
import { allPresets, presetPatch } from '../../src/routing/mapping.ts';
import { sayRouteStep } from '../../src/routing/model-names.ts';
import { createRouter, type Router, sayUnserved, warnOfTarget } from '../../src/routing/router.ts';

import type { FakeAccounts } from './fake-accounts.ts';
import { createFakeEnvironment } from './fake-environment.ts';
import { type FakeRoute, HOSTILE, json, refuse, type Scene } from './fake-route.ts';

type Values = Readonly<Record<string, unknown>>;

const MAPPINGS: Readonly<Record<Scene, Readonly<Record<string, string>>>> = {
  empty: {},
  trouble: {},
  rich: {
    'gpt-4o': 'alpha-3-pro-high',
    'gpt-4*': 'alpha-3-pro-low',
    'gpt-*-mini*': 'alpha-3-flash',
    'claude-sonnet-*': '@main',
    'house-model': 'beta-sonnet-4-6-thinking',
    'claude-*opus*': 'beta-opus-4-6-thinking',
    [HOSTILE[0]]: 'alpha-3-flash',
    [`a-name-${'that-goes-on-'.repeat(8)}*`]: 'alpha-3-pro-image',
  },
};

/** Any section may be asked for; those nobody filled are empty. */
export function createConfigRoutes(scene: Scene): readonly FakeRoute[] {
  const environment = createFakeEnvironment(scene);
  const sections = new Map<string, ConfigSection>();
  const put = (section: string, values: Values): ConfigSection => {
    const revision = String(Number(sections.get(section)?.revision ?? 0) + 1);
    const made = {
      section,
      title: section,
      revision,
      values: { ...values },
      overrides: environment.overrides(section),
    };
    sections.set(section, made);
    return made;
  };
  put('mapping', MAPPINGS[scene]);
  if (scene === 'rich') {
    put('upstreams', {
      work: {
        profile: 'generic',
        base_url: 'https://models.example/v1',
        limits: { 'gemini-3-pro': { requests: 50, window_minutes: 60 } },
        oauth: { client_id: 'client-4711', client_secret: { isSet: true }, scopes: ['openid'] },
      },
      'gemini-api': { profile: 'gemini-api' },
    });
    put('targets', {
      main: {
        steps: [['anthropic/claude-sonnet-5'], [{ to: 'gemini-3-pro', weight: 3 }, 'gpt-oss-120b']],
      },
      'a-long-name-of-a-chain-that-goes-on': { steps: [['gpt-oss-120b']] },
    });
    put('auth', { api_key: { isSet: true }, auth_mode: 'auto' });
    put('network', { cors_origins: ['https://app.example'], max_body_size: 209_715_200 });
    put('ip_filter', { enabled: true });
    put('pool', { mode: 'cache-first', max_wait_seconds: 90 });
    put('monitor', { bodies: true });
  }
  put('extprov', { base_url: 'https://provider.example', api_key: { isSet: true } });
  const read = (section: string) => sections.get(section) ?? put(section, {});
  const mapping = (): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries(read('mapping').values).filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string',
      ),
    );
  let compiled: { readonly of: string; readonly map: Readonly<Record<string, string>> } | undefined;
  const targets = () =>
    // The one narrowing of this file: the fixtures above and the console write them so.
    read('targets').values as Record<
      string,
      { steps: (string | { to: string; weight: number })[][] }
    >;
  const router = createRouter({
    targets,
    mapping() {
      const current = mapping();
      const of = JSON.stringify(current);
      if (compiled?.of !== of) compiled = { of, map: current };
      return compiled.map;
    },
    offered: Object.assign(new Set(['gemini-3-pro', 'gpt-oss-120b']), {
      isComplete: true,
      servedAs: (name: string) => name,
    }),
  });
  return [
    {
      method: 'GET',
      path: '/api/environment',
      run: () => json({ variables: environment.variables }),
    },
    { method: 'GET', path: '/api/config', run: () => json({ sections: [...sections.values()] }) },
    {
      method: 'GET',
      path: '/api/config/mapping/presets',
      run: () => {
        const presets = allPresets({});
        return json({
          presets: presets.map((one) => ({ ...one, patch: presetPatch(mapping(), one, presets) })),
        });
      },
    },
    { method: 'GET', path: '/api/config/{section}', run: ({ parameter }) => json(read(parameter)) },
    {
      method: 'PATCH',
      path: '/api/config/{section}',
      run({ parameter, body, ifMatch }) {
        const known = read(parameter);
        if (ifMatch !== undefined && ifMatch !== `"${known.revision}"`) {
          return refuse(412, 'Somebody else changed the section meanwhile.');
        }
        const saved = put(parameter, merge({ ...known.values }, body));
        const targets = parameter === 'mapping' ? Object.entries(body) : [];
        const warnings = targets.flatMap(([key, target]) =>
          typeof target === 'string' ? (warnOfTarget(key, target, router) ?? []) : [],
        );
        return json(warnings.length === 0 ? saved : { ...saved, warnings });
      },
    },
    { method: 'GET', path: '/api/models', run: () => json(listModels(router)) },
    {
      method: 'GET',
      path: '/api/route',
      run({ query }) {
        const asked = query.get('model') ?? '';
        const explanation = asked.startsWith('@')
          ? router.explainTarget(asked)
          : router.explain(asked);
        const { steps, route, servedAs, chain } = explanation;
        return json({
          asked,
          target: route?.target ?? null,
          servedAs: servedAs ?? null,
          steps: steps.map((step) => ({ ...step, text: sayRouteStep(step) })),
          ...(chain === undefined ? {} : { chain }),
          error: sayUnserved(asked, explanation, router) ?? null,
          thinking: route?.thinking ?? null,
          effort: route?.effort ?? null,
          webSearch: route?.webSearch ?? false,
          image: route?.image ?? null,
        });
      },
    },
  ];
}

/** RFC 7396, deep only for objects. */
function merge(values: Values, patch: Values): Values {
  const merged = new Map(Object.entries(values));
  for (const [key, value] of Object.entries(patch)) {
    const known = merged.get(key);
    if (value === null) merged.delete(key);
    else merged.set(key, isObject(value) && isObject(known) ? merge(known, value) : value);
  }
  return Object.fromEntries(merged);
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listModels(router: Router): Models {
  const [fallback] = CATALOG;
  if (fallback === undefined) throw new Error('The catalogue is empty.');
  return {
    models: router.list().map((id) => {
      const target = router.explain(id).route?.target ?? null;
      const model = CATALOG.find((one) => one.id === target) ?? fallback;
      return {
        id,
        target,
        servedAs: target,
        displayName: model.displayName,
        description: model.description,
        inputTokenLimit: model.inputTokenLimit,
        outputTokenLimit: model.outputTokenLimit,
        supportsThinking: model.supportsThinking,
        drawsImages: model.drawsImages,
        tasks: [...model.tasks],
      };
    }),
  };
}

const SIGN_IN_MS = 600_000;

/** A sign-in waits until a code is pasted; the code `wrong` is refused. */
export function createSignInRoutes(accounts: FakeAccounts, now: number): readonly FakeRoute[] {
  const expiresAt = new Date(now + SIGN_IN_MS).toISOString();
  let done: object | undefined;
  return [
    {
      method: 'GET',
      path: '/api/upstreams',
      run: () =>
        json({
          upstreams: [
            {
              id: 'code-assist',
              profile: 'code-assist',
              canSignIn: true,
              redirectUrl: null,
              accounts: 6,
            },
            { id: 'gemini', profile: 'gemini', canSignIn: false, redirectUrl: null, accounts: 2 },
            { id: 'vertex', profile: 'vertex', canSignIn: false, redirectUrl: null, accounts: 1 },
          ],
        }),
    },
    {
      method: 'POST',
      path: '/api/oauth/start',
      run() {
        done = undefined;
        const authorizationUrl = 'https://accounts.example/o/oauth2/auth?client_id=x&state=fixture';
        const redirectUrl = 'http://127.0.0.1:8045/oauth/callback';
        return json({ state: 'fixture', authorizationUrl, redirectUrl, expiresAt }, 201);
      },
    },
    {
      method: 'POST',
      path: '/api/oauth/complete',
      run({ body }) {
        if (body.code === 'wrong')
          return refuse(400, 'code: the provider does not know it.', 'code');
        done = { status: 'done', account: accounts.add({ label: 'fresh@example.org' }) };
        return json(done);
      },
    },
    {
      method: 'GET',
      path: '/api/oauth/{state}',
      run: () => json(done ?? { status: 'pending', expiresAt }),
    },
    { method: 'DELETE', path: '/api/oauth/{state}', run: () => ({ status: 204 }) },
  ];
}
