// What an account proves itself with. Never logged, never answered; sealed wherever it is stored.

export type Credential = ApiKeyCredential | OAuthCredential | ServiceAccountCredential;

interface ApiKeyCredential {
  readonly kind: 'api-key';
  readonly key: string;
}

export interface OAuthCredential {
  readonly kind: 'oauth';
  readonly refreshToken: string;
  /** The last access token, kept so that a restart need not refresh. */
  readonly accessToken?: string | undefined;
  /** End of the access token, in milliseconds since the epoch. */
  readonly expiresAt?: number | undefined;
  readonly scopes?: readonly string[] | undefined;
}

/** A service account's key file, in our words (RFC 7523: a signed JWT is traded for an access token). */
export interface ServiceAccountCredential {
  readonly kind: 'service-account';
  readonly clientEmail: string;
  /** PKCS #8 PEM. */
  readonly privateKey: string;
  readonly privateKeyId?: string | undefined;
  /** Undefined for the upstream's own token address. */
  readonly tokenUrl?: string | undefined;
}

/** `version` rises with every replacement: the fence against two refreshes of one token. */
export interface VersionedCredential {
  readonly credential: Credential;
  readonly version: number;
}
