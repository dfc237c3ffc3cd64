// The external provider's settings with their defaults filled in.

import { type ConfigFile, EXTPROV_DEFAULTS } from './schema.ts';

type DispatchMode = 'off' | 'exclusive' | 'pooled' | 'fallback';

export interface ExternalProviderSettings {
  /** False whatever the file says, until it works. */
  readonly enabled: false;
  readonly baseUrl: string | undefined;
  /** Perhaps sealed (`sealed:v1:…`). */
  readonly apiKey: string | undefined;
  readonly dispatchMode: DispatchMode;
  readonly modelMapping: Readonly<Record<string, string>>;
  readonly models: { readonly opus: string; readonly sonnet: string; readonly haiku: string };
  readonly mcp: {
    readonly enabled: boolean;
    readonly webSearchEnabled: boolean;
    readonly webReaderEnabled: boolean;
    readonly visionEnabled: boolean;
  };
}

type ProviderSection = NonNullable<NonNullable<ConfigFile['proxy']>['extprov']>;

const DISPATCH_MODES: readonly DispatchMode[] = ['off', 'exclusive', 'pooled', 'fallback'];

export function readExternalProvider(section: ProviderSection = {}): ExternalProviderSettings {
  const { models = {}, mcp = {} } = section;
  const families = EXTPROV_DEFAULTS.models.properties;
  return {
    enabled: false,
    baseUrl: section.base_url,
    apiKey: section.api_key,
    dispatchMode: DISPATCH_MODES.find((mode) => mode === section.dispatch_mode) ?? 'off',
    modelMapping: section.model_mapping ?? {},
    models: {
      opus: models.opus ?? families.opus.default,
      sonnet: models.sonnet ?? families.sonnet.default,
      haiku: models.haiku ?? families.haiku.default,
    },
    mcp: {
      enabled: mcp.enabled ?? false,
      webSearchEnabled: mcp.web_search_enabled ?? false,
      webReaderEnabled: mcp.web_reader_enabled ?? false,
      visionEnabled: mcp.vision_enabled ?? false,
    },
  };
}
