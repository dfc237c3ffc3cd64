// The only place that reads meaning out of an upstream's prose, for faults it has no code for.

/** True for the documented complaints about missing, corrupted or foreign thought signatures. */
export function blamesSignature(message: string): boolean {
  return /thought[_ ]?signature/i.test(message);
}

/** True for "Function call `x` in the `2.` content block is missing a `thought_signature`." and its variants. */
export function missesSignature(message: string): boolean {
  return /\bmissing (?:an? |the |its )?["'`]?thought[_ ]?signature/i.test(message);
}

/** True for "User location is not supported for the API use." and its variants. */
export function blamesLocation(message: string): boolean {
  return /\b(?:location|country|region|territory)\b[^.]{0,40}\bnot (?:supported|available|allowed)/i.test(
    message,
  );
}

/**
 * True for complaints about a file or a cache that the request names, such as "You do not have
 * permission to access the File abc or it may not exist.", "CachedContent not found" and those about
 * a bucket (`gs://`, `storage.objects.get`).
 */
export function blamesNamedResource(message: string): boolean {
  return /\bfiles?[ /:]["'`]?[\w-]|\bcached ?contents?\b|\bgs:\/\/|\bstorage\.objects\b/i.test(
    message,
  );
}

/**
 * True for a refusal of the whole account: "Consumer … has been suspended.", "Your API key was reported as
 * leaked.", "This API method requires billing to be enabled.", terms that nobody agreed to.
 */
export function blamesAccount(message: string): boolean {
  return (
    /\b(?:account|project|consumer|key)\b[^.]{0,80}\b(?:suspended|deactivated|deleted|terminated|revoked|leaked|expired|banned)\b/i.test(
      message,
    ) ||
    /\bbilling\b[^.]{0,60}\b(?:disabled|enabled|enable|inactive|closed|active)\b/i.test(message) ||
    /\bterms of (?:service|use)\b/i.test(message)
  );
}

export interface LengthComplaint {
  readonly tokens: number | undefined;
  readonly limit: number | undefined;
}

/**
 * The figures of "The input token count (1200000) exceeds the maximum number of tokens allowed
 * (1048576)." and its variants; undefined when the message is about something else.
 */
export function readLengthComplaint(message: string): LengthComplaint | undefined {
  if (!/token count|context (?:length|window)|prompt is too long|too many tokens/i.test(message)) {
    return undefined;
  }
  if (!/exceed|too long|too many|more than|maximum|larger/i.test(message)) return undefined;
  const figures = (message.match(/\d[\d,]*/g) ?? [])
    .map((figure) => Number(figure.replaceAll(',', '')))
    .filter((figure) => figure >= 100);
  const [tokens, limit] = figures;
  return limit === undefined
    ? { tokens: undefined, limit: tokens }
    : { tokens: Math.max(tokens ?? 0, limit), limit: Math.min(tokens ?? 0, limit) };
}
