// Reads the external provider's settings into a form, and the form into a patch of what differs.

import type { SectionPatch } from '../../api/queries/merge-patch.ts';

export const MODES = ['off', 'exclusive', 'pooled', 'fallback'] as const;
export const FAMILIES = ['opus', 'sonnet', 'haiku'] as const;
const SERVICES = ['enabled', 'web_search_enabled', 'web_reader_enabled', 'vision_enabled'] as const;

/** What the MCP services need besides being on. */
const SERVICE_TEXTS = ['web_search_url', 'web_reader_url', 'vision_model'] as const;

type Mcp = Readonly<Record<(typeof SERVICES)[number], boolean>> &
  Readonly<Record<(typeof SERVICE_TEXTS)[number], string>>;

export interface ProviderValues {
  readonly enabled: boolean;
  readonly base_url: string;
  readonly api_key: string;
  readonly dispatch_mode: string;
  readonly models: Readonly<Record<(typeof FAMILIES)[number], string>>;
  readonly mapping: string;
  readonly mcp: Mcp;
}

/** What the settings say; a secret is never among it. */
export function readProvider(values: object): ProviderValues {
  const root = new Map<string, unknown>(Object.entries(values));
  const models = mapOf(root.get('models'));
  const mcp = mapOf(root.get('mcp'));
  return {
    enabled: root.get('enabled') === true,
    base_url: textOf(root.get('base_url')),
    api_key: '',
    dispatch_mode: textOf(root.get('dispatch_mode')) || 'off',
    models: {
      opus: textOf(models.get('opus')),
      sonnet: textOf(models.get('sonnet')),
      haiku: textOf(models.get('haiku')),
    },
    mapping: [...mapOf(root.get('model_mapping'))]
      .map(([name, target]) => `${name} = ${textOf(target)}`)
      .join('\n'),
    mcp: {
      enabled: mcp.get('enabled') === true,
      web_search_enabled: mcp.get('web_search_enabled') === true,
      web_reader_enabled: mcp.get('web_reader_enabled') === true,
      vision_enabled: mcp.get('vision_enabled') === true,
      web_search_url: textOf(mcp.get('web_search_url')),
      web_reader_url: textOf(mcp.get('web_reader_url')),
      vision_model: textOf(mcp.get('vision_model')),
    },
  };
}

export function hasKey(values: object): boolean {
  const key = new Map<string, unknown>(Object.entries(values)).get('api_key');
  return mapOf(key).get('isSet') === true;
}

/** The number of the first line, from 1, that is not of the form `name = target`. */
export function badLine(text: string): number | undefined {
  const index = text.split('\n').findIndex((line) => line.trim() !== '' && !LINE.test(line));
  return index === -1 ? undefined : index + 1;
}

/** Emptied texts and lines go; an empty key stays as it is. */
export function writePatch(values: object, form: ProviderValues): SectionPatch {
  const before = readProvider(values);
  const text = (given: string): string | null => (given.trim() === '' ? null : given.trim());
  const known = mapOf(new Map<string, unknown>(Object.entries(values)).get('model_mapping'));
  const wanted = readLines(form.mapping);
  const gone = [...known.keys()].filter((name) => !wanted.has(name));
  const models = FAMILIES.filter((family) => form.models[family] !== before.models[family]);
  const services = SERVICES.filter((service) => form.mcp[service] !== before.mcp[service]);
  const texts = SERVICE_TEXTS.filter((name) => form.mcp[name] !== before.mcp[name]);
  return {
    ...(form.enabled === before.enabled ? {} : { enabled: form.enabled }),
    ...(form.base_url === before.base_url ? {} : { base_url: text(form.base_url) }),
    ...(form.api_key === '' ? {} : { api_key: form.api_key.trim() }),
    ...(form.dispatch_mode === before.dispatch_mode ? {} : { dispatch_mode: form.dispatch_mode }),
    ...(form.mapping === before.mapping
      ? {}
      : {
          model_mapping: Object.fromEntries([
            ...wanted,
            ...gone.map((name) => [name, null] as const),
          ]),
        }),
    ...(models.length === 0
      ? {}
      : { models: Object.fromEntries(models.map((name) => [name, text(form.models[name])])) }),
    ...(services.length + texts.length === 0
      ? {}
      : {
          mcp: Object.fromEntries([
            ...services.map((name) => [name, form.mcp[name]] as const),
            ...texts.map((name) => [name, text(form.mcp[name])] as const),
          ]),
        }),
  };
}

const LINE = /^\s*([^=]*[^=\s])\s*=\s*(\S.*?)\s*$/;

function readLines(text: string): Map<string, string> {
  const lines = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name, target] = LINE.exec(line) ?? [];
    if (name !== undefined && target !== undefined) lines.set(name.trim(), target);
  }
  return lines;
}

function mapOf(value: unknown): Map<string, unknown> {
  return new Map(typeof value === 'object' && value !== null ? Object.entries(value) : []);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
