import { sha256 } from '../../core/sha256.ts';

/**
 * Revision tokens: `REV-YYYYMMDD-<topic>-<seq>-h<8hex>`, whose eight digits begin the SHA-256 of the content. An
 * attachment is hashed between its fence markers with its last line feed. A snapshot contains its own token, so its
 * digits are zero while it is hashed.
 */
export interface Revision {
  /** `20260208`. */
  date: string;
  topic: string;
  sequence: number;
  /** The part of an attachment that is too long for one envelope. */
  part: { number: number; of: number } | null;
  digits: string;
}

/** A placeholder that was never filled in; common in real files and never accepted. */
export const NO_DIGITS = '00000000';

export function renderRevision({ date, topic, sequence, part, digits }: Revision): string {
  return `REV-${date}-${topic}-${sequence}${part ? `-p${part.number}of${part.of}` : ''}-h${digits}`;
}

export function parseRevision(token: string): Revision | null {
  if (token.length > 300) return null;
  const match = /^REV-(\d{8})-(.+)-(\d{1,9})(?:-p(\d{1,4})of(\d{1,4}))?-h([0-9a-f]{8})$/.exec(token);
  if (!match) return null;
  const [, date = '', topic = '', sequence, number, of, digits = ''] = match;
  const part = number === undefined ? null : { number: Number(number), of: Number(of) };
  return { date, topic, sequence: Number(sequence), part, digits };
}

/** The topic of an agent's snapshots. Names are compared without case: real files write `Claude` and `claude`. */
export const snapshotTopic = (agent: string): string => `snapshot-${agent.toLowerCase()}`;

/** The digits of a snapshot cover its YAML lines, a line feed and its body, with the digits zeroed. */
export function digestSnapshot(yaml: string, body: string, token: string): string {
  const unsigned = token.replace(/[0-9a-f]{8}$/, NO_DIGITS);
  const signed = token === '' ? yaml : yaml.replaceAll(token, unsigned);
  return digitsOf(endOnce(`${unifyLines(signed)}\n${unifyLines(body)}`));
}

/** Removes the byte order mark and normalises line ends. */
export function unifyLines(text: string): string {
  return text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
}

/** Exactly one line feed at the end. */
function endOnce(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 10) end--;
  return `${text.slice(0, end)}\n`;
}

/** The first eight hexadecimal digits of the SHA-256 of a text. */
export const digitsOf = (text: string): string => sha256(text).slice(0, 8);
