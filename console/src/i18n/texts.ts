// What a translation must hold: every text of the English one but the singular forms it has no use for.

export type Translated<Texts> = {
  readonly [Key in keyof Texts as Key extends `${string}_one`
    ? never
    : Key]: Texts[Key] extends string ? string : Translated<Texts[Key]>;
};

/** The same with any of the texts missing: those are shown in English, and a test lists them. */
export type PartlyTranslated<Texts> = {
  readonly [Key in keyof Texts as Key extends `${string}_one`
    ? never
    : Key]?: Texts[Key] extends string ? string : PartlyTranslated<Texts[Key]>;
};
