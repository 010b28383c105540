import { utf8Length } from '../../core/text.ts';
import { fenceEnd, fenceOpened } from '../text/page.ts';
import { LINE_CHARS } from './front-matter.ts';
import { digitsOf, NO_DIGITS, parseRevision, type Revision, renderRevision } from './revision.ts';

export interface Attachment {
  /** `20260208`. */
  date: string;
  topic: string;
  sequence: number;
  format: 'unified-diff' | 'full-text';
  reviewScope: 'full' | 'critical-only' | 'interface-only' | 'none';
  ask: 'apply-or-counter' | 'review-only' | 'fyi' | 'ack-or-counter';
  files: readonly string[];
  /** Follows the fence and is not hashed. */
  language?: string;
  content: string;
}

const PART_BYTES = 16 * 1024;
const PART_LINES = 300;

/** An attachment as text to send: one envelope, or several if it is long. */
export function renderEnvelopes(attachment: Attachment): string[] {
  const parts = splitContent(attachment.content);
  return parts.map((content, index) => {
    const part = parts.length > 1 ? { number: index + 1, of: parts.length } : null;
    const token = renderRevision({ ...attachment, part, digits: digitsOf(content) });
    const fence = fenceFor(content);
    return [
      `Revision: ${token}`,
      `Format: ${attachment.format}`,
      `Review scope: ${attachment.reviewScope}`,
      `Ask: ${attachment.ask}`,
      ...(part ? [`Part: ${part.number}/${part.of}`] : []),
      attachment.files.length > 0 ? 'Files:' : 'Files: none',
      ...attachment.files.map((file) => `  - ${file}`),
      '',
      `${fence}${attachment.language ?? (attachment.format === 'unified-diff' ? 'diff' : 'text')}`,
      `${content}${fence}`,
      '',
    ].join('\n');
  });
}

/**
 * Content is hashed as written: every part ends with a line feed. The reference tool hashes a text without a final line
 * feed and then writes one before the fence, so such an attachment can never be verified.
 */
function splitContent(content: string): string[] {
  const text = content.replace(/\r\n/g, '\n');
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
  const parts: string[] = [];
  let part: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    const size = utf8Length(line) + 1;
    if (part.length > 0 && (bytes + size > PART_BYTES || part.length === PART_LINES)) {
      parts.push(`${part.join('\n')}\n`);
      part = [];
      bytes = 0;
    }
    part.push(line);
    bytes += size;
  }
  return [...parts, `${part.join('\n')}\n`];
}

/** Longer than any fence inside. */
function fenceFor(content: string): string {
  const longest = (content.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  return '`'.repeat(longest + 1);
}

export interface Envelope {
  /** The line of its `Revision:`, from 1. */
  line: number;
  token: string;
  /** Null when the token is malformed. */
  revision: Revision | null;
  fields: ReadonlyMap<string, string>;
  files: readonly string[];
  /** The text between the fence markers; null when there is no fence. */
  content: string | null;
  /** The digits that the token should end with. */
  digits: string | null;
  verdict: 'valid' | 'changed' | 'placeholder' | 'malformed' | 'no-payload';
}

/** Finds and verifies every envelope in a text. */
export function envelopesIn(text: string): Envelope[] {
  const lines = text
    .replace(/^\ufeff/, '')
    .replace(/\r\n/g, '\n')
    .split('\n');
  const found: Envelope[] = [];
  let open = null as { line: number; token: string; fields: Map<string, string>; files: string[] } | null;
  const close = (content: string | null): void => {
    if (open) found.push(verified({ ...open, content }));
    open = null;
  };
  for (let index = 0; index < lines.length; index++) {
    const line = (lines[index] ?? '').slice(0, LINE_CHARS);
    const fence = fenceOpened(line);
    if (fence !== null) {
      const end = fenceEnd(lines, index, fence.mark);
      const content = lines.slice(index + 1, end).map((one) => `${one}\n`);
      if (open) close(content.join(''));
      index = end;
      continue;
    }
    const token = /^(?:[-*] )?(?:\*\*)?Revision(?: token)?:(?:\*\*)?\s*`?(REV-[^\s`]+)/i.exec(line)?.[1];
    if (token !== undefined) {
      // A card names the token in its header and again above the attachment.
      if (open?.token !== token) close(null);
      open = { line: index + 1, token, fields: new Map(), files: [] };
    } else if (/^#{1,6}\s/.test(line)) close(null);
    else if (open) readField(line, open);
  }
  close(null);
  return found;
}

function readField(line: string, { fields, files }: { fields: Map<string, string>; files: string[] }): void {
  // Real files write the fields as a list, in bold or both.
  const field = /^(?:[-*] )?(?:\*\*)?(Format|Review scope|Ask|Part|Files):(?:\*\*)?\s*(.*)$/i.exec(line);
  const file = /^\s*-\s+(\S.*)$/.exec(line)?.[1];
  if (field) fields.set((field[1] ?? '').toLowerCase(), (field[2] ?? '').trim());
  else if (file !== undefined && fields.has('files')) files.push(file.trim());
}

function verified(envelope: Pick<Envelope, 'line' | 'token' | 'fields' | 'files' | 'content'>): Envelope {
  const { token, content } = envelope;
  const revision = parseRevision(token);
  const digits = content === null ? null : digitsOf(content);
  return { ...envelope, revision, digits, verdict: verdictOn(revision, digits) };
}

function verdictOn(revision: Revision | null, digits: string | null): Envelope['verdict'] {
  if (revision?.digits === NO_DIGITS) return 'placeholder';
  if (!revision) return 'malformed';
  if (digits === null) return 'no-payload';
  return revision.digits === digits ? 'valid' : 'changed';
}
