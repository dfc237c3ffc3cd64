// The Japanese texts without names of vendors, in place of those of `rest.ts`.

import type { rest } from '../en/rest.ts';
import { neutralProtocols } from '../protocols.ts';
import type { PartlyTranslated } from '../texts.ts';

export const neutral: PartlyTranslated<typeof rest> = {
  protocols: neutralProtocols,
  settings: {
    upstream: {
      profileNames: { 'openai-compatible': 'Chat 互換' },
      quirksHint: '公開 API と異なる点を、このサービスに合わせて送信します。',
    },
  },
};
