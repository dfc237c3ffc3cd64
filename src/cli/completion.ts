// `isthmus completion`: scripts for bash, zsh and fish, which ask the program itself for the words that fit.

import { Argument } from 'commander';
import { CODING_CLIENTS, SDK_VARIABLES } from '../clients/coding-clients.ts';
import { type AddCommand, type CliCommand, type LocalContext, localCommand } from './command.ts';
import { CommandError } from './exit-codes.ts';
import { objectsOf, plain, textOf } from './terminal.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** Given the words so far, the last of them unfinished; prints one that fits a line. */
const COMPLETE = 'complete-words';

const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# isthmus completion bash > ~/.local/share/bash-completion/completions/isthmus
_isthmus() {
  local IFS=$'\\n' at
  COMPREPLY=($(isthmus ${COMPLETE} -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  for at in "\${!COMPREPLY[@]}"; do COMPREPLY[at]=$(printf %q "\${COMPREPLY[at]}"); done
  if [ \${#COMPREPLY[@]} -eq 0 ]; then COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")); fi
}
complete -F _isthmus isthmus`,
  zsh: `#compdef isthmus
# isthmus completion zsh > "\${fpath[1]}/_isthmus"
_isthmus() {
  local -a found
  found=("\${(@f)$(isthmus ${COMPLETE} -- "\${words[@]:1:$((CURRENT - 1))}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -- "\${found[@]}"; else _files; fi
}
if [[ "$funcstack[1]" = _isthmus ]]; then _isthmus "$@"; else compdef _isthmus isthmus; fi`,
  fish: `# isthmus completion fish > ~/.config/fish/completions/isthmus.fish
function __isthmus_words
  set -l words (commandline -opc)
  set -l last (commandline -ct)
  set -l found (isthmus ${COMPLETE} -- $words[2..-1] "$last" 2>/dev/null)
  if set -q found[1]; printf '%s\\n' $found; else; __fish_complete_path (commandline -ct); end
end
complete -c isthmus -f -a '(__isthmus_words)'`,
};

export const addCompletionCommands: AddCommand = (program, parts) => {
  localCommand({
    name: 'completion',
    description: 'print a script that completes commands, flags, accounts, keys and models',
    argument: ['<shell>', SHELLS.join(', ')],
    examples: [
      ['completion bash > ~/.local/share/bash-completion/completions/isthmus', 'For bash.'],
      ['completion fish > ~/.config/fish/completions/isthmus.fish', 'For fish.'],
    ],
    load:
      async () =>
      async ({ terminal, answer }, word) => {
        const script = Object.entries(SCRIPTS).find(([shell]) => shell === word)?.[1];
        if (script === undefined) {
          throw new CommandError('usage', `There is a completion for ${SHELLS.join(', ')}.`);
        }
        answer({ shell: word, script }, () => terminal.print(script));
      },
  })(program, parts);
  const command = program
    .command(COMPLETE, { hidden: true })
    .addArgument(new Argument('[words...]'));
  command.action(async () => {
    const found = await findWords(program, command.args, parts);
    if (found.length > 0) parts.terminal.print(found.join('\n'));
  });
};

/** The words that fit behind those that are there. */
async function findWords(
  program: CliCommand,
  words: readonly string[],
  parts: Pick<LocalContext, 'connect'>,
): Promise<readonly string[]> {
  const last = words.at(-1) ?? '';
  // bash has the equals sign as a word of its own.
  const [, flag, value] = /^(--[\w-]+)=(.*)$/s.exec(last) ?? [];
  const unfinished = last === '=' ? '' : (value ?? last);
  let command = program;
  const given: string[] = [];
  let option: CliCommand['options'][number] | undefined;
  for (const word of [...words.slice(0, -1), ...(flag === undefined ? [] : [flag])]) {
    if (word === '=') continue;
    if (option !== undefined) option = undefined;
    else if (word.startsWith('-')) option = takesValue(command, word);
    else {
      const below = command.commands.find((one) => one.name() === word);
      if (below === undefined) given.push(word);
      else command = below as CliCommand;
    }
  }
  const all = await candidates(command, { unfinished, given, option, parts });
  const fitting = all.filter((word) => word.startsWith(unfinished)).map(plain);
  return flag === undefined ? fitting : fitting.map((word) => `${flag}=${word}`);
}

function takesValue(command: CliCommand, word: string) {
  return command.options.find(
    ({ short, long, required }) => required && (short === word || long === word),
  );
}

interface Place {
  readonly unfinished: string;
  readonly given: readonly string[];
  /** Whose value it is. */
  readonly option: CliCommand['options'][number] | undefined;
  readonly parts: Pick<LocalContext, 'connect'>;
}

async function candidates(
  command: CliCommand,
  { unfinished, given, option, parts }: Place,
): Promise<readonly string[]> {
  if (option !== undefined) return option.argChoices ?? namesFor(nameOf(option, command), parts);
  if (unfinished.startsWith('-')) {
    return [
      ...command.options.filter(({ hidden }) => !hidden).map(({ long }) => long ?? ''),
      '--help',
    ];
  }
  const below = command
    .createHelp()
    .visibleCommands(command)
    .map((one) => one.name());
  const argument = command.registeredArguments[Math.min(given.length, 1)];
  if (argument === undefined) return below;
  if (argument.argChoices !== undefined) return argument.argChoices;
  if (command.name() === 'completion') return SHELLS;
  const name = argument.name();
  if (name === 'client' || name === 'more') return clientNames(command.name());
  return namesFor(name === 'name' && command.name() === 'route' ? 'model' : name, parts);
}

/** What `connect` and `launch` call a key is its secret. */
function nameOf(option: CliCommand['options'][number], command: CliCommand): string {
  const isSecret = option.name() === 'key' && command.parent?.name() !== 'budgets';
  return isSecret ? '' : option.name();
}

/** SDKs are connected by variables, and are no programs to launch. */
function clientNames(command: string): readonly string[] {
  const sdks = command === 'connect' ? SDK_VARIABLES : [];
  return [...CODING_CLIENTS, ...sdks].map(({ id }) => id);
}

/** What the running gateway knows; nothing where none runs. */
async function namesFor(source: string, { connect }: Place['parts']): Promise<readonly string[]> {
  const found = SOURCES.get(source);
  if (found === undefined) return [];
  try {
    const client = await connect({});
    try {
      const body = await client.call('GET', found.path);
      return objectsOf(body, found.list).map((one) => textOf(one, found.field));
    } finally {
      await client.close();
    }
  } catch {
    // The shell asks at a prompt: an error could not be shown, and there is no word to offer.
    return [];
  }
}

const SOURCES: ReadonlyMap<string, Readonly<Record<'path' | 'list' | 'field', string>>> = new Map([
  ['account', { path: '/api/accounts', list: 'accounts', field: 'label' }],
  ['key', { path: '/api/keys', list: 'keys', field: 'name' }],
  ['model', { path: '/api/models', list: 'models', field: 'id' }],
]);
