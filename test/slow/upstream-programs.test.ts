// Real programs as upstreams: LiteLLM's proxy in front of the sandbox, and llama-cpp-python's server with a tiny model.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDefaultAccounts, createSandbox, type Sandbox } from '@isthmus/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { startGateway } from '../support/app.ts';
import {
  anthropicAt,
  OFFICIAL_CLIENTS,
  openaiAt,
  type Said,
  WEATHER,
} from '../support/official-clients.ts';
import { installLlama, installPackages } from '../support/python-programs.ts';
import { type ServerProgram, startProgram } from '../support/server-program.ts';
import { writeTinyModel } from '../support/tiny-model.ts';

/** The newest whose packages the registry has all of. */
const LITELLM = '1.105.7';
const LLAMA_CPP_PYTHON = '0.3.36';

type Gateway = Awaited<ReturnType<typeof startGateway>>;

const ENDS_WELL = /^(?:stop|end_turn|STOP)$/;
const ENDS_AT_LIMIT = /^(?:length|max_tokens|MAX_TOKENS)$/;

const litellm = await orSkip('LiteLLM', installPackages('litellm', [`litellm[proxy]==${LITELLM}`]));
const llama = await orSkip('llama-cpp-python', installLlama(LLAMA_CPP_PYTHON));

/** Undefined, and said loudly, where it cannot be installed here. */
async function orSkip<Made>(name: string, making: Promise<Made>): Promise<Made | undefined> {
  try {
    return await making;
  } catch (error) {
    console.error(`*** SKIPPED: ${name} could not be installed. ***\n${error}`);
    return undefined;
  }
}

/** A gateway over the upstreams, each with an account of that key. */
async function startOver(upstreams: JsonObject, key: string): Promise<Gateway> {
  const gateway = await startGateway({ file: { upstreams } });
  for (const upstream of Object.keys(upstreams)) {
    expect((await addAccount(gateway, upstream, key)).status).toBe(201);
  }
  return gateway;
}

