// Texts with Markdown, such as answers of models.

export const markdown = {
  code: 'Code',
  codeIn: 'Code in {{name}}',
  copyCode: 'Copy the code',
  table: 'Table',
} as const;
