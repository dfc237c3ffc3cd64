// What an upstream says of a refused request beside its words reaches clients of the same wire, and those alone.

import { expect, test } from 'vitest';
import type { GatewayError } from '../../src/canonical/error.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { writeError as writeChatError } from '../../src/protocols/chat/errors.ts';
import { writeError as writeGenerateError } from '../../src/protocols/generate/errors.ts';
import { writeError as writeMessagesError } from '../../src/protocols/messages/errors.ts';
import { classifyFailure as classifyChat } from '../../src/upstreams/chat/errors.ts';
import type { UpstreamRefusal } from '../../src/upstreams/errors.ts';
import { classifyFailure as classifyGenerate } from '../../src/upstreams/generate/errors.ts';
import { classifyFailure as classifyMessages } from '../../src/upstreams/messages/errors.ts';

const SECRET = 'sk-upstream-0123456789';
const VIOLATION = { field: 'contents[0].parts', description: `Not for ${SECRET}` };
const BAD_REQUEST = {
  '@type': 'type.googleapis.com/google.rpc.BadRequest',
  fieldViolations: [VIOLATION],
};
const IMAGES = {
  error_code: 'image_dimensions_too_large',
  max_side_length_pixels: 8000,
  paths: ['messages.0.content.1'],
};

interface Wire {
  readonly classify: (refusal: UpstreamRefusal) => GatewayError;
  readonly write: (error: GatewayError) => { readonly body: JsonObject };
  readonly said: JsonObject;
  readonly told: JsonObject;
}

const WIRES: Readonly<Record<string, Wire>> = {
  messages: {
    classify: classifyMessages,
    write: (error) => writeMessagesError(error, { requestId: 'r' }),
    said: { type: 'invalid_request_error', details: IMAGES },
    told: { details: IMAGES },
  },
  chat: {
    classify: classifyChat,
    write: (error) => ({ body: { ...writeChatError(error).body } }),
    said: {
      type: 'invalid_request_error',
      param: 'messages[0].content',
      code: 'invalid_image_url',
    },
    told: { param: 'messages[0].content', code: 'invalid_image_url' },
  },
  'generate-content': {
    classify: classifyGenerate,
    write: writeGenerateError,
    said: { code: 400, status: 'INVALID_ARGUMENT', details: [BAD_REQUEST] },
    told: {
      details: [
        { ...BAD_REQUEST, fieldViolations: [{ ...VIOLATION, description: 'Not for <hidden>' }] },
      ],
    },
  },
};
const NAMES = Object.keys(WIRES);
const PAIRS = NAMES.flatMap((wire) => NAMES.map((client) => [wire, client] as const));

test.each(PAIRS)('a refusal on the wire %s, told to a client of %s', (name, client) => {
  const wire = WIRES[name];
  const body = JSON.stringify({ error: { message: 'No.', ...wire?.said } });
  const refusal = { status: 400, headers: {}, body, now: 0, secrets: [SECRET] };
  const error = wire?.classify(refusal);
  const answer = error && WIRES[client]?.write(error).body;
  if (name === client) expect(answer?.error).toMatchObject({ message: 'No.', ...wire?.told });
  else {
    expect(answer?.error).toMatchObject({ message: 'No.' });
    expect(JSON.stringify(answer)).not.toMatch(/image|contents|messages\[/);
  }
});

test('what is no text of the Chat wire does not stand in the place of the own words', () => {
  const body = JSON.stringify({ object: 'error', message: 'No.', param: null, code: 400 });
  const error = classifyChat({ status: 400, headers: {}, body, now: 0 });
  expect(writeChatError(error).body.error).toMatchObject({ param: null, code: 'invalid_value' });
});

test('a prompt that is too long has the code that clients know it by, whatever the service says (DeepSeek)', () => {
  const message =
    "This model's maximum context length is 65536 tokens. You requested 70000 tokens.";
  const said = {
    message,
    type: 'invalid_request_error',
    param: 'messages',
    code: 'invalid_request_error',
  };
  const error = classifyChat({
    status: 400,
    headers: {},
    body: JSON.stringify({ error: said }),
    now: 0,
  });
  const code = 'context_length_exceeded';
  expect(writeChatError(error).body.error).toMatchObject({ param: 'messages', code });
});
