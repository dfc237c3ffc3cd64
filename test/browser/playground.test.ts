// The playground as people stay in it: Markdown, files, tools, two models, another answer, edited requests.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { evaluate } from '../console/open-view.ts';
import { type ConsoleApp, isWithoutBrowser, startConsole } from './console-app.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const HOSTILE = [
  '# Title\n\nSome **bold** <img src=x onerror=alert(1)> and [bad](javascript:alert(2)), ',
  '[good](https://example.org/a), ![spy](https://example.org/spy.png)\n\n<script>alert(3)</script>\n\n',
  '```ts\nconst a = "<b>";\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n',
];

const text = (content: string) => ({ choices: [{ delta: { content } }] });

/** Answers each request to the Chat route with the next of these, and notes what was sent. */
async function answerWith(page: Page, answers: readonly (readonly object[])[]) {
  const bodies: Record<string, unknown>[] = [];
  await page.route('**/v1/chat/completions', async (route: Route) => {
    const chunks = answers[bodies.length] ?? [text('Done.')];
    bodies.push(JSON.parse(route.request().postData() ?? '{}'));
    const events = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'];
    await route.fulfill({
      contentType: 'text/event-stream',
      body: events.map((event) => `data: ${event}\n\n`).join(''),
    });
  });
  return bodies;
}

