import { basename, extname, relative, resolve, sep } from 'node:path';
import * as v from 'valibot';
import { Fault, quoted } from '../../../core/fault.ts';
import type { Message, State } from '../../../core/fold/state.ts';
import { FilePath, printable, Text, utf8Length } from '../../../core/text.ts';
import { type Attachment, type Envelope, envelopesIn, renderEnvelopes } from '../../../formats/documents/envelope.ts';
import { conflictMarkers } from '../../../formats/text/lines.ts';
import { isInside, realPathOf } from '../../../workspace/files.ts';
import { fileSize, readText } from '../../../workspace/read.ts';
import { currentState } from '../../act.ts';
import type { Context } from '../../context.ts';
import { described } from '../../operation.ts';

/**
 * A text that is sent with a message byte for byte. It is part of the message as envelopes, each with a token that is the
 * checksum of its content, so that it can be verified wherever the message is copied.
 */
export const attachmentFields = {
  payload: v.optional(described(FilePath, 'A text file to attach, with a token that `check` verifies.')),
  payloadText: v.optional(described(Text, 'The attachment as text instead of a file.')),
  ask: v.optional(
    described(
      v.picklist(['apply-or-counter', 'review-only', 'ack-or-counter', 'fyi']),
      'What the recipient should do with the attachment (default: by the type of the message).',
    ),
  ),
};

export interface AttachmentInput {
  payload?: string | undefined;
  payloadText?: string | undefined;
  ask?: Attachment['ask'] | undefined;
}

type Carrier = Pick<Message, 'subject' | 'type'>;

/** The envelopes as they are put into a message; null without an attachment. */
export async function renderAttachment(
  context: Context,
  input: AttachmentInput,
  { subject, type }: Carrier,
): Promise<string | null> {
  const { payload: path, payloadText, ask } = input;
  if (path === undefined && payloadText === undefined) {
    if (ask === undefined) return null;
    throw new Fault('usage', '`ask` needs an attachment.', {
      hints: ['Name a file with `--payload FILE`.'],
    });
  }
  if (path !== undefined && payloadText !== undefined)
    throw new Fault('usage', 'A message has one attachment: a file or a text.', {
      hints: ['Leave out `payload` or `payloadText`.'],
    });
  const name = path === undefined ? null : nameOf(context, path);
  const content = mustBeText(
    path === undefined ? (payloadText as string) : readAttachment(context, path),
    path ?? null,
  );
  const topic = topicOf(name === null ? subject : basename(name, extname(name)));
  const format = isDiff(content) ? 'unified-diff' : 'full-text';
  const changed = format === 'unified-diff' ? filesIn(content) : [];
  const envelopes = renderEnvelopes({
    ...revisionFor(await currentState(context), topic, content, (await context.engine()).now()),
    topic,
    format,
    reviewScope: 'full',
    ask: ask ?? asks[type],
    files: changed.length > 0 ? changed : name === null ? [] : [name],
    content,
  });
  return ['Payload:', ...envelopes].join('\n\n').trimEnd();
}

export const withAttachment = (body: string, rendered: string | null): string =>
  rendered === null ? body : `${body.trimEnd()}\n\n${rendered}`;

export interface ReceivedAttachment {
  tokens: string[];
  verdict: Envelope['verdict'];
  format: string | null;
  ask: string | null;
  files: string[];
  content: string | null;
}

/** The attachments in a text; the parts of a long one are joined. */
export function attachmentsOf(text: string): ReceivedAttachment[] {
  const whole = new Map<string, Envelope[]>();
  for (const envelope of envelopesIn(text)) {
    const { revision, token, line } = envelope;
    const key = revision?.part ? `${revision.date}-${revision.topic}-${revision.sequence}` : `${line} ${token}`;
    whole.set(key, [...(whole.get(key) ?? []), envelope]);
  }
  return [...whole.values()].map((parts) => {
    const [first] = parts as [Envelope];
    const of = first.revision?.part?.of ?? 1;
    const isWhole = parts.every(({ revision }, index) => (revision?.part?.number ?? 1) === index + 1);
    const bad = parts.find(({ verdict }) => verdict !== 'valid')?.verdict;
    return {
      tokens: parts.map(({ token }) => token),
      verdict: bad ?? (isWhole && parts.length === of ? 'valid' : 'changed'),
      format: first.fields.get('format') ?? null,
      ask: first.fields.get('ask') ?? null,
      files: [...first.files],
      content: parts.some(({ content }) => content === null) ? null : parts.map(({ content }) => content).join(''),
    };
  });
}

