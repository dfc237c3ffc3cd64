// The dashboard and the alert rules: held to their shapes, and run on a real Prometheus that collects from a gateway.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { type RunningGateway, startGateway } from '../support/gateway-process.ts';
import {
  checkPage,
  HAS_PROMETHEUS,
  promtool,
  type RunningPrometheus,
  startPrometheus,
} from '../support/prometheus.ts';

const FOLDER = join(import.meta.dirname, '../../deploy');
const RULES = join(FOLDER, 'prometheus');
const read = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');

const SOURCE = z.strictObject({
  type: z.literal('prometheus'),
  uid: z.string().regex(/^\$\{datasource\}$/),
});

/** What Grafana needs of a panel (https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/). */
const PANEL = z.object({
  id: z.int().positive(),
  title: z.string().min(1),
  type: z.enum(['timeseries', 'stat']),
  datasource: SOURCE,
  gridPos: z.strictObject({
    x: z.int().min(0).max(23),
    y: z.int().min(0),
    w: z.int().min(1).max(24),
    h: z.int().min(1),
  }),
  fieldConfig: z.object({
    defaults: z.object({ unit: z.string() }),
    overrides: z.array(z.unknown()),
  }),
  options: z.record(z.string(), z.unknown()),
  targets: z
    .array(z.object({ refId: z.string(), datasource: SOURCE, expr: z.string().min(1) }))
    .min(1),
});
const ROW = PANEL.pick({ id: true, title: true, gridPos: true }).extend({
  type: z.literal('row'),
  collapsed: z.boolean(),
  panels: z.array(z.never()),
});
const VARIABLE = z.object({
  name: z.string(),
  type: z.enum(['datasource', 'query']),
  query: z.union([z.literal('prometheus'), z.object({ query: z.string() })]),
});
const DASHBOARD = z.object({
  title: z.literal('isthmus'),
  uid: z.string().max(40),
  schemaVersion: z.int().min(36),
  time: z.object({ from: z.string(), to: z.string() }),
  templating: z.object({ list: z.array(VARIABLE) }),
  annotations: z.object({ list: z.array(z.unknown()) }),
  panels: z.array(z.union([PANEL, ROW])),
});
const ALERTS = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string(),
          expr: z.string(),
          for: z.string(),
          labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
          annotations: z.strictObject({ summary: z.string() }),
        }),
      ),
    }),
  ),
});

const dashboard = DASHBOARD.parse(JSON.parse(read('grafana/dashboard.json')));
const panels = dashboard.panels.filter((panel) => panel.type !== 'row');
const alerts = ALERTS.parse(parse(read('prometheus/alerts.yaml'))).groups.flatMap(
  ({ rules }) => rules,
);

test('panels have an id of their own and do not overlap', () => {
  const ids = dashboard.panels.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, nth) => `${x + (nth % w)},${y + Math.floor(nth / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(dashboard.panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
});

/** As Grafana fills them in. */
function fillIn(expression: string): string {
  return expression
    .replaceAll('$__rate_interval', '30s')
    .replaceAll('"$job"', '".*"')
    .replaceAll('"$upstream"', '".*"');
}

const WEB_PASSWORD = 'the console password of this test';
/** Where nothing happened there is nothing to see. */
const MAY_BE_EMPTY = [
  'Fallbacks by reason',
  'Cost per hour by model',
  'Would have cost per hour (flat rate)',
];

describe.skipIf(!HAS_PROMETHEUS)('a real Prometheus', () => {
  let gateway: RunningGateway;
  let prometheus: RunningPrometheus;

  beforeAll(async () => {
    gateway = await startGateway({ WEB_PASSWORD });
    const config = parse(read('prometheus/prometheus.yaml'));
    const [scrape] = config.scrape_configs;
    scrape.static_configs = [{ targets: [new URL(gateway.url).host] }];
    scrape.authorization = { type: 'Bearer', credentials: WEB_PASSWORD };
    config.global = { scrape_interval: '1s', evaluation_interval: '1s' };
    config.rule_files = [join(RULES, 'alerts.yaml')];
    prometheus = await startPrometheus(stringify(config));
  });
  afterAll(async () => {
    await prometheus?.close();
    await gateway?.stop();
  });

  const ask = async (content: string, stream: boolean): Promise<void> => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ model: 'gemini-3-flash', stream, messages: [{ role: 'user', content }] },
      }),
    });
    await response.text();
  };
  const work = async (): Promise<void> => {
    for (const stream of [true, false]) await ask('Hello', stream);
    await ask('UPSTREAM-STATUS 500', false);
  };

  test('reads the rules, and their tests pass', () => {
    expect(promtool(['check', 'rules', 'alerts.yaml'], RULES)).toContain('SUCCESS');
    expect(promtool(['test', 'rules', 'alerts.test.yaml'], RULES)).toContain('SUCCESS');
    expect(alerts.length).toBeGreaterThan(5);
  });

  test('reads the configuration that is given as an example', () => {
    const words = ['check', 'config', '--syntax-only', 'prometheus.yaml'];
    expect(promtool(words, RULES)).toContain('SUCCESS');
  });

  test('finds nothing wrong with the page of metrics', async () => {
    await work();
    const headers = { authorization: `Bearer ${WEB_PASSWORD}` };
    const page = await (await fetch(`${gateway.url}/metrics`, { headers })).text();
    expect(page).not.toContain('@');
    checkPage(page);
    const names = new Set(page.match(/^isthmus_\w+/gm));
    const used = [...panels.flatMap(({ targets }) => targets), ...alerts].flatMap(
      ({ expr }) => expr.match(/isthmus_[a-z_]+/g) ?? [],
    );
    const unknown = used.filter((name) => !names.has(name) && !page.includes(`# TYPE ${name} `));
    expect(unknown).toEqual([]);
  });

  test.each(panels.map(({ title, targets }) => [title, targets] as const))(
    'panel %s shows something',
    async (title, targets) => {
      for (const { expr } of targets) {
        const query = async (): Promise<number> => {
          await work();
          return prometheus.query(fillIn(expr));
        };
        if (MAY_BE_EMPTY.includes(title)) await query();
        else await expect.poll(query, { timeout: 30_000, interval: 500 }).toBeGreaterThan(0);
      }
    },
  );

  test.each(alerts.map(({ alert, expr }) => [alert, expr] as const))(
    'rule %s runs, and does not fire where all is well',
    async (_alert, expr) => {
      expect(await prometheus.query(expr)).toBeLessThanOrEqual(1);
      await expect.poll(() => prometheus.query('up == 1'), { timeout: 30_000 }).toBe(1);
    },
  );
});
