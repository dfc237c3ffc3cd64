// Hands a text to the browser as a file to keep.

export function saveFile(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The download has its own hold on the content by the next turn.
  window.setTimeout(() => URL.revokeObjectURL(address), 0);
}
