// Roles and instructions.

import { carried, noted, type RequestRow, refused, unsaid } from '../row.ts';

const says = (role: string, content: string) => ({ role, content });
const block = (text: string) => ({ type: 'text', text });
const user = (...texts: readonly string[]) => ({
  role: 'user',
  parts: texts.map((text) => ({ text })),
});
const model = (...texts: readonly string[]) => ({
  role: 'model',
  parts: texts.map((text) => ({ text })),
});
const system = (...texts: readonly string[]) => ({
  systemInstruction: { parts: texts.map((text) => ({ text })) },
});
const MARKED = '<system-instruction>\nBe brief\n</system-instruction>';

export const ROLE_ROWS: readonly RequestRow[] = [
  {
    name: 'instructions before the conversation, one part each, in order',
    entries: {
      chat: carried(
        { messages: [says('system', 'A'), says('developer', 'B'), says('user', 'Hi')] },
        { ...system('A', 'B'), contents: [user('Hi')] },
      ),
      responses: carried(
        { instructions: 'A', input: [says('developer', 'B'), says('user', 'Hi')] },
        { ...system('A', 'B'), contents: [user('Hi')] },
      ),
      messages: carried(
        {
          system: [{ ...block('A'), cache_control: { type: 'ephemeral' } }, block('B')],
          messages: [says('user', 'Hi')],
        },
        { ...system('A', 'B'), contents: [user('Hi')] },
      ),
      generate: carried(
        { systemInstruction: { role: 'system', parts: [{ text: 'A' }, { text: 'B' }] } },
        system('A', 'B'),
      ),
    },
  },
  {
    name: 'an instruction in mid-conversation keeps its place, marked',
    entries: {
      chat: noted(
        { messages: [says('user', 'a'), says('assistant', 'b'), says('system', 'Be brief')] },
        { fields: { contents: [user('a'), model('b'), user(MARKED)] } },
        ['approximated', 'messages'],
      ),
      responses: noted(
        { input: [says('user', 'a'), says('assistant', 'b'), says('developer', 'Be brief')] },
        { fields: { contents: [user('a'), model('b'), user(MARKED)] } },
        ['approximated', 'input'],
      ),
      messages: noted(
        { messages: [says('user', 'a'), says('assistant', 'b'), says('system', 'Be brief')] },
        { fields: { contents: [user('a'), model('b'), user(MARKED)] } },
        ['approximated', 'messages'],
      ),
      generate: refused(
        { contents: [user('a'), model('b'), { role: 'system', parts: [{ text: 'Be brief' }] }] },
        'contents[2].role',
      ),
    },
  },
  {
    name: 'user and assistant turns',
    entries: {
      chat: carried(
        { messages: [says('user', 'a'), says('assistant', 'b'), says('user', 'c')] },
        { contents: [user('a'), model('b'), user('c')] },
      ),
      responses: carried(
        {
          input: [
            says('user', 'a'),
            { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'b' }] },
            { role: 'user', content: [{ type: 'input_text', text: 'c' }] },
          ],
        },
        { contents: [user('a'), model('b'), user('c')] },
      ),
      messages: carried(
        { messages: [says('user', 'a'), says('assistant', 'b'), says('user', 'c')] },
        { contents: [user('a'), model('b'), user('c')] },
      ),
      generate: carried(
        { contents: [{ parts: [{ text: 'a' }] }, model('b'), user('c')] },
        { contents: [user('a'), model('b'), user('c')] },
      ),
    },
  },
  {
    name: 'several assistant messages in a row are one turn',
    entries: {
      chat: carried(
        {
          messages: [
            says('user', 'a'),
            says('assistant', 'b'),
            says('assistant', 'c'),
            says('user', 'd'),
          ],
        },
        { contents: [user('a'), model('b\n\nc'), user('d')] },
      ),
      responses: carried(
        {
          input: [
            says('user', 'a'),
            says('assistant', 'b'),
            says('assistant', 'c'),
            says('user', 'd'),
          ],
        },
        { contents: [user('a'), model('b\n\nc'), user('d')] },
      ),
      messages: carried(
        {
          messages: [
            says('user', 'a'),
            says('assistant', 'b'),
            says('assistant', 'c'),
            says('user', 'd'),
          ],
        },
        { contents: [user('a'), model('b\n\nc'), user('d')] },
      ),
      generate: carried(
        { contents: [user('a'), model('b'), model('c'), user('d')] },
        { contents: [user('a'), model('b', 'c'), user('d')] },
      ),
    },
  },
  {
    name: 'the name of a speaker',
    entries: {
      chat: noted(
        { messages: [{ ...says('user', 'Hi'), name: 'ann' }] },
        { fields: { contents: [user('ann: Hi')] } },
        ['approximated', 'messages[0].name'],
      ),
      responses: unsaid('Messages have no names.'),
      messages: unsaid('Messages have no names.'),
      generate: unsaid('Contents have no names.'),
    },
  },
  {
    name: 'empty texts',
    entries: {
      chat: carried(
        { messages: [{ role: 'user', content: [block(''), block('x')] }] },
        { contents: [user('x')] },
      ),
      responses: carried(
        {
          input: [
            {
              role: 'user',
              content: [
                { type: 'input_text', text: '' },
                { type: 'input_text', text: 'x' },
              ],
            },
          ],
        },
        { contents: [user('x')] },
      ),
      messages: carried(
        { messages: [{ role: 'user', content: [block(''), block('x')] }] },
        { contents: [user('x')] },
      ),
      generate: carried({ contents: [user('', 'x')] }, { contents: [user('x')] }),
    },
  },
  {
    name: 'a conversation that starts with the assistant',
    entries: {
      chat: noted(
        { messages: [says('assistant', 'Hello'), says('user', 'Hi')] },
        { fields: { contents: [user('…'), model('Hello'), user('Hi')] } },
        ['approximated', 'messages'],
      ),
      responses: noted(
        { input: [says('assistant', 'Hello'), says('user', 'Hi')] },
        { fields: { contents: [user('…'), model('Hello'), user('Hi')] } },
        ['approximated', 'input'],
      ),
      messages: noted(
        { messages: [says('assistant', 'Hello'), says('user', 'Hi')] },
        { fields: { contents: [user('…'), model('Hello'), user('Hi')] } },
        ['approximated', 'messages'],
      ),
      generate: noted(
        { contents: [model('Hello'), user('Hi')] },
        { fields: { contents: [user('…'), model('Hello'), user('Hi')] } },
        ['approximated', 'contents'],
      ),
    },
  },
];
