// Loads the styles that the first page does without.

export async function loadStyles(): Promise<void> {
  await import('./mantine-rest.css');
}