/** The path in the tree; only the base name of a file elsewhere. */
function nameOf(context: Context, path: string): string {
  const tree = realPathOf(context.workspace()?.tree ?? context.dir);
  const file = realPathOf(resolve(context.dir, path));
  return isInside(tree, file) ? relative(tree, file).split(sep).join('/') : basename(file);
}

/** Small, because a resuming session reads the whole mailbox. */
const ATTACHMENT_BYTES = 128 * 1024;
/** Small enough for one envelope, because the token covers whole lines. */
const LINE_BYTES = 16 * 1024;

function readAttachment(context: Context, path: string): string {
  const file = resolve(context.dir, path);
  const bytes = fileSize(file);
  if (bytes === null)
    throw new Fault('not_found', `There is no file ${quoted(path)}.`, {
      hints: ['Give its path from here.'],
      data: { path },
    });
  if (bytes > ATTACHMENT_BYTES) throw tooLong(quoted(path));
  const text = readText(file);
  if (text === null) throw unfit(quoted(path), 'is not UTF-8 text', null);
  return text;
}

/** Refuses text that some readers would show with other bytes: its token could never be verified. */
function mustBeText(given: string, path: string | null): string {
  const name = path === null ? 'The attachment' : quoted(path);
  const content = given.replace(/^\ufeff/, '').replace(/\r\n/g, '\n');
  if (content.trim() === '') throw unfit(name, 'is empty', null);
  if (utf8Length(content) > ATTACHMENT_BYTES) throw tooLong(name);
  const lines = content.split('\n');
  const strange = lines.findIndex((line) => printable(line) !== line);
  if (strange >= 0) throw unfit(name, 'has characters that are not shown as they are', strange + 1);
  const long = lines.findIndex((line) => utf8Length(line) >= LINE_BYTES);
  if (long >= 0) throw unfit(name, 'has a line of more than 16 KiB', long + 1);
  const [merged] = conflictMarkers(lines);
  if (merged !== undefined) throw unfit(name, 'has merge conflict markers', merged + 1);
  return content;
}

const unfit = (name: string, what: string, line: number | null): Fault =>
  new Fault('invalid', `${name} ${what}${line === null ? '' : ` (line ${line})`}: it cannot be attached.`, {
    hints: ['Record the file with `holdfast checkpoint NAME --artifact FILE` and name it in the message.'],
  });

const tooLong = (name: string): Fault =>
  new Fault('invalid', `${name} is longer than 128 KiB, the limit for an attachment.`, {
    hints: ['Record the file with `holdfast checkpoint NAME --artifact FILE` and name it in the message.'],
  });

/** Part of the token. Tokens of snapshots have a topic of their own. */
function topicOf(words: string): string {
  const topic = words
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '');
  return topic === '' ? 'payload' : topic.startsWith('snapshot') ? `file-${topic}` : topic;
}

const isDiff = (content: string): boolean =>
  /^--- \S/m.test(content) && /^\+\+\+ \S/m.test(content) && /^@@/m.test(content);

/** The files that a diff changes, by their new names; a removed file by its old name. */
function filesIn(content: string): string[] {
  const named = [...content.matchAll(/^(?:---|\+\+\+) (?:[ab]\/)?([^\t\n]+)/gm)].map((match) =>
    (match[1] ?? '').trim(),
  );
  return [...new Set(named.filter((name) => name !== '/dev/null'))].slice(0, 100);
}

const asks: Readonly<Record<Message['type'], Attachment['ask']>> = {
  notify: 'fyi',
  request: 'apply-or-counter',
  'decision-required': 'review-only',
  objection: 'ack-or-counter',
  'handoff-ready': 'fyi',
};

/** The same content under the same topic keeps its token, so that a command can be repeated; other content gets the next. */
function revisionFor(state: State, topic: string, content: string, now: string): { date: string; sequence: number } {
  const date = now.slice(0, 10).replaceAll('-', '');
  let sequence = 0;
  for (const { body, replies } of state.messages.values()) {
    for (const text of [body, ...replies.map((reply) => reply.body)]) {
      if (!text.includes(`-${topic}-`)) continue;
      const own = envelopesIn(text).filter(({ revision }) => revision?.topic === topic);
      const [first] = own;
      const sent = own.map((envelope) => envelope.content).join('');
      if (first?.revision && sent === (content.endsWith('\n') ? content : `${content}\n`)) return first.revision;
      for (const { revision } of own) sequence = Math.max(sequence, revision?.sequence ?? 0);
    }
  }
  return { date, sequence: sequence + 1 };
}
