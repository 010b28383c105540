import { digestSnapshot } from '../src/formats/documents/revision.ts';

/** Signs a changed snapshot file again, as a forger would: its token then matches the changed text. */
export function signed(text: string): string {
  const end = text.indexOf('\n---\n', 4);
  const token = /REV-\S+/.exec(text)?.[0] ?? '';
  const digits = digestSnapshot(text.slice(4, end), text.slice(end + 5), token);
  return text.replace(token, token.slice(0, -8) + digits);
}
