// The official client of images against the whole gateway: drawing, editing, and what is refused.

import OpenAI, { BadRequestError, toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';
import { refusalOf } from '../support/official-clients.ts';
import { colorAt, IMAGE_MODEL, pictureOf, pixelsOf, pngFile, unpack } from '../support/pictures.ts';
import { PNG } from '../support/prompts.ts';

let app: TestApp;
let client: OpenAI;

beforeAll(async () => {
  app = await startApp({ environment: STRICT });
  client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: KEY, maxRetries: 0 });
});
afterAll(() => app.close());

describe('drawing', () => {
  test('a prompt is drawn as a PNG, with usage', async () => {
    const answer = await client.images.generate({ model: IMAGE_MODEL, prompt: 'A red boat' });
    expect(answer.created).toBeGreaterThan(1_700_000_000);
    expect(answer.output_format).toBe('png');
    expect(unpack(answer.data?.[0]?.b64_json)).toMatchObject({ width: 1024, height: 1024 });
    expect(answer.data?.[0]?.url).toBeUndefined();
    expect(answer.usage?.output_tokens).toBeGreaterThanOrEqual(1120);
    expect(answer.usage?.total_tokens).toBe(
      (answer.usage?.input_tokens ?? 0) + (answer.usage?.output_tokens ?? 0),
    );
  });

  test('V137 with response_format url the image is a data URI', async () => {
    const answer = await client.images.generate({
      model: IMAGE_MODEL,
      prompt: 'A red boat',
      response_format: 'url',
    });
    const [, base64] = answer.data?.[0]?.url?.split('data:image/png;base64,') ?? [];
    expect(pixelsOf(base64)).toEqual([1024, 1024]);
    expect(answer.data?.[0]?.b64_json).toBeUndefined();
  });

  test.each([
    ['1280x720', [1376, 768]],
    ['720x1280', [768, 1376]],
    ['800x600', [1200, 896]],
    ['600x800', [896, 1200]],
    ['2560x1080', [1584, 672]],
    ['1024x1024', [1024, 1024]],
    ['16:9', [1376, 768]],
    ['2:3', [848, 1264]],
    ['invalid', [1024, 1024]],
    ['1920x0', [1024, 1024]],
    ['abc x def', [1024, 1024]],
    ['auto', [1024, 1024]],
  ])('V130 the size %s has its ratio in pixels', async (size, pixels) => {
    expect(await draw({ size })).toEqual(pixels);
  });

  test.each([
    [{ quality: 'hd' }, 4096],
    [{ quality: 'medium' }, 2048],
    [{ quality: 'standard' }, 1024],
    [{ quality: 'standard', imageSize: '4K' }, 4096],
    [{ imageSize: '2K', model: `${IMAGE_MODEL}-4k` }, 2048],
    [{ quality: 'standard', model: `${IMAGE_MODEL}-4k` }, 1024],
  ])('V132 %j is drawn with sides of %d pixels', async (fields, side) => {
    expect(await draw(fields)).toEqual([side, side]);
  });

  test.each([
    ['-16x9-4k', [5504, 3072]],
    ['-4k-16-9', [5504, 3072]],
    ['-21-9-4k', [6336, 2688]],
    ['-9-16', [768, 1376]],
    ['-hd', [4096, 4096]],
    ['-2k', [2048, 2048]],
  ])('V133 the model name may end in %s', async (suffix, pixels) => {
    expect(await draw({ model: IMAGE_MODEL + suffix })).toEqual(pixels);
    const [call] = (await app.sandbox.requests()).slice(-1);
    expect(call?.path).toContain(`/${IMAGE_MODEL}:`);
  });

  test('a size that cannot be read is noted', async () => {
    const { response } = await client.images
      .generate({ model: IMAGE_MODEL, prompt: 'A red boat', size: 'invalid' })
      .withResponse();
    expect(response.headers.get('x-isthmus-receipt')).toContain('approximated=1');
  });

  test.each([
    ['1024x1024', false],
    ['1280x720', false],
    ['1536x1024', true],
    ['2048x2048', true],
  ] as const)(
    'a size that is drawn otherwise is noted, and not told as drawn: %s',
    async (size, isNoted) => {
      const asked = { model: IMAGE_MODEL, prompt: 'A red boat', size };
      const { data, response } = await client.images.generate(asked).withResponse();
      const noted = 'dropped=0;approximated=1;repaired=0';
      expect(response.headers.get('x-isthmus-receipt')).toBe(isNoted ? noted : null);
      expect(data.size).toBe(isNoted ? undefined : size);
    },
  );

  test('P112 a size in the request wins over the model name, which fills in what it leaves open', async () => {
    expect(await draw({ model: `${IMAGE_MODEL}-16-9-2k`, size: '1:1' })).toEqual([2048, 2048]);
    expect(await draw({ model: `${IMAGE_MODEL}-16-9-2k` })).toEqual([2752, 1536]);
  });

  test('P117 a client that names no image model of ours is served by one', async () => {
    for (const model of ['dall-e-3', 'gpt-image-1']) {
      expect(await draw({ model })).toEqual([1024, 1024]);
    }
    const answer = await client.images.generate({ prompt: 'A red boat' });
    expect(pixelsOf(answer.data?.[0]?.b64_json)).toEqual([1024, 1024]);
  });

  test('four images are four calls upstream', async () => {
    const answer = await client.images.generate({ model: IMAGE_MODEL, prompt: 'A red boat', n: 4 });
    expect(answer.data).toHaveLength(4);
    const calls = (await app.sandbox.requests()).slice(-4);
    expect(calls.map(({ path }) => String(path).includes(IMAGE_MODEL))).toEqual(
      Array(4).fill(true),
    );
    expect(answer.usage?.output_tokens).toBeGreaterThanOrEqual(4 * 1120);
  });

  test('the same prompt gives the same picture, another one another', async () => {
    const [first, same, other] = await Promise.all(
      ['A red boat', 'A red boat', 'A blue boat'].map((prompt) =>
        client.images.generate({ model: IMAGE_MODEL, prompt }),
      ),
    );
    expect(same?.data?.[0]?.b64_json).toBe(first?.data?.[0]?.b64_json);
    expect(other?.data?.[0]?.b64_json).not.toBe(first?.data?.[0]?.b64_json);
  });

  test('a stream ends with one completed event an image', async () => {
    const stream = await client.images.generate({
      model: IMAGE_MODEL,
      prompt: 'A red boat',
      size: '1536x1024',
      stream: true,
    });
    const events = await Array.fromAsync(stream);
    expect(events.map(({ type }) => type)).toEqual(['image_generation.completed']);
    expect(pixelsOf(events[0]?.b64_json)).toEqual([1024, 1024]);
    expect(events[0]).toMatchObject({ output_format: 'png', size: 'auto' });
  });

  test.each([0, 1, 2, 3])('a stream shows up to %d unfinished images before it', async (most) => {
    const stream = await client.images.generate({
      model: IMAGE_MODEL,
      prompt: 'A red boat',
      size: '1280x720',
      partial_images: most,
      stream: true,
    });
    const events = await Array.fromAsync(stream);
    const drafts = events.filter(({ type }) => type === 'image_generation.partial_image');
    expect(drafts).toHaveLength(Math.min(most, 2));
    expect(events.at(-1)?.type).toBe('image_generation.completed');
    expect(events).toHaveLength(drafts.length + 1);
    expect(
      drafts.map((event) => 'partial_image_index' in event && event.partial_image_index),
    ).toEqual(drafts.map((_event, index) => index));
    for (const { b64_json } of events) expect(pixelsOf(b64_json)).toEqual([1376, 768]);
    expect(new Set(events.map(({ b64_json }) => b64_json)).size).toBe(events.length);
  });

  test('every one of several images has its own unfinished ones', async () => {
    const stream = await client.images.generate({
      model: IMAGE_MODEL,
      prompt: 'A red boat',
      n: 2,
      partial_images: 1,
      stream: true,
    });
    const events = await Array.fromAsync(stream);
    const types = events.map(({ type }) => type.split('.')[1]);
    expect(types).toEqual(['partial_image', 'completed', 'partial_image', 'completed']);
    const alone = await client.images.generate({ model: IMAGE_MODEL, prompt: 'A red boat' });
    for (const event of events) {
      const least = 1.5 * (alone.usage?.output_tokens ?? 0);
      if ('usage' in event) expect(event.usage.output_tokens).toBeLessThan(least);
    }
  });

  test('several images can be streamed', async () => {
    const stream = await client.images.generate({
      model: IMAGE_MODEL,
      prompt: 'A red boat',
      n: 2,
      stream: true,
    });
    expect(await Array.fromAsync(stream)).toHaveLength(2);
  });
});

