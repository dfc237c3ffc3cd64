// What the operator decides about quotas.

export interface QuotaSettings {
  /** How often each account's figures are read again, in milliseconds. */
  readonly refreshIntervalMs: number;
  readonly protection: ProtectionSettings;
}

export interface ProtectionSettings {
  readonly enabled: boolean;
  /** 0 to 100: an account strictly below it is kept for other uses. */
  readonly thresholdPercent: number;
  /** Names as clients or upstreams write them; empty protects every model. */
  readonly models: readonly string[];
}