function addAccount({ url }: Gateway, upstream: string, key: string): Promise<Response> {
  return fetch(`${url}/api/accounts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ upstream, kind: 'api-key', key, label: upstream }),
  });
}

const question = (content: string) => [{ role: 'user' as const, content }];

describe.runIf(litellm !== undefined)('LiteLLM in front of another service', () => {
  const MASTER_KEY = 'sk-master-of-litellm';
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-litellm-'));
  let sandbox: Sandbox;
  let program: ServerProgram;
  let gateway: Gateway;

  beforeAll(async () => {
    const clock = { now: () => Date.now(), sleep: async () => {} };
    const accounts = createDefaultAccounts();
    sandbox = createSandbox({ accounts, clock });
    const { url } = await sandbox.start();
    const key = accounts[0]?.key ?? '';
    const models: [name: string, model: string, base: string, key: string][] = [
      ['gpt-4.1', 'openai/gpt-4.1', `${url}/v1`, key],
      ['gpt-4o', 'openai/gpt-4o', `${url}/v1`, key],
      ['deepseek-reasoner', 'openai/deepseek-reasoner', `${url}/v1`, key],
      ['text-embedding-3-small', 'openai/text-embedding-3-small', `${url}/v1`, key],
      ['claude-sonnet-4-6', 'anthropic/claude-sonnet-4-6', url, key],
      ['with-a-wrong-key', 'openai/gpt-4.1', `${url}/v1`, 'wrong'],
      ['gone', 'openai/gpt-9', `${url}/v1`, key],
    ];
    const config = {
      model_list: models.map(([model_name, model, api_base, api_key]) => ({
        model_name,
        litellm_params: { model, api_base, api_key },
      })),
      general_settings: { master_key: MASTER_KEY },
      router_settings: { num_retries: 0, disable_cooldowns: true },
    };
    // YAML holds all of JSON.
    writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config));
    program = await startProgram(join(litellm ?? '', 'bin/litellm'), {
      args: (port) => ['--config', 'config.yaml', '--host', '127.0.0.1', '--port', String(port)],
      environment: { LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_TELEMETRY: 'False' },
      folder,
      ready: /Uvicorn running on/,
    });
    gateway = await startOver(
      {
        litellm: {
          profile: 'openai-compatible',
          base_url: `${program.url}/v1`,
          quirks: 'litellm',
        },
        'litellm-messages': { profile: 'messages', base_url: program.url },
      },
      MASTER_KEY,
    );
  }, 300_000);
  afterAll(async () => {
    await gateway?.close();
    await program?.stop();
    await sandbox?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const MODELS = ['litellm/gpt-4.1', 'litellm-messages/claude-sonnet-4-6'];
  const CASES = OFFICIAL_CLIENTS.flatMap((client) =>
    MODELS.map((model) => ({ client, model, name: client.name })),
  );

  test.each(CASES)('$name has an answer of $model, whole and as a stream', async (one) => {
    const { client, model } = one;
    const asked = { url: gateway.url, model };
    const told: Said[] = [
      await client.ask(asked, 'Hello', 200),
      await client.stream(asked, 'Hello', 200),
    ];
    for (const said of told) {
      expect(said.text).toContain('HELLO-FROM-UPSTREAM');
      expect(said.ending).toMatch(ENDS_WELL);
      expect(said.promptTokens).toBeGreaterThan(0);
      expect(said.answerTokens).toBeGreaterThan(0);
    }
  });

  test.each(CASES)(
    '$name has a tool called by $model, and answers with its result',
    async (one) => {
      const { client, model } = one;
      const prompt = `CALL-TOOL ${WEATHER.name} {"city":"Oslo"}`;
      const { input, text } = await client.useTool({ url: gateway.url, model }, prompt);
      expect(input).toEqual({ city: 'Oslo' });
      expect(text).toContain('It rains.');
    },
  );

  test.each(OFFICIAL_CLIENTS)(
    '$name goes on with a model that wants its thoughts back',
    async (client) => {
      const prompt = `CALL-TOOL ${WEATHER.name} {"city":"Oslo"}`;
      const asked = { url: gateway.url, model: 'litellm/deepseek-reasoner' };
      expect((await client.useTool(asked, prompt)).input).toEqual({ city: 'Oslo' });
    },
  );

  test('its models are listed', async () => {
    const ids: string[] = [];
    for await (const { id } of openaiAt(gateway.url).models.list()) ids.push(id);
    expect(ids).toEqual(expect.arrayContaining(['gpt-4.1', 'claude-sonnet-4-6', 'gone']));
  });

  test('thoughts and their signatures come through its Messages route', async () => {
    const message = await anthropicAt(gateway.url)
      .messages.stream({
        model: 'litellm-messages/claude-sonnet-4-6',
        max_tokens: 4000,
        thinking: { type: 'enabled', budget_tokens: 1024 },
        messages: question('Hello'),
      })
      .finalMessage();
    expect(message.content[0]).toMatchObject({ type: 'thinking', signature: expect.any(String) });
  });

  test('a strict schema and vectors go through', async () => {
    const { schema } = WEATHER;
    const completion = await openaiAt(gateway.url).chat.completions.create({
      model: 'litellm/gpt-4.1',
      response_format: { type: 'json_schema', json_schema: { name: 'a', strict: true, schema } },
      messages: question('Hello'),
    });
    expect(JSON.parse(completion.choices[0]?.message.content ?? '')).toHaveProperty('city');
    const vectors = await openaiAt(gateway.url).embeddings.create({
      ...{ model: 'litellm/text-embedding-3-small', input: ['a', 'b'], dimensions: 4 },
    });
    expect(vectors.data.map(({ embedding }) => embedding.length)).toEqual([4, 4]);
    expect(vectors.usage.prompt_tokens).toBe(2);
  });

  test('only who asked for it is told the usage of a stream', async () => {
    const stream = await openaiAt(gateway.url).chat.completions.create({
      ...{ model: 'litellm/gpt-4.1', stream: true, messages: question('Hello') },
    });
    for await (const { usage } of stream) expect(usage ?? null).toBeNull();
  });

  test.each([
    ['UPSTREAM-TOO-LONG', 400, /prompt is too long: 272001 tokens > 272000 maximum/],
    ['UPSTREAM-STATUS 503', 503, /overloaded/],
    ['UPSTREAM-STATUS 429', 429, /limit/],
  ])('a failure behind it is told as what it is: %s', async (prompt, status, message) => {
    const asking = openaiAt(gateway.url).chat.completions.create({
      ...{ model: 'litellm/gpt-4o', messages: question(prompt) },
    });
    await expect(asking).rejects.toMatchObject({ status, message: expect.stringMatching(message) });
  });

  test('a key that it has for one model and is refused is no fault of the account', async () => {
    const ask = (model: string) =>
      openaiAt(gateway.url).chat.completions.create({ model, messages: question('Hello') });
    await expect(ask('litellm/with-a-wrong-key')).rejects.toMatchObject({ status: 400 });
    await expect(ask('litellm/gone')).rejects.toMatchObject({ status: 404 });
    expect((await ask('litellm/gpt-4.1')).choices).toHaveLength(1);
  });

  test.each(['litellm', 'litellm-messages'])('a wrong key is told as one: %s', async (upstream) => {
    const refused = await addAccount(gateway, upstream, 'sk-wrong');
    expect(refused.status).toBe(400);
    expect(await refused.text()).toMatch(/credential|key/);
  });
});

describe.runIf(llama !== undefined)('the server of llama-cpp-python with a tiny model', () => {
  const KEY = 'key-of-the-server';
  const CONTEXT = 1024;
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-llama-'));
  let program: ServerProgram;
  let gateway: Gateway;
  const model = 'local/tiny';

  beforeAll(async () => {
    writeTinyModel(join(folder, 'tiny.gguf'), CONTEXT);
    const words = ['--model', 'tiny.gguf', '--model_alias', 'tiny', '--n_ctx', String(CONTEXT)];
    const { python = '', libraries = '' } = llama ?? {};
    program = await startProgram(python, {
      args: (port) => [
        ...['-m', 'llama_cpp.server', ...words, '--api_key', KEY],
        ...['--host', '127.0.0.1', '--port', String(port)],
      ],
      environment: { LLAMA_CPP_LIB_PATH: libraries },
      folder,
      ready: /Uvicorn running on/,
    });
    const quirks = 'llama-cpp-python';
    const upstream = { profile: 'openai-compatible', base_url: `${program.url}/v1`, quirks };
    gateway = await startOver({ local: upstream }, KEY);
  });
  afterAll(async () => {
    await gateway?.close();
    await program?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(OFFICIAL_CLIENTS)(
    '$name has an answer up to its limit, whole and as a stream',
    async (client) => {
      const asked = { url: gateway.url, model };
      const whole = await client.ask(asked, 'Hello', 8);
      expect(whole.text).not.toBe('');
      expect(whole.ending).toMatch(ENDS_AT_LIMIT);
      expect(whole.promptTokens).toBeGreaterThan(5);
      expect(whole.answerTokens).toBe(8);
      const stream = await client.stream(asked, 'Hello', 8);
      expect(stream.text).not.toBe('');
      expect(stream.ending).toMatch(ENDS_AT_LIMIT);
    },
  );

  test.each(OFFICIAL_CLIENTS)('$name has the one tool called that it names', async (client) => {
    const { input, text } = await client.useTool({ url: gateway.url, model }, 'Hello');
    expect(input).toHaveProperty('city');
    expect(text).not.toBe('');
  });

  test('an answer stops at a stop sequence', async () => {
    const ask = (stop: string[]) =>
      openaiAt(gateway.url).chat.completions.create({
        ...{ model, stop, max_tokens: 30, temperature: 0, messages: question('Hello') },
      });
    const free = (await ask([])).choices[0]?.message.content ?? '';
    const sign = free.slice(4, 6);
    const [choice] = (await ask([sign])).choices;
    expect(choice?.finish_reason).toBe('stop');
    expect(choice?.message.content).toBe(free.slice(0, free.indexOf(sign)));
  });

  test('log-probabilities come with an answer that asked for them', async () => {
    const { choices } = await openaiAt(gateway.url).chat.completions.create({
      ...{ model, max_tokens: 2, logprobs: true, top_logprobs: 2, messages: question('Hello') },
    });
    expect(choices[0]?.logprobs?.content).toMatchObject([
      { token: expect.any(String), top_logprobs: [{}, {}] },
      { logprob: expect.any(Number) },
    ]);
  });

  test('an answer keeps to its schema', async () => {
    const schema = {
      type: 'object',
      properties: { ok: { type: 'boolean' } },
      required: ['ok'],
      additionalProperties: false,
    };
    const { choices } = await openaiAt(gateway.url).chat.completions.create({
      ...{ model, max_tokens: 60, temperature: 0, messages: question('Hello') },
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
    });
    expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({ ok: expect.any(Boolean) });
  });

  test('a prompt that is too long is refused as one', async () => {
    const asking = anthropicAt(gateway.url).messages.create({
      ...{ model, max_tokens: 10, messages: question('word '.repeat(CONTEXT)) },
    });
    await expect(asking).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/prompt is too long/),
    });
  });

  test('a wrong key is told as one, and another name is not offered', async () => {
    const refused = await addAccount(gateway, 'local', 'wrong');
    expect(refused.status).toBe(400);
    expect(await refused.text()).toMatch(/credential|key/);
    const asking = openaiAt(gateway.url).chat.completions.create({
      ...{ model: 'local/other', messages: question('Hello') },
    });
    await expect(asking).rejects.toMatchObject({ status: 404 });
  });
});
