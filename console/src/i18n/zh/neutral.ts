// The Chinese texts without names of vendors, in place of those of `rest.ts`.

import type { rest } from '../en/rest.ts';
import { neutralProtocols } from '../protocols.ts';
import type { PartlyTranslated } from '../texts.ts';

export const neutral: PartlyTranslated<typeof rest> = {
  protocols: neutralProtocols,
  settings: {
    upstream: {
      profileNames: { 'openai-compatible': '兼容 Chat' },
      quirksHint: '在与公共 API 不同之处，按它的要求发送。',
    },
  },
};
