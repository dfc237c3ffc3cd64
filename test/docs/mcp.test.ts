// The program of docs/mcp.md works, and the page names the tools there are.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { VISION_TOOLS } from '../../src/mcp/vision.ts';
import { startApp } from '../support/app.ts';
import { startMcpProvider } from '../support/mcp-provider.ts';
import { runProgram } from '../support/run-program.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/mcp.md'), 'utf8');

test('the page names every tool and no other', () => {
  const named = [...PAGE.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  expect(named).toEqual(VISION_TOOLS.map(({ name }) => name));
});

test('its program has a picture looked at', async () => {
  const provider = await startMcpProvider();
  const mcp = { enabled: true, vision_enabled: true };
  const extprov = { enabled: true, base_url: provider.url, api_key: 'provider-key', mcp };
  const app = await startApp({ file: { proxy: { extprov } } });
  const [, code = ''] = /```javascript\n(.*?)```/s.exec(PAGE) ?? [];
  const program = code.replaceAll('http://127.0.0.1:8045', app.url);
  const said = await runProgram(process.execPath, ['--input-type=module', '-e', program]);
  expect(said.trim()).toBe('A small red square.');
  await app.close();
  await provider.close();
});
