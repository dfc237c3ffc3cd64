// The settings of the config file as the console offers them: where each stands and what it takes.

import type { AmountRange } from '../components/read-amount.ts';
import type { en } from '../i18n/en.ts';

type Texts = (typeof en)['settings'];
type FieldId = keyof Texts['fields'];
type OptionId = keyof Texts['options'];

interface FieldBase {
  readonly id: FieldId;
  readonly section: string;
  /** Where it stands in its section. */
  readonly path: readonly string[];
  /** The environment variable that wins over the file. */
  readonly variable?: string;
  /** Counts from the next start on; all others at once. */
  readonly needsRestart?: boolean;
}

export interface SwitchField extends FieldBase {
  readonly kind: 'switch';
  readonly fallback: boolean;
}

export interface ChoiceField extends FieldBase {
  readonly kind: 'choice';
  readonly fallback: string;
  readonly options: readonly { readonly value: string; readonly text: OptionId }[];
}

export interface NumberField extends FieldBase, AmountRange {
  readonly kind: 'number';
  readonly fallback: number;
}

export interface TextField extends FieldBase {
  readonly kind: 'text';
  /** Absent where nothing holds without it. */
  readonly fallback?: string;
}

/** Never shown: only whether there is one. */
export interface SecretField extends FieldBase {
  readonly kind: 'secret';
  /** Characters a new one has at least; 1 without it. */
  readonly leastLength?: number;
}

export interface ListField extends FieldBase {
  readonly kind: 'list';
  /** What is offered while one types. */
  readonly offers?: 'models';
}

/** The label of an account. */
export interface AccountField extends FieldBase {
  readonly kind: 'account';
}

export type Field =
  | SwitchField
  | ChoiceField
  | NumberField
  | TextField
  | SecretField
  | ListField
  | AccountField;

export const AUTH_MODE: ChoiceField = {
  kind: 'choice',
  id: 'authMode',
  section: 'auth',
  path: ['auth_mode'],
  variable: 'AUTH_MODE',
  fallback: 'auto',
  options: [
    { value: 'off', text: 'authOff' },
    { value: 'auto', text: 'authAuto' },
    { value: 'strict', text: 'authStrict' },
  ],
};

export const CORS_ORIGINS: ListField = {
  kind: 'list',
  id: 'corsOrigins',
  section: 'network',
  path: ['cors_origins'],
  variable: 'ISTHMUS_CORS_ORIGINS',
};

export const TRUSTED_PROXIES: ListField = {
  kind: 'list',
  id: 'trustedProxies',
  section: 'network',
  path: ['trusted_proxies'],
  variable: 'TRUSTED_PROXIES',
};

export const ALLOWED_HOSTS: ListField = {
  kind: 'list',
  id: 'allowedHosts',
  section: 'network',
  path: ['allowed_hosts'],
  variable: 'ISTHMUS_ALLOWED_HOSTS',
};

export const FILTER_ENABLED: SwitchField = {
  kind: 'switch',
  id: 'filterEnabled',
  section: 'ip_filter',
  path: ['enabled'],
  fallback: false,
};

export const FILTER_DEFAULT: ChoiceField = {
  kind: 'choice',
  id: 'filterDefault',
  section: 'ip_filter',
  path: ['default'],
  fallback: 'allow',
  options: [
    { value: 'allow', text: 'letIn' },
    { value: 'deny', text: 'refuse' },
  ],
};

export const ALLOW_BEATS_DENY: SwitchField = {
  kind: 'switch',
  id: 'allowBeatsDeny',
  section: 'ip_filter',
  path: ['allow_beats_deny'],
  fallback: false,
};
