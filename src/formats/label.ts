/** Words of a file as a short name on one line, or nothing where they cannot be one. */
export function labelOf(words: string | null | undefined): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: They are what must go.
  const text = words?.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim() ?? '';
  return text === '' || text.length > 200 ? undefined : text;
}
