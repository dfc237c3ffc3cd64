// The SDKs: a first call in each language and package they come in.

import { quoteScript, quoteText } from '../../../../src/clients/write-settings.ts';
import type { Client, SetUp, Step, Way } from './client.ts';

const OPENAI: Client = {
  id: 'openai',
  name: 'OpenAI SDK',
  group: 'sdks',
  model: 'alpha-3-flash',
  ways: [
    javascript('openai', ({ address, key, model }) => [
      "import OpenAI from 'openai';",
      '',
      `const client = new OpenAI({ baseURL: ${quoteScript(`${address}/v1`)}, apiKey: ${quoteScript(key)} });`,
      'const answer = await client.chat.completions.create({',
      `  model: ${quoteScript(model)},`,
      "  messages: [{ role: 'user', content: 'Hello' }],",
      '});',
      'console.log(answer.choices[0].message.content);',
    ]),
    python('openai', ({ address, key, model }) => [
      'from openai import OpenAI',
      '',
      `client = OpenAI(base_url=${quoteText(`${address}/v1`)}, api_key=${quoteText(key)})`,
      'answer = client.chat.completions.create(',
      `    model=${quoteText(model)},`,
      '    messages=[{"role": "user", "content": "Hello"}],',
      ')',
      'print(answer.choices[0].message.content)',
    ]),
  ],
};

const ANTHROPIC: Client = {
  id: 'anthropic',
  name: 'Anthropic SDK',
  group: 'sdks',
  words: 'claude',
  model: 'beta-sonnet-4-6',
  ways: [
    javascript('@anthropic-ai/sdk', ({ address, key, model }) => [
      "import Anthropic from '@anthropic-ai/sdk';",
      '',
      `const client = new Anthropic({ baseURL: ${quoteScript(address)}, apiKey: ${quoteScript(key)} });`,
      'const message = await client.messages.create({',
      `  model: ${quoteScript(model)},`,
      '  max_tokens: 4000,',
      "  messages: [{ role: 'user', content: 'Hello' }],",
      '});',
      'for (const block of message.content) console.log(block);',
    ]),
    python('anthropic', ({ address, key, model }) => [
      'from anthropic import Anthropic',
      '',
      `client = Anthropic(base_url=${quoteText(address)}, api_key=${quoteText(key)})`,
      'message = client.messages.create(',
      `    model=${quoteText(model)},`,
      '    max_tokens=4000,',
      '    messages=[{"role": "user", "content": "Hello"}],',
      ')',
      'print(message.content)',
    ]),
  ],
};

const GOOGLE: Client = {
  id: 'google-genai',
  name: 'Google Gen AI SDK',
  group: 'sdks',
  words: 'gemini',
  model: 'alpha-3-flash',
  ways: [
    javascript('@google/genai', ({ address, key, model }) => [
      "import { GoogleGenAI } from '@google/genai';",
      '',
      'const client = new GoogleGenAI({',
      `  apiKey: ${quoteScript(key)},`,
      `  httpOptions: { baseUrl: ${quoteScript(address)} },`,
      '});',
      'const answer = await client.models.generateContent({',
      `  model: ${quoteScript(model)},`,
      "  contents: 'Hello',",
      '});',
      'console.log(answer.text);',
    ]),
    python('google-genai', ({ address, key, model }) => [
      'from google import genai',
      '',
      'client = genai.Client(',
      `    api_key=${quoteText(key)},`,
      `    http_options={"base_url": ${quoteText(address)}},`,
      ')',
      `answer = client.models.generate_content(model=${quoteText(model)}, contents="Hello")`,
      'print(answer.text)',
    ]),
  ],
};

const VERCEL: Client = {
  id: 'vercel-ai',
  name: 'Vercel AI SDK',
  group: 'sdks',
  words: 'ai-sdk',
  model: 'alpha-3-flash',
  ways: [
    vercel('openai', '@ai-sdk/openai', ({ address, key }) => [
      "import { createOpenAI } from '@ai-sdk/openai';",
      "import { generateText } from 'ai';",
      '',
      'const provider = createOpenAI({',
      `  baseURL: ${quoteScript(`${address}/v1`)},`,
      `  apiKey: ${quoteScript(key)},`,
      '});',
    ]),
    vercel('openai-compatible', '@ai-sdk/openai-compatible', ({ address, key }) => [
      "import { createOpenAICompatible } from '@ai-sdk/openai-compatible';",
      "import { generateText } from 'ai';",
      '',
      'const provider = createOpenAICompatible({',
      "  name: 'isthmus',",
      `  baseURL: ${quoteScript(`${address}/v1`)},`,
      `  apiKey: ${quoteScript(key)},`,
      '});',
    ]),
    vercel('anthropic', '@ai-sdk/anthropic', ({ address, key }) => [
      "import { createAnthropic } from '@ai-sdk/anthropic';",
      "import { generateText } from 'ai';",
      '',
      'const provider = createAnthropic({',
      `  baseURL: ${quoteScript(`${address}/v1`)},`,
      `  apiKey: ${quoteScript(key)},`,
      '});',
    ]),
    vercel('google', '@ai-sdk/google', ({ address, key }) => [
      "import { createGoogleGenerativeAI } from '@ai-sdk/google';",
      "import { generateText } from 'ai';",
      '',
      'const provider = createGoogleGenerativeAI({',
      `  baseURL: ${quoteScript(`${address}/v1beta`)},`,
      `  apiKey: ${quoteScript(key)},`,
      '});',
    ]),
  ],
};

export const SDKS: readonly Client[] = [OPENAI, ANTHROPIC, GOOGLE, VERCEL];

type WriteLines = (setUp: SetUp) => readonly string[];

function javascript(packageName: string, write: WriteLines): Way {
  return {
    id: 'javascript',
    name: 'JavaScript',
    write: (setUp) => inProgram(`npm install ${packageName}`, write(setUp)),
  };
}

function python(packageName: string, write: WriteLines): Way {
  return {
    id: 'python',
    name: 'Python',
    write: (setUp) => inProgram(`pip install ${packageName}`, write(setUp)),
  };
}

/** The providers differ in how they are made; what is asked of them is the same. */
function vercel(id: string, packageName: string, write: WriteLines): Way {
  return {
    id,
    name: packageName.replace('@ai-sdk/', ''),
    write: (setUp) =>
      inProgram(`npm install ai ${packageName}`, [
        ...write(setUp),
        'const { text } = await generateText({',
        `  model: provider(${quoteScript(setUp.model)}),`,
        '  maxOutputTokens: 4000,',
        "  prompt: 'Hello',",
        '});',
        'console.log(text);',
      ]),
  };
}

function inProgram(install: string, lines: readonly string[]): readonly Step[] {
  return [
    { kind: 'install', code: install },
    { kind: 'code', code: lines.join('\n') },
  ];
}
