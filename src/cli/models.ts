// `isthmus models` and `isthmus route <name>`: the model list, and where a model name is routed.

import type { JsonObject } from '../lib/json.ts';
import { type Context, objectsOf, plain, textOf, textsOf, writeTable } from './terminal.ts';

const COLUMNS = {
  model: 'id',
  'goes to': wayOf,
  input: 'inputTokenLimit',
  output: 'outputTokenLimit',
  can: sayAbilities,
};

export async function listModels({ client, terminal, answer }: Context): Promise<void> {
  const body = await client.call('GET', '/api/models');
  answer(body, () => terminal.print(writeTable(COLUMNS, objectsOf(body, 'models'))));
}

/** The target, and what the account calls it where that is another name. */
function wayOf(model: JsonObject): string {
  const [target, servedAs] = [textOf(model, 'target'), textOf(model, 'servedAs')];
  return servedAs === '' || servedAs === target ? target : `${target} (${servedAs})`;
}

function sayAbilities(model: JsonObject): string {
  const abilities = [
    ...(model.supportsThinking === true ? ['thinking'] : []),
    ...(model.drawsImages === true ? ['images'] : []),
    ...(textsOf(model, 'tasks').includes('embed') ? ['embeddings'] : []),
  ];
  return abilities.join(', ');
}

export async function explainRoute(
  { client, terminal, answer }: Context,
  name: string,
): Promise<void> {
  const body = await client.call('GET', `/api/route?model=${encodeURIComponent(name)}`);
  if (body.servedAs === null) terminal.setFailed();
  answer(body, () => {
    const lines = objectsOf(body, 'steps').map((step) => `  ${textOf(step, 'text')}`);
    const extras = ['thinking', 'effort', 'image'].flatMap((field) =>
      textOf(body, field) === '' ? [] : [`  ${field}: ${textOf(body, field)}`],
    );
    if (body.webSearch === true) extras.push('  with web search');
    const isNowhere = textOf(body, 'target') === '';
    const head = isNowhere ? `${name} goes nowhere` : `${name} → ${wayOf(body)}`;
    terminal.print([head, ...lines, ...extras].map(plain).join('\n'));
    if (textOf(body, 'error') !== '') terminal.note(plain(textOf(body, 'error')));
  });
}
