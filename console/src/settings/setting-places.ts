// Where each setting stands in the console; the pages are made from it, and so are links to them.

import { GROUPS } from './field-groups.ts';
import {
  ALLOW_BEATS_DENY,
  ALLOWED_HOSTS,
  AUTH_MODE,
  CORS_ORIGINS,
  FILTER_DEFAULT,
  FILTER_ENABLED,
  type Field,
  TRUSTED_PROXIES,
} from './fields.ts';

export interface SettingPlace {
  readonly to: '/settings' | '/security';
  readonly search: Readonly<Record<string, string>>;
  readonly fields: readonly Field[];
}

export const ACCESS_PLACE = { to: '/security', search: {}, fields: [AUTH_MODE] } as const;

export const FILTER_PLACE = {
  to: '/security',
  search: { tab: 'addresses' },
  fields: [FILTER_ENABLED, FILTER_DEFAULT, ALLOW_BEATS_DENY],
} as const satisfies SettingPlace;

export const WEB_PLACE = {
  to: '/security',
  search: { tab: 'web' },
  fields: [CORS_ORIGINS, TRUSTED_PROXIES, ALLOWED_HOSTS],
} as const satisfies SettingPlace;

/** Settings of one value each; those of the sections `mapping`, `extprov` and `upstreams` have forms. */
export const SETTING_PLACES: readonly SettingPlace[] = [
  ...GROUPS.map(
    ({ id, fields }) => ({ to: '/settings', search: { section: id }, fields }) as const,
  ),
  ACCESS_PLACE,
  FILTER_PLACE,
  WEB_PLACE,
];

/** Where the setting that a variable wins over can be changed. */
export function placeOfVariable(name: string): SettingPlace | undefined {
  return SETTING_PLACES.find(({ fields }) => fields.some(({ variable }) => variable === name));
}
