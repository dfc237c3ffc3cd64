// JSON of requests: its types and guards, numbers that a double cannot hold, and one text per meaning.

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export type JsonObject = { [key: string]: JsonValue };

interface RawJson {
  readonly rawJSON: string;
}

interface SourceAwareJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): JsonValue;
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
}

// The one narrowing: the ES library types do not describe source text access yet (TC39 proposal of that name).
const sourceAware = JSON as unknown as SourceAwareJson;

/** Digits, exponents or a negative zero that a double may not give back as written. */
const RISKY_NUMBER = /\d{16}|\d[eE]\+?\d{3}|-0(?![.\d])/;

/**
 * Numbers that would change (`12345678901234567890`, `1e999`, `-0`) become raw JSON values, which
 * `JSON.stringify` writes back as they came.
 * @throws SyntaxError when the text is not JSON.
 */
export function parseJson(text: string): JsonValue {
  if (!RISKY_NUMBER.test(text)) return JSON.parse(text);
  return sourceAware.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && !isExact(value, source)
      ? sourceAware.rawJSON(source)
      : value,
  );
}

/** The number a JSON value stands for, also when it is kept as source text. */
export function readNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return sourceAware.isRawJSON(value) ? Number(value.rawJSON) : undefined;
}

export function isRawNumber(value: unknown): boolean {
  return sourceAware.isRawJSON(value);
}

/** True for plain JSON objects; arrays, null and raw numbers are not. */
export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value)
  );
}

/** The same text for the same meaning, for hashes and signatures: keys sorted, numbers as doubles, no spaces. */
export function canonicalJson(value: JsonValue): string {
  const number = readNumber(value);
  if (number !== undefined) return JSON.stringify(number);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`);
  return `{${members.join(',')}}`;
}

function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value) || Object.is(value, -0)) return false;
  if (Number.isSafeInteger(value)) return true;
  return String(value) === source || !/\d{16}/.test(source.replace('.', ''));
}

/** A text as it is, everything else as JSON writes it. */
export function written(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
