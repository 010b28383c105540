/** Text of a file as a short name on one line; undefined if it is empty or too long. */
export function labelOf(words: string | null | undefined): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: They are what is removed.
  const text = words?.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim() ?? '';
  return text === '' || text.length > 200 ? undefined : text;
}
