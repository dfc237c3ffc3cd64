// The tools of the MCP server for pictures: what each is given, and what it asks the model.

import type { JsonObject } from '../lib/json.ts';

export interface VisionTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The arguments that hold pictures, in the order they are shown. */
  readonly pictures: readonly string[];
  /** What the model is asked; the client's own question is added. */
  readonly instruction: string;
}

export const VISION_TOOLS: readonly VisionTool[] = [
  {
    name: 'describe_image',
    title: 'Describe a picture',
    description: 'Describes what a picture shows, or answers a question about it.',
    pictures: ['image'],
    instruction:
      'Describe this picture: what it shows, the text in it, layout, colours and details that matter.',
  },
  {
    name: 'compare_images',
    title: 'Compare two pictures',
    description: 'Says what two pictures have in common and how they differ.',
    pictures: ['first_image', 'second_image'],
    instruction:
      'Compare these two pictures: what they have in common, then each difference with its place, the first picture first.',
  },
  {
    name: 'read_text',
    title: 'Read the text of a picture',
    description: 'Reads the text of a picture (OCR), such as code, a terminal, a scan or a table.',
    pictures: ['image'],
    instruction:
      'Write out all text of this picture exactly as it stands, in reading order, with its line breaks and indentation; tables as Markdown. Add nothing, and mark what cannot be read as [unreadable].',
  },
  {
    name: 'explain_diagram',
    title: 'Explain a diagram',
    description:
      'Explains a diagram or chart: architecture, flow, sequence, entities, plots and their values.',
    pictures: ['image'],
    instruction:
      'Explain this diagram: its kind, its parts, how they are connected and in which direction, and what it says as a whole. For a chart give axes, series and the values that can be read.',
  },
  {
    name: 'explain_interface',
    title: 'Explain a user interface',
    description:
      'Explains a screenshot or design of a user interface, precisely enough to build it.',
    pictures: ['image'],
    instruction:
      'Explain this user interface so that it could be built: layout and hierarchy, each control with its label and state, colours, type and spacing, and what its user can do.',
  },
  {
    name: 'explain_error',
    title: 'Explain an error from a screenshot',
    description: 'Finds the error in a screenshot, says its likely cause and what to try.',
    pictures: ['image'],
    instruction:
      'Find the error in this screenshot. Write out its message exactly, with codes, files and lines; then say the likely cause, and what to try, the likeliest first.',
  },
];

const PICTURE = {
  type: 'string',
  minLength: 1,
  description:
    'The picture: a data URI (data:image/png;base64,…), base64, or an https address where the gateway fetches those. No file paths.',
};

export function inputSchemaOf({ pictures }: VisionTool): JsonObject {
  const fields = pictures.map((field) => [field, PICTURE] as const);
  return {
    type: 'object',
    required: [...pictures],
    additionalProperties: false,
    properties: {
      ...Object.fromEntries(fields),
      media_type: {
        type: 'string',
        description: 'Media type of bare base64, such as image/png, where its bytes do not tell.',
      },
      question: {
        type: 'string',
        maxLength: 8_000,
        description: 'What to look at or to answer in particular.',
      },
    },
  };
}
