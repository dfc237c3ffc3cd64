// The operator's own OAuth client of one upstream: where it signs in, and as whom.

/**
 * Addresses are absolute. For service accounts only `tokenUrl` and `scopes` are read, so an upstream
 * that has nothing else may leave `clientId` empty; a sign-in then says what is missing.
 */
export interface OAuthSettings {
  readonly clientId: string;
  /** Sent in the body (RFC 6749 §2.3.1); undefined for public clients. */
  readonly clientSecret?: string | undefined;
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  /** RFC 7009; without one a removed account is only forgotten here. */
  readonly revocationUrl?: string | undefined;
  /** OpenID Connect UserInfo; without one the e-mail is read from the id token. */
  readonly userInfoUrl?: string | undefined;
  readonly scopes: readonly string[];
  readonly extraAuthorizationParameters?: Readonly<Record<string, string>> | undefined;
  /** Registered at the provider; undefined for this gateway's own loopback address. */
  readonly redirectUrl?: string | undefined;
  /** RFC 9207 `iss`; undefined accepts any issuer on the host of `authorizationUrl`. */
  readonly issuer?: string | undefined;
}

/** Settings by upstream id, as they are now. */
export interface OAuthDirectory {
  get(upstreamId: string): OAuthSettings | undefined;
}

/** The log the sign-ins and renewals are given; no secret ever reaches it. */
export interface OAuthLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