describe('drawing in a response', () => {
  test('the tool says how large, and shows unfinished pictures in a stream', async () => {
    const run = client.responses.stream({
      model: IMAGE_MODEL,
      input: 'A red boat',
      tools: [{ type: 'image_generation', size: '1536x864', quality: 'auto', partial_images: 2 }],
    });
    const partials: string[] = [];
    run.on('response.image_generation_call.partial_image', ({ partial_image_b64 }) => {
      partials.push(partial_image_b64);
    });
    const { output } = await run.finalResponse();
    const pictures = output.flatMap((item) =>
      item.type === 'image_generation_call' ? [item.result ?? ''] : [],
    );
    expect([...partials, ...pictures].map((base64) => pixelsOf(base64))).toEqual([
      [1376, 768],
      [1376, 768],
      [1376, 768],
    ]);
  });

  test('a drawing is changed by its id, behind the words that say how', async () => {
    const first = await client.responses.create({ model: IMAGE_MODEL, input: 'A red boat' });
    const drawing = first.output.find(({ type }) => type === 'image_generation_call');
    const input = [
      { role: 'user', content: 'Make it blue.' },
      { type: 'image_generation_call', id: drawing?.id },
    ];
    const answer = await client.post<OpenAI.Responses.Response>('/responses', {
      body: { model: IMAGE_MODEL, input },
    });
    expect(JSON.stringify(answer.output)).toContain('from a picture');
    const gone = [
      { role: 'user', content: 'Make it blue.' },
      { ...input[1], id: 'ig_gone' },
    ];
    const error = await refusalOf(
      client.post('/responses', { body: { model: IMAGE_MODEL, input: gone } }),
    );
    expect(error).toMatchObject({ status: 400, param: 'input[1].id' });
  });

  test('a model that does not draw leaves the tool out, and says so', async () => {
    const { data, response } = await client.responses
      .create({ model: 'alpha-3-flash', input: 'Hi', tools: [{ type: 'image_generation' }] })
      .withResponse();
    expect(data.status).toBe('completed');
    expect(response.headers.get('x-isthmus-receipt')).toContain('dropped=1');
  });

  test('a picture that is demanded is drawn, or refused by a model that draws none', async () => {
    const ask = (model: string) =>
      client.responses.create({
        model,
        input: 'A red boat',
        tools: [{ type: 'image_generation' }],
        tool_choice: { type: 'image_generation' },
      });
    const { output } = await ask(IMAGE_MODEL);
    expect(output.map(({ type }) => type)).toContain('image_generation_call');
    const error = await refusalOf(ask('alpha-3-flash'));
    expect(error).toMatchObject({ status: 400, param: 'tool_choice' });
    expect(error.message).toContain('/v1/images/generations');
  });
});

