// What `/v1/usage` answers, as far as the page shows it, and asking for it.

export interface OwnUsage {
  readonly key: {
    readonly name: string | null;
    readonly owner: string | null;
    readonly team: string | null;
    readonly expires_at: string | null;
  };
  readonly days: readonly (UsageFigures & {
    readonly begins_at: string;
    readonly models: readonly (UsageFigures & { readonly model: string })[];
  })[];
  readonly limits: {
    readonly requests_per_minute: number | null;
    readonly tokens_per_minute: number | null;
  };
  readonly budgets: readonly OwnBudget[];
  readonly models: readonly string[];
}

export interface UsageFigures {
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly images: number;
  readonly cost: number | null;
}

export interface OwnBudget {
  readonly scope: 'key' | 'team' | 'gateway';
  readonly unit: 'requests' | 'images' | 'tokens' | 'money';
  readonly period: 'day' | 'week' | 'month';
  readonly hard: boolean;
  readonly amount: number;
  readonly used: number;
  readonly remaining: number;
  readonly ends_at: string;
}

/** @returns why there is none: the key is refused, or nobody answers */
export async function fetchOwnUsage(
  key: string,
  timeZone: string,
): Promise<OwnUsage | 'refused' | 'failed'> {
  try {
    const answer = await fetch(`/v1/usage?time_zone=${encodeURIComponent(timeZone)}`, {
      headers: { authorization: `Bearer ${key}` },
      credentials: 'omit',
      cache: 'no-store',
    });
    if (answer.status === 401 || answer.status === 403) return 'refused';
    return answer.ok ? ((await answer.json()) as OwnUsage) : 'failed';
  } catch {
    return 'failed';
  }
}
