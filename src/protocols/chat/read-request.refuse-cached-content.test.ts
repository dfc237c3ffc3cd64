import { expect, test } from 'vitest';
import { createReceipt } from '../../canonical/receipt.ts';
import type { JsonObject } from '../../lib/json.ts';
import { readCompletionCall } from '../../surfaces/completions.ts';
import { inputOf } from './answers.test-support.ts';
import { readChatRequest } from './read-request.ts';
import { readResponsesRequest } from './responses/read-request.ts';

const MESSAGES = [{ role: 'user', content: 'hi' }];
const READERS = {
  chat: (fields: JsonObject) =>
    readChatRequest({ model: 'm', messages: MESSAGES, ...fields }, createReceipt()),
  responses: (fields: JsonObject) =>
    readResponsesRequest({ model: 'm', input: 'hi', ...fields }, createReceipt()),
  completions: (fields: JsonObject) =>
    readCompletionCall(inputOf({ model: 'm', prompt: 'hi', ...fields })),
};
const NAME = 'cachedContents/abc';

test.each(Object.entries(READERS))(
  'a cache of the upstream is refused wherever it is named (%s)',
  (_surface, read) => {
    const refused = (field: string, fields: JsonObject) =>
      expect(() => read(fields)).toThrow(
        expect.objectContaining({ field, kind: 'invalid-request' }),
      );
    refused('cached_content', { cached_content: NAME });
    refused('cachedContent', { cachedContent: NAME });
    refused('google.cached_content', { google: { cached_content: NAME } });
    refused('extra_body.cached_content', { extra_body: { cached_content: NAME } });
    refused('extra_body.google.cached_content', {
      extra_body: { google: { cached_content: NAME } },
    });
    refused('extra_body.vendora.cachedContent', {
      extra_body: { vendora: { cachedContent: NAME } },
    });
  },
);

test.each(Object.entries(READERS))('a cache left empty names none (%s)', (_surface, read) => {
  expect(() => read({ cached_content: null, extra_body: { google: {} } })).not.toThrow();
});
