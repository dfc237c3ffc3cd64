// `isthmus models` and `isthmus route`: which models clients may ask for, and where a name goes.

import type { JsonObject } from '../lib/json.ts';
import { type AddCommand, type Context, gatewayCommand } from './command.ts';
import { objectsOf, plain, textOf, textsOf, writeTable } from './terminal.ts';

export const addModels: AddCommand = gatewayCommand({
  name: 'models',
  description: 'list the models clients may ask for',
  load: async () => listModels,
});

export const addRoute: AddCommand = gatewayCommand({
  name: 'route',
  description: 'explain where a model name goes',
  argument: ['<name>', 'a model name as a client would send it'],
  load: async () => explainRoute,
});

const MODEL_COLUMNS = {
  model: 'id',
  'goes to': wayOf,
  input: 'inputTokenLimit',
  output: 'outputTokenLimit',
  can: sayAbilities,
};

async function listModels({ client, terminal, answer }: Context): Promise<void> {
  const body = await client.call('GET', '/api/models');
  answer(body, () => terminal.print(writeTable(MODEL_COLUMNS, objectsOf(body, 'models'))));
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

async function explainRoute({ client, terminal, answer }: Context, name: string): Promise<void> {
  const body = await client.call('GET', `/api/route?model=${encodeURIComponent(name)}`);
  if (body.servedAs === null) terminal.setFailed();
  answer(body, () => {
    const lines = objectsOf(body, 'steps').map((step) => `  ${textOf(step, 'text')}`);
    const extras = ['thinking', 'effort', 'image'].flatMap((field) =>
      textOf(body, field) === '' ? [] : [`  ${field}: ${textOf(body, field)}`],
    );
    if (body.webSearch === true) extras.push('  with web search');
    const isNowhere = textOf(body, 'target') === '';
    const head = isNowhere ? `${name} is unknown` : `${name} → ${wayOf(body)}`;
    terminal.print([head, ...lines, ...extras].map(plain).join('\n'));
    if (textOf(body, 'error') !== '') terminal.note(plain(textOf(body, 'error')));
  });
}