describe('editing', () => {
  test('P120 pictures of any kind are sent with the type of their bytes', async () => {
    const webp = Buffer.concat([Buffer.from('RIFF0000WEBPVP8 '), Buffer.alloc(8)]);
    const answer = await client.images.edit({
      model: IMAGE_MODEL,
      prompt: 'Add a hat',
      image: [await pngFile('one.png'), await toFile(webp, 'two.png', { type: 'image/png' })],
    });
    expect(pixelsOf(answer.data?.[0]?.b64_json)).toEqual([1264, 848]);
    expect(await lastPrompt()).toMatchObject([
      { inlineData: { mimeType: 'image/png', data: PNG } },
      { inlineData: { mimeType: 'image/webp' } },
      { text: 'Add a hat' },
    ]);
  });

  test('one picture is an edit, and its answer is made from it', async () => {
    const edit = async (color: readonly [number, number, number]) => {
      const image = await toFile(pictureOf(color), 'input.png', { type: 'image/png' });
      return client.images.edit({ model: IMAGE_MODEL, prompt: 'x', image, n: 2 });
    };
    const answer = await edit([255, 0, 0]);
    expect(answer.data).toHaveLength(2);
    const { input_tokens: whole, input_tokens_details: parts } = answer.usage ?? {};
    expect(parts?.image_tokens).toBeGreaterThan(0);
    expect(whole).toBe((parts?.image_tokens ?? 0) + (parts?.text_tokens ?? 0));
    const colorOf = ({ data }: OpenAI.ImagesResponse) => colorAt(unpack(data?.[0]?.b64_json), 0, 0);
    const plain = await client.images.generate({ model: IMAGE_MODEL, prompt: 'x' });
    const colors = [answer, await edit([0, 0, 255]), plain].map((one) => colorOf(one).join());
    expect(new Set(colors).size).toBe(3);
  });

  test('a mask goes along as a picture with an instruction, and the answer says so', async () => {
    const { data, response } = await client.images
      .edit({
        model: IMAGE_MODEL,
        prompt: 'Add a hat',
        image: await pngFile('one.png'),
        mask: await pngFile('mask.png'),
        size: '1024x1024',
      })
      .withResponse();
    expect(pixelsOf(data.data?.[0]?.b64_json)).toEqual([1024, 1024]);
    expect(await lastPrompt()).toHaveLength(4);
    expect(response.headers.get('x-isthmus-receipt')).toContain('approximated=1');
  });

  test('an edit may come as JSON, with its picture by address', async () => {
    const images = [{ image_url: `data:image/png;base64,${PNG}` }];
    const body = { model: IMAGE_MODEL, prompt: 'Add a hat', images };
    const answer = await client.post<OpenAI.ImagesResponse>('/images/edits', { body });
    expect(pixelsOf(answer.data?.[0]?.b64_json)).toEqual([1264, 848]);
  });

  test('a streamed edit shows unfinished images when asked', async () => {
    const stream = await client.images.edit({
      model: IMAGE_MODEL,
      image: await pngFile('one.png'),
      prompt: 'Make it blue',
      partial_images: 1,
      stream: true,
    });
    const types = (await Array.fromAsync(stream)).map(({ type }) => type);
    expect(types).toEqual(['image_edit.partial_image', 'image_edit.completed']);
  });

  test('an edit can be streamed', async () => {
    const stream = await client.images.edit({
      model: IMAGE_MODEL,
      prompt: 'Add a hat',
      image: await pngFile('one.png'),
      stream: true,
    });
    const events = await Array.fromAsync(stream);
    expect(events.map(({ type }) => type)).toEqual(['image_edit.completed']);
  });

  test('P112 the empty fields of a form leave the model name its say', async () => {
    const form = new FormData();
    form.set('image', await pngFile('one.png'));
    form.set('prompt', 'x');
    form.set('model', `${IMAGE_MODEL}-16-9`);
    for (const key of ['size', 'quality', 'imageSize', 'n', 'response_format', 'stream']) {
      form.set(key, '');
    }
    const answer = await fetch(`${app.url}/v1/images/edits`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}` },
      body: form,
    });
    expect(answer.status).toBe(200);
    const { data } = z
      .object({ data: z.array(z.object({ b64_json: z.string() })) })
      .parse(await answer.json());
    expect(data.map(({ b64_json }) => pixelsOf(b64_json))).toEqual([[1376, 768]]);
  });

  test('V138 an edit without a prompt or without a picture is refused', async () => {
    const image = await pngFile('one.png');
    await expectRefusal(client.images.edit({ model: IMAGE_MODEL, prompt: '', image }), 'prompt');
    await expectRefusal(
      client.images.edit({ model: IMAGE_MODEL, prompt: 'x', image: [] }),
      'image',
    );
  });

  test('what is no picture is refused', async () => {
    const image = await toFile(Buffer.from('%PDF-1.4'), 'a.pdf', { type: 'application/pdf' });
    await expectRefusal(client.images.edit({ model: IMAGE_MODEL, prompt: 'x', image }), 'image');
  });

  test('variations are refused with the way out', async () => {
    const image = await pngFile('one.png');
    const error = await refusalOf(client.images.createVariation({ image }));
    expect(error).toBeInstanceOf(BadRequestError);
    expect(String(error)).toContain('/v1/images/edits');
  });
});

describe('what cannot be drawn', () => {
  test.each([
    [{ prompt: '' }, 'prompt'],
    [{ n: 11 }, 'n'],
    [{ n: 0 }, 'n'],
    [{ size: '5:7' }, 'size'],
    [{ quality: 'best' }, 'quality'],
    [{ imageSize: '8K' }, 'imageSize'],
    [{ response_format: 'jpeg' }, 'response_format'],
  ])('%j is refused by the name of the field', async (fields, field) => {
    await expectRefusal(post({ model: IMAGE_MODEL, prompt: 'x', ...fields }), field);
  });

  test('a size of another type and an unknown end of a model name are refused', async () => {
    await expectRefusal(post({ model: IMAGE_MODEL, prompt: 'x', size: 1024 }), 'size');
    const error = await refusalOf(post({ model: `${IMAGE_MODEL}-huge`, prompt: 'x' }));
    expect([400, 404]).toContain(error.status);
    expect(error.message).toContain(`${IMAGE_MODEL}-huge`);
  });

  test('a model that only writes says so', async () => {
    const error = await refusalOf(post({ model: 'alpha-3-flash', prompt: 'x' }));
    expect(error.status).toBe(400);
    expect(error.message).toMatch(/image/i);
  });

  test('a refusal of the model is a content policy violation', async () => {
    const error = await refusalOf(
      post({ model: IMAGE_MODEL, prompt: 'UPSTREAM-BLOCK IMAGE_SAFETY' }),
    );
    expect(error).toMatchObject({ status: 400, code: 'content_policy_violation' });
    const ended = await refusalOf(
      post({ model: IMAGE_MODEL, prompt: 'UPSTREAM-FINISH IMAGE_SAFETY' }),
    );
    expect(ended).toMatchObject({ status: 400, code: 'content_policy_violation' });
  });
});

/** The pixels of one image by the fields of its request. */
async function draw(fields: JsonObject): Promise<readonly number[]> {
  const body = await post({ model: IMAGE_MODEL, prompt: 'A red boat', ...fields });
  return pixelsOf(body.data?.[0]?.b64_json);
}

async function post(body: JsonObject): Promise<OpenAI.ImagesResponse> {
  return client.post('/images/generations', { body });
}

async function expectRefusal(call: Promise<unknown>, field: string): Promise<void> {
  const error = await refusalOf(call);
  expect(error).toBeInstanceOf(BadRequestError);
  expect(error.param).toBe(field);
}

/** The parts of the last user turn the sandbox received. */
async function lastPrompt(): Promise<unknown> {
  const [call] = (await app.sandbox.requests()).slice(-1);
  const body = call?.body;
  const contents = isJsonObject(body) && Array.isArray(body.contents) ? body.contents : [];
  const last = contents.at(-1);
  return isJsonObject(last) ? last.parts : undefined;
}
