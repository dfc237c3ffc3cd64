/** Whether it may be shipped; an expression of SPDX. @throws Error for what is none */
export function isAllowedLicense(expression: string): boolean;

/** A package of others that is shipped, in parts, in ours. */
export interface Part {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly description: string | undefined;
  readonly integrity: string | undefined;
  /** Of its licence and notices. */
  readonly texts: readonly string[];
}

/** Of both builds. @throws Error before they were made */
export function readParts(root: string): readonly Part[];

/** The bill of materials in JSON, and the text of licences and notices. */
export function describeParts(root: string): { readonly bom: string; readonly notices: string };
