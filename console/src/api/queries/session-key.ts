// Where the answer stands that says whether this browser is signed in.

export const SESSION_KEY = ['session'] as const;