describe.skipIf(isWithoutBrowser)('the playground', () => {
  let console: ConsoleApp;
  beforeAll(async () => {
    console = await startConsole();
  });
  afterEach(() => expect(console.problems).toEqual([]));
  afterAll(() => console?.close());

  const open = async (): Promise<Page> => {
    const page = await console.open('/playground');
    await page.getByRole('combobox', { name: 'Model', exact: true }).fill('alpha-3-flash');
    await page.keyboard.press('Escape');
    return page;
  };
  const say = async (page: Page, words: string): Promise<void> => {
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill(words);
    // Before the page knows the model, Enter sends nothing.
    await page.getByRole('button', { name: 'Send', exact: true, disabled: false }).waitFor();
    await page.keyboard.press('Enter');
  };

  test('an answer is shown as Markdown, its code is copied, and no markup of it is ever used', async () => {
    const page = await open();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const outside: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(console.url)) outside.push(request.url());
    });
    await answerWith(page, [HOSTILE.map(text)]);
    await say(page, 'Hello');
    const answer = page.locator('.markdown');
    await answer.getByRole('heading', { name: 'Title' }).waitFor();
    await answer.getByText('<script>alert(3)</script>').waitFor();
    await answer.getByText('<img src=x onerror=alert(1)>').waitFor();
    expect(await answer.locator('img, script').count()).toBe(0);
    expect(await answer.locator('a').count()).toBe(2);
    expect(await answer.locator('a[href^="https://example.org/"]').count()).toBe(2);
    await answer.getByRole('cell', { name: '2' }).waitFor();
    await answer.getByRole('button', { name: 'Copy the code' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('const a = "<b>";');
    expect(outside).toEqual([]);
  });

  test('code has its syntax in colours that read in both themes, and is text whatever it says', async () => {
    const page = await open();
    const code = '<!-- a -->\n<img src=x onerror="alert(1)"></code>';
    await answerWith(page, [
      [
        text('```python\ndef f(n):\n    return "a" * 3  # b\n```\n\n'),
        text(`~~~html\n${code}\n~~~\n\n`),
        text('```diff\n-a\n+b\n```\n\n```klingon\nlet a = 1;\n```\n\n'),
        // Until a block has its end, more of it may come.
        text('```ts\nconst b = 1;'),
      ],
    ]);
    await say(page, 'Hello');
    const blocks = page.locator('.markdown pre');
    await blocks.locator('.code-keyword', { hasText: 'return' }).waitFor();
    await blocks.locator('.code-string', { hasText: '"a"' }).waitFor();
    await blocks.locator('.code-comment', { hasText: '# b' }).waitFor();
    await blocks.locator('.code-diff-add', { hasText: '+b' }).waitFor();
    await blocks.locator('.code-entity', { hasText: 'img' }).waitFor();
    expect(await blocks.nth(1).textContent()).toBe(code);
    expect(await page.locator('.markdown img').count()).toBe(0);
    for (const [index, plain] of [
      [3, 'let a = 1;'],
      [4, 'const b = 1;'],
    ] as const) {
      expect(await blocks.nth(index).textContent()).toBe(plain);
      expect(await blocks.nth(index).locator('span').count()).toBe(0);
    }
    await page.getByRole('tab', { name: 'Request' }).click();
    const raw = page.getByRole('region', { name: 'Raw request' });
    await raw.locator('.code-property', { hasText: '"model"' }).waitFor();
    await raw.locator('.code-string', { hasText: '"alpha-3-flash"' }).waitFor();
    await evaluate(page, AXE);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
      const found = await evaluate(
        page,
        `axe.run({ include: [['.markdown'], ['.text-view']] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))`,
      );
      expect(found).toEqual([]);
    }
  });

  test('below an answer stand its tokens, its times and its cost; another one is asked for, and a message said otherwise', async () => {
    const page = await open();
    await say(page, 'Name a river.');
    const foot = page.locator('.answer-foot');
    await foot.getByText(/^\d+ in$/).waitFor();
    await foot.getByText(/^First token /).waitFor();
    await page.getByRole('button', { name: 'Regenerate' }).click();
    await expect
      .poll(async () => (await console.control('GET', '/sandbox/requests')).requests)
      .toHaveLength(2);
    await foot.getByText(/^\d+ out$/).waitFor();
    await page.getByRole('button', { name: 'Edit message' }).click();
    await page.getByRole('textbox', { name: 'Edit message' }).fill('Name a lake.');
    await page.locator('.turn-edit').getByRole('button', { name: 'Send' }).click();
    await page.locator('.turn.is-user', { hasText: 'Name a lake.' }).waitFor();
    await foot.getByText(/^\d+ out$/).waitFor();
    expect(await page.locator('.turn.is-user').count()).toBe(1);
    await page.reload();
    await page.locator('.turn.is-user', { hasText: 'Name a lake.' }).waitFor();
    expect(await page.locator('.turn.is-assistant').count()).toBe(1);
  });

  test('a picture and a text go along with a message, also pasted; what the protocol takes not is told', async () => {
    const page = await open();
    const bodies = await answerWith(page, []);
    const picture = {
      name: 'dot.png',
      mimeType: 'image/png',
      buffer: Buffer.from('iVBORw0KGgo=', 'base64'),
    };
    const words = { name: 'notes.md', mimeType: '', buffer: Buffer.from('# Notes') };
    const zip = { name: 'all.zip', mimeType: 'application/zip', buffer: Buffer.from([0x50, 0, 3]) };
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Attach files' }).click();
    await (await chooser).setFiles([picture, words, zip]);
    await page.getByText('This protocol does not take: all.zip').waitFor();
    await page.evaluate(`(() => {
      const data = new DataTransfer();
      data.items.add(new File(['pasted'], 'pasted.txt', { type: 'text/plain' }));
      const field = document.querySelector('.prompt-text textarea');
      field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    })()`);
    await page.getByText('pasted.txt').waitFor();
    await page.getByRole('button', { name: 'Remove pasted.txt' }).click();
    await say(page, 'What is this?');
    await page.locator('.markdown', { hasText: 'Done.' }).waitFor();
    const [{ messages } = { messages: undefined }] = bodies;
    expect(messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
          { type: 'text', text: 'notes.md:\n\n# Notes' },
          { type: 'text', text: 'What is this?' },
        ],
      },
    ]);
  });

  test('a call of a tool is shown, its result is typed in, and the model goes on', async () => {
    const page = await open();
    const call = { id: 'call_1', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } };
    const bodies = await answerWith(page, [
      [{ choices: [{ delta: { tool_calls: [call] } }] }],
      [text('It rains.')],
    ]);
    const tools = page.getByRole('textbox', { name: 'Tools' });
    await tools.fill('[{');
    await page.getByText('Not a JSON list of functions').waitFor();
    await tools.fill('[{"name":"get_weather","parameters":{"type":"object"}}]');
    await say(page, 'How is the weather?');
    await page.getByText('Tool call get_weather').waitFor();
    await page.getByRole('textbox', { name: 'Result of get_weather' }).fill('rain');
    await page.getByRole('button', { name: 'Send results' }).click();
    await page.locator('.markdown', { hasText: 'It rains.' }).waitFor();
    expect(bodies[0]).toMatchObject({ tools: [{ function: { name: 'get_weather' } }] });
    expect(bodies[1]).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant', tool_calls: [{ id: 'call_1' }] },
        { role: 'tool', tool_call_id: 'call_1', content: 'rain' },
      ],
    });
  });

  test('two models answer side by side, and each has its wire', async () => {
    const page = await open();
    const bodies = await answerWith(page, [[text('One.')], [text('Two.')]]);
    await page.getByRole('switch', { name: 'Compare two models' }).check({ force: true });
    await say(page, 'Hello');
    await page.getByText('Choose a second model first.').waitFor();
    await page.getByRole('combobox', { name: 'Second model' }).fill('alpha-3-pro-high');
    await page.keyboard.press('Escape');
    await say(page, 'Hello');
    await page
      .getByRole('region', { name: 'Conversation with alpha-3-flash' })
      .getByText(/One|Two/)
      .waitFor();
    await page
      .getByRole('region', { name: 'Conversation with alpha-3-pro-high' })
      .getByText(/One|Two/)
      .waitFor();
    expect(bodies.map(({ model }) => model).sort()).toEqual(['alpha-3-flash', 'alpha-3-pro-high']);
    const wires = page.getByRole('radiogroup', { name: 'Raw request and response of' });
    await wires.getByText('alpha-3-pro-high').click();
    await page.getByRole('tab', { name: 'Request' }).click();
    await page.getByRole('tabpanel').getByText('"model": "alpha-3-pro-high"').waitFor();
  });

  test('a request is sent again as somebody edited its JSON', async () => {
    const page = await open();
    const bodies = await answerWith(page, [[text('One.')], [text('Two.')]]);
    await say(page, 'Hello');
    await page.getByText('One.').first().waitFor();
    await page.getByRole('tab', { name: 'Request' }).click();
    await page.getByRole('button', { name: 'Edit and send again' }).click();
    const body = page.getByRole('textbox', { name: 'Request body (JSON)' });
    await body.fill('{"model":');
    await page.getByText('Not a JSON object').waitFor();
    expect(await page.getByRole('button', { name: 'Send as edited' }).isDisabled()).toBe(true);
    await body.fill('{"model":"m","messages":[],"top_k":7}');
    await page.getByRole('button', { name: 'Send as edited' }).click();
    await page.locator('.markdown', { hasText: 'Two.' }).waitFor();
    await page.getByText('Sent as edited JSON').waitFor();
    expect(bodies[1]).toEqual({ model: 'm', messages: [], top_k: 7 });
  });
});
