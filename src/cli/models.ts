// `isthmus models` and `isthmus route`.

import { type AddCommand, gatewayCommand } from './command.ts';

const commands = () => import('./admin-commands.ts');

const COMMANDS: readonly AddCommand[] = [
  gatewayCommand({
    name: 'models',
    description: 'list the models clients may ask for',
    load: async () => (await commands()).listModels,
  }),
  gatewayCommand({
    name: 'route',
    description: 'explain where a model name goes',
    argument: ['<name>', 'a model name as a client would send it'],
    load: async () => (await commands()).explainRoute,
  }),
];

export const addModelCommands: AddCommand = (program, parts) => {
  for (const add of COMMANDS) add(program, parts);
};
