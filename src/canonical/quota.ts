// What an upstream tells of the limits of an account: asked for, beside any answer, or with a refusal.

/** Rows of models that are missing say nothing of them. */
export interface UpstreamQuota {
  readonly tier: 'ultra' | 'pro' | 'free' | undefined;
  readonly projectId: string | undefined;
  readonly models: readonly {
    readonly id: string;
    /** 0 to 1; a row without a fraction means 0. */
    readonly remainingFraction: number;
    /** Calls that are left, where the upstream counts them. */
    readonly remainingCalls?: number | undefined;
    /** Milliseconds since the epoch. */
    readonly resetsAt: number | undefined;
  }[];
}

/** Of the limits on the rate of an account's calls the scarcest, as an answer tells it. */
export interface RateLimit {
  /** 0 to 1. */
  readonly remainingFraction: number;
  /** When it is whole again, in milliseconds since the epoch. */
  readonly resetsAt: number;
}

/** Only what the upstream said itself; absent is unknown. */
export interface QuotaLesson {
  /** Calls that one window allows; 0 when the account has no such quota at all. */
  readonly limit?: number | undefined;
  readonly windowMs?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly resetsAt?: number | undefined;
}
