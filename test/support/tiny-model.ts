// A language model of a few hundred kilobytes in GGUF, with weights from a fixed seed: it talks nonsense, always the same.

import { writeFileSync } from 'node:fs';

const WIDTH = 64;
const HEADS = 4;
const INNER = 128;

/** Marks each message with its role, as many templates of real models do; tools are told as JSON. */
const TEMPLATE =
  "{% if tools %}<|tools|>{{ tools | tojson }}\n{% endif %}{% for message in messages %}<|{{ message.role }}|>{{ message.content or '' }}{% for call in message.tool_calls or [] %}{{ call | tojson }}{% endfor %}\n{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";

interface Token {
  readonly text: string;
  readonly type: 'normal' | 'unknown' | 'control' | 'byte';
}

const TOKEN_TYPES = { normal: 1, unknown: 2, control: 3, byte: 6 } as const;

const TOKENS: readonly Token[] = [
  { text: '<unk>', type: 'unknown' },
  { text: '<s>', type: 'control' },
  { text: '</s>', type: 'control' },
  ...Array.from({ length: 256 }, (_, byte): Token => {
    return { text: `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, type: 'byte' };
  }),
  ...Array.from({ length: 94 }, (_, at): Token => {
    return { text: String.fromCharCode(33 + at), type: 'normal' };
  }),
  { text: '▁', type: 'normal' },
];
const FIRST_WORD = 3 + 256;

interface Tensor {
  readonly name: string;
  /** The innermost dimension first. */
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/** Writes the model to `path`: one layer, a token for each letter, and room for `context` tokens. */
export function writeTinyModel(path: string, context: number): void {
  const random = createRandom(7);
  const weights = (name: string, shape: readonly number[], scale = 0.2): Tensor => {
    const length = shape.reduce((product, size) => product * size, 1);
    return { name, shape, values: Float32Array.from({ length }, () => scale * random()) };
  };
  const ones = (name: string): Tensor => {
    return { name, shape: [WIDTH], values: new Float32Array(WIDTH).fill(1) };
  };
  const output = weights('output.weight', [WIDTH, TOKENS.length], 0.8);
  // The tokens before the letters stay unlikely, so that every answer is plain text.
  output.values.fill(0, 0, FIRST_WORD * WIDTH);
  const layer = 'blk.0';
  const tensors = [
    weights('token_embd.weight', [WIDTH, TOKENS.length], 1),
    ones('output_norm.weight'),
    output,
    ones(`${layer}.attn_norm.weight`),
    ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((name) =>
      weights(`${layer}.${name}.weight`, [WIDTH, WIDTH]),
    ),
    ones(`${layer}.ffn_norm.weight`),
    weights(`${layer}.ffn_gate.weight`, [WIDTH, INNER]),
    weights(`${layer}.ffn_up.weight`, [WIDTH, INNER]),
    weights(`${layer}.ffn_down.weight`, [INNER, WIDTH]),
  ];
  writeFileSync(path, encodeModel(describeModel(context), tensors));
}

/** From -1 to 1, the same for each seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

/** ggml-org/ggml, docs/gguf.md: the number of each type of value. */
const TYPES = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const;

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const uint64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const float32 = (value: number): Buffer => Buffer.from(Float32Array.of(value).buffer);
const string = (value: string): Buffer => {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint64(bytes.length), bytes]);
};

type Field = readonly [name: string, type: keyof typeof TYPES, value: Buffer];

function list(type: keyof typeof TYPES, items: readonly Buffer[]): Buffer {
  return Buffer.concat([uint32(TYPES[type]), uint64(items.length), ...items]);
}

function describeModel(context: number): readonly Field[] {
  const number = (name: string, value: number): Field => [name, 'uint32', uint32(value)];
  const text = (name: string, value: string): Field => [name, 'string', string(value)];
  return [
    text('general.architecture', 'llama'),
    text('general.name', 'tiny'),
    number('llama.context_length', context),
    number('llama.embedding_length', WIDTH),
    number('llama.block_count', 1),
    number('llama.feed_forward_length', INNER),
    number('llama.attention.head_count', HEADS),
    number('llama.attention.head_count_kv', HEADS),
    number('llama.rope.dimension_count', WIDTH / HEADS),
    number('llama.vocab_size', TOKENS.length),
    ['llama.attention.layer_norm_rms_epsilon', 'float32', float32(1e-5)],
    text('tokenizer.ggml.model', 'llama'),
    [
      'tokenizer.ggml.tokens',
      'array',
      list(
        'string',
        TOKENS.map((token) => string(token.text)),
      ),
    ],
    [
      'tokenizer.ggml.scores',
      'array',
      list(
        'float32',
        TOKENS.map((_, at) => float32(-at)),
      ),
    ],
    [
      'tokenizer.ggml.token_type',
      'array',
      list(
        'int32',
        TOKENS.map((token) => uint32(TOKEN_TYPES[token.type])),
      ),
    ],
    number('tokenizer.ggml.unknown_token_id', 0),
    number('tokenizer.ggml.bos_token_id', 1),
    number('tokenizer.ggml.eos_token_id', 2),
    ['tokenizer.ggml.add_bos_token', 'bool', Buffer.of(1)],
    text('tokenizer.chat_template', TEMPLATE),
  ];
}

const VERSION = 3;
const ALIGNMENT = 32;
const F32 = 0;

function encodeModel(fields: readonly Field[], tensors: readonly Tensor[]): Buffer {
  let offset = 0;
  const entries: Buffer[] = [];
  const data: Buffer[] = [];
  for (const { name, shape, values } of tensors) {
    const sizes = shape.map(uint64);
    entries.push(string(name), uint32(shape.length), ...sizes, uint32(F32), uint64(offset));
    const bytes = padded(Buffer.from(values.buffer));
    data.push(bytes);
    offset += bytes.length;
  }
  const head = [
    ...[Buffer.from('GGUF'), uint32(VERSION), uint64(tensors.length), uint64(fields.length)],
    ...fields.flatMap(([name, type, value]) => [string(name), uint32(TYPES[type]), value]),
    ...entries,
  ];
  return Buffer.concat([padded(Buffer.concat(head)), ...data]);
}

function padded(bytes: Buffer): Buffer {
  const missing = (ALIGNMENT - (bytes.length % ALIGNMENT)) % ALIGNMENT;
  return Buffer.concat([bytes, Buffer.alloc(missing)]);
}
