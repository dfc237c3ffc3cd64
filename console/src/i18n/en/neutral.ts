// The English texts without names of vendors, in place of those of `rest.ts`.

import { neutralProtocols } from '../protocols.ts';
import type { PartlyTranslated } from '../texts.ts';
import type { rest } from './rest.ts';

export const neutral: PartlyTranslated<typeof rest> = {
  protocols: neutralProtocols,
  settings: {
    upstream: {
      profileNames: { 'openai-compatible': 'Chat-compatible' },
      quirksHint: 'Adapts requests to this service where it differs from the public API.',
    },
  },
};
