// The variables that the SDKs read where a program names no address and no key.

import type { SetUp, Variable } from './client-settings.ts';

export interface SdkVariables {
  readonly id: string;
  readonly name: string;
  readonly model: string;
  /** Of the address and the key, in this order. */
  write(setUp: SetUp): readonly Variable[];
  /** Variables of a key that win over the one written. */
  readonly otherKeys: readonly string[];
}

/** Names as the packages read them: `openai`, `@anthropic-ai/sdk` and `@google/genai`, and those for Python. */
export const SDK_VARIABLES: readonly SdkVariables[] = [
  {
    id: 'sdk-openai',
    name: 'OpenAI SDK',
    model: 'alpha-3-flash',
    write: ({ address, key }) => [
      ['OPENAI_BASE_URL', `${address}/v1`],
      ['OPENAI_API_KEY', key],
    ],
    otherKeys: [],
  },
  {
    id: 'sdk-anthropic',
    name: 'Anthropic SDK',
    model: 'beta-sonnet-4-6',
    write: ({ address, key }) => [
      ['ANTHROPIC_BASE_URL', address],
      ['ANTHROPIC_API_KEY', key],
    ],
    otherKeys: ['ANTHROPIC_AUTH_TOKEN'],
  },
  {
    id: 'sdk-google',
    name: 'Google Gen AI SDK',
    model: 'alpha-3-flash',
    write: ({ address, key }) => [
      ['GOOGLE_GEMINI_BASE_URL', address],
      ['GEMINI_API_KEY', key],
    ],
    otherKeys: ['GOOGLE_API_KEY'],
  },
];
