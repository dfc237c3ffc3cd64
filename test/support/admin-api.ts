// The admin API as a script calls it.

/** @returns the JSON of the answer, whatever its status; its shape is what the contract says */
export async function callAdmin<Answer>(
  { url, password }: { readonly url: string; readonly password: string },
  [method, path]: readonly [method: string, path: string],
  body?: object,
): Promise<Answer> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${password}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as Answer;
}
