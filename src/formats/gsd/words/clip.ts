const LIMIT_CHARS = 300_000;

/** Cuts text to the limit of the run model; the file keeps it whole. */
export function clip(text: string): string {
  return text.length <= LIMIT_CHARS ? text : `${text.slice(0, LIMIT_CHARS)}…`;
}

/** Text for comparison: letters and digits only. */
export function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .slice(0, 2000);
}
