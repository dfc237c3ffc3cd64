// The scopes the sandbox grants, under its own names and as addresses that end in `/auth/<name>`.

/** What a scope lets its holder do. */
export type ScopeMeaning = 'models' | 'email' | 'profile';

/** Shown on the consent page. */
export const SCOPE_WORDS: Readonly<Record<ScopeMeaning, string>> = {
  models: 'Call the models in your name and on your quota',
  email: 'See your e-mail address',
  profile: 'See your name',
};

/** Listed in the metadata. */
export const SCOPE_NAMES: readonly string[] = Object.keys(SCOPE_WORDS);
const DEFAULT_SCOPES: readonly string[] = ['models', 'email'];

/** The second names are those of addresses, such as `https://<vendor>/auth/cloud-platform`. */
const MEANINGS: ReadonlyMap<string, ScopeMeaning> = new Map([
  ['models', 'models'],
  ['cloud-platform', 'models'],
  ['generative-language', 'models'],
  ['generative-language.retriever', 'models'],
  ['email', 'email'],
  ['userinfo.email', 'email'],
  ['profile', 'profile'],
  ['userinfo.profile', 'profile'],
]);

/** Asked for out of habit and left out of what is granted: the sandbox makes no ID tokens. */
const IDENTITY_SCOPE = 'openid';

/** The scopes to grant, as they were written; undefined when one of them is unknown. */
export function readScopes(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return DEFAULT_SCOPES;
  const asked = new Set(text.split(' ').filter((scope) => scope !== ''));
  asked.delete(IDENTITY_SCOPE);
  const scopes = [...asked];
  return scopes.every((scope) => meaningOf(scope) !== undefined) ? scopes : undefined;
}

export function meaningsOf(scopes: readonly string[]): ReadonlySet<ScopeMeaning> {
  return new Set(scopes.flatMap((scope) => meaningOf(scope) ?? []));
}

function meaningOf(scope: string): ScopeMeaning | undefined {
  return MEANINGS.get(/^https:\/\/[a-z0-9.-]+\/auth\/(.+)$/.exec(scope)?.[1] ?? scope);
}
