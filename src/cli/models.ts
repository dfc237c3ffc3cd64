// `isthmus models` and `isthmus route <name>`: the model list, and where a model name is routed.

import type { JsonObject } from '../lib/json.ts';
import { type CommandContext, objectsOf, plain, textOf, textsOf, writeTable } from './terminal.ts';

export async function listModels({ client, terminal, isJson }: CommandContext): Promise<void> {
  const body = await client.call({ method: 'GET', path: '/api/models' });
  if (isJson) return terminal.print(JSON.stringify(body, null, 2));
  const rows = objectsOf(body, 'models').map((model) => [
    textOf(model, 'id'),
    wayOf(model),
    textOf(model, 'inputTokenLimit'),
    textOf(model, 'outputTokenLimit'),
    abilitiesOf(model).join(', '),
  ]);
  terminal.print(writeTable(['model', 'goes to', 'input', 'output', 'can'], rows));
}

/** The target, and what the account calls it where that is another name. */
function wayOf(model: JsonObject): string {
  const [target, servedAs] = [textOf(model, 'target'), textOf(model, 'servedAs')];
  return servedAs === '' || servedAs === target ? target : `${target} (${servedAs})`;
}

function abilitiesOf(model: JsonObject): readonly string[] {
  return [
    ...(model.supportsThinking === true ? ['thinking'] : []),
    ...(model.drawsImages === true ? ['images'] : []),
    ...(textsOf(model, 'tasks').includes('embed') ? ['embeddings'] : []),
  ];
}

export async function explainRoute(
  { client, terminal, isJson }: CommandContext,
  name: string,
): Promise<void> {
  const path = `/api/route?model=${encodeURIComponent(name)}`;
  const body = await client.call({ method: 'GET', path });
  if (body.servedAs === null) terminal.setFailed();
  if (isJson) return terminal.print(JSON.stringify(body, null, 2));
  const target = textOf(body, 'target');
  const lines = objectsOf(body, 'steps').map((step) => `  ${textOf(step, 'text')}`);
  const extras = ['thinking', 'effort', 'image'].flatMap((field) =>
    textOf(body, field) === '' ? [] : [`  ${field}: ${textOf(body, field)}`],
  );
  if (body.webSearch === true) extras.push('  with web search');
  const head = target === '' ? `${name} goes nowhere` : `${name} → ${wayOf(body)}`;
  terminal.print([head, ...lines, ...extras].map(plain).join('\n'));
  if (textOf(body, 'error') !== '') terminal.note(plain(textOf(body, 'error')));
}
