import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ModelMessage as Message, RunModel } from '../../core/model/run-model.ts';
import { nextAlias } from './alias.ts';
import { fixture, home, now, write } from './fixture.suite.ts';
import { snap } from './format.ts';

describe('MAILBOX.md', () => {
  it('reads cards and not what an attachment quotes', () => {
    const { model } = fixture('pilot');
    expect(model.messages.map((message) => [message.alias, message.status])).toEqual([
      ['MSG-20260201-001', 'closed'],
      ['MSG-20260202-002', 'closed'],
      ['MSG-20260203-003', 'actioned'],
      ['MSG-20260203-004', 'unread'],
    ]);
    expect(model.messages[2]).toMatchObject({
      acks: [
        { by: 'Ada', at: '2026-02-03', note: 'Taken as they are.' },
        { by: 'Bo', at: '2026-02-03', note: 'Good.' },
      ],
      replies: [{ from: 'Ada', body: 'One question remains:\nwhich epoch?' }],
      body: '**Context:** The model is final.',
    });
  });

  it('reports contradictions with their lines', () => {
    const { found, files } = fixture('pilot');
    const codes = snap.parse(found, files).problems.map(({ code, line }) => `${code}:${line}`);
    expect(codes).toEqual(
      expect.arrayContaining([
        'inbox_count:17',
        'unknown_status:83',
        'active_and_closed:77',
        'not_queued:56',
        'split_table:96',
      ]),
    );
  });

  it('checks the attachment of a card against its token, in both forms of an envelope', () => {
    const { found, files } = fixture('pilot');
    const codes = (token: string, bullet: string): string[] => {
      const envelope = `${bullet}Revision: REV-20260203-clock-01-h${token}\n${bullet}Ask: fyi\n\n\`\`\`text\nTick\n\`\`\`\n`;
      const text = (files.get(`${home}MAILBOX.md`) ?? '').replace('Please look at the payload.\n', envelope);
      const { problems } = snap.parse(found, new Map(files).set(`${home}MAILBOX.md`, text));
      return problems
        .map((problem) => problem.code)
        .filter((code) => code.includes('token_') || code.includes('_token'));
    };
    const right = createHash('sha256').update('Tick\n').digest('hex').slice(0, 8);
    expect(codes(right, '')).toEqual(['bad_token']);
    expect(codes(right, '- ')).toEqual(['bad_token']);
    expect(codes('0c33aebb', '- ')).toEqual(['token_changed', 'bad_token']);
    expect(codes('00000000', '')).toEqual(['placeholder_token', 'bad_token']);
  });

  it('finds the one changed attachment among valid ones', () => {
    const { found, files } = fixture('payloads');
    const codes = snap.parse(found, files).problems.map(({ code, line }) => `${code}:${line}`);
    expect(codes.filter((one) => one.includes('token'))).toEqual(['token_changed:40']);
  });

  it('leaves the content of a fence as it is, whatever surrounds it', () => {
    const attachment = '````text\n# Title\n<!-- open\n```\n---\n**Ack:** x | y | z\n````';
    const body = `<!-- said\n# Heading\n-->\n~~~\nnobody closes this\n\n${attachment}\n\n\t\`\`\`js`;
    const { model, text, problems } = write('pilot', (one) => ({
      ...one,
      messages: [...one.messages, { ...(one.messages.at(-1) as Message), alias: 'MSG-20260204-001', body }],
    }));
    expect(text('MAILBOX.md')).toContain(`\n${attachment}\n`);
    expect(model.messages.find((one) => one.alias === 'MSG-20260204-001')?.body).toBe(body);
    expect(problems.filter((one) => one.level === 'error')).toEqual([]);
  });

  it('is not damaged by conflict markers in a text', () => {
    const marks = '<<<<<<< HEAD\none\n=======\nother\n>>>>>>> theirs';
    for (const body of [marks, `Look:\n\n\`\`\`\n${marks}\n\`\`\`\n\n\`\`\`\n# kept\n\`\`\``]) {
      const { model, text } = write('pilot', (one) => ({
        ...one,
        messages: [...one.messages, { ...(one.messages.at(-1) as Message), alias: 'MSG-20260204-001', body }],
      }));
      expect(model.messages.find((one) => one.alias === 'MSG-20260204-001')?.body).toBe(body);
      expect(text('MAILBOX.md').includes('\n```\n# kept\n```')).toBe(body !== marks);
    }
  });

  it('acknowledges a message in place and updates the tables', () => {
    const { text, lost, problems } = write('pilot', (one) => ({
      ...one,
      messages: one.messages.map((message) =>
        message.alias === 'MSG-20260203-004'
          ? {
              ...message,
              status: 'acknowledged',
              acks: [{ by: 'Bo', at: '2026-02-04', to: 'acknowledged', note: 'On it' }],
            }
          : message,
      ),
    }));
    expect(lost('MAILBOX.md')).toEqual(['| Bo | 2 | MSG-20260203-004 | next session |', '**Status:** unread']);
    expect(text('MAILBOX.md')).toContain('\n\n**Ack:** Bo | 2026-02-04 | acknowledged: On it\n\nPlease look');
    const codes = problems.map((problem) => problem.code);
    expect(codes).not.toContain('inbox_count');
    expect(codes).not.toContain('not_queued');
  });

  it('reads and writes cards with short headings in place', () => {
    const { found, files } = fixture('pilot');
    const path = `${home}MAILBOX.md`;
    const card =
      '### M-5: Which buoy?\n\n**From:** Ada -> Bo\n**Date:** 2026-02-05\n**Status:** unread\n\nThe red one?\n';
    const heading = '## M-7 milestones\n\nNo card at all.\n';
    const text = (files.get(path) ?? '').replace('### MSG-20260203-003', `${card}\n---\n\n### MSG-20260203-003`);
    const short = new Map([...files, [path, `${text}\n${heading}`]]);
    const model = snap.parse(found, short).model as RunModel;
    expect(model.messages.filter(({ alias }) => alias?.startsWith('M-'))).toMatchObject([
      { alias: 'M-5', from: 'Ada', to: 'Bo', subject: 'Which buoy?', body: 'The red one?', status: 'unread' },
    ]);
    expect([...snap.render(model, found, short, now).keys()]).toEqual([]);
    const messages = model.messages.map((one) => (one.alias === 'M-5' ? { ...one, status: 'actioned' as const } : one));
    const after = snap.render({ ...model, messages }, found, short, now).get(path) ?? '';
    expect(after).toContain(card.replace('unread', 'actioned'));
    expect(after).toContain(heading);
  });

  it('moves a closed message to the archive', () => {
    const { text, model, all } = write('pilot', (one) => ({
      ...one,
      messages: one.messages.map((message) =>
        message.alias === 'MSG-20260203-004'
          ? {
              ...message,
              status: 'closed',
              disposition: 'resolved',
              acks: [{ by: 'Ada', at: '2026-02-05', to: 'closed', note: 'Done' }],
            }
          : message,
      ),
    }));
    expect(text('MAILBOX.md')).not.toContain('### MSG-20260203-004');
    expect(text('MAILBOX.md')).toContain('| MSG-20260203-004 | 2026-02-03 | Ada -> Bo | closed (resolved) | Done |');
    expect(text('MAILBOX_ARCHIVE.md')).toContain('**Review scope:** full');
    expect(text('MAILBOX_ARCHIVE.md')).toContain('### MSG-20260203-099');
    expect(model.messages.at(-1)).toMatchObject({
      alias: 'MSG-20260203-004',
      status: 'closed',
      body: expect.stringContaining('## Not a section'),
    });
    expect(nextAlias(all, 'message', '2026-02-03')).toBe('MSG-20260203-100');
  });

  it('adds a new message first, with the next id', () => {
    const { text, model } = write('pilot', (one) => ({
      ...one,
      messages: [
        ...one.messages,
        {
          id: 'M-7',
          from: 'Bo',
          to: 'Ada',
          type: 'notify',
          priority: 'P2',
          status: 'unread',
          subject: 'Hello',
          body: '### MSG-1\n\n```\nopen',
          at: '2026-02-05T10:00:00Z',
        },
      ],
    }));
    expect(model.messages.at(-1)).toMatchObject({ alias: 'MSG-20260205-001', body: '### MSG-1\n\n```\nopen' });
    expect(text('MAILBOX.md').indexOf('### MSG-20260205-001')).toBeLessThan(
      text('MAILBOX.md').indexOf('### MSG-20260203-004'),
    );
    expect(text('MAILBOX.md')).toContain('| Ada | 1 | MSG-20260205-001 | none |');
  });

  it('does not read a comment after a card as its text', () => {
    const { model } = write('template', (one) => ({
      ...one,
      messages: [
        {
          from: 'ada',
          to: 'bo',
          type: 'notify',
          priority: 'P2',
          status: 'unread',
          subject: 'Hi',
          body: 'There',
          at: '2026-02-05',
        },
      ],
    }));
    expect(model.messages).toMatchObject([{ alias: 'MSG-20260205-001', body: 'There' }]);
  });

  it('edits a card in the old form, a table', () => {
    const { text, lost } = write('plain', (one) => ({
      ...one,
      messages: one.messages.map((message) => ({ ...message, status: 'acknowledged' as const })),
    }));
    expect(text('MAILBOX.md')).toContain('| Status | acknowledged |');
    expect(lost('MAILBOX.md')).toEqual(['| Bo | 1 | MSG-20260301-001 | none |', '| Status | unread |']);
  });
});

describe('MAILBOX.json', () => {
  const close = (one: RunModel): RunModel => ({
    ...one,
    messages: one.messages.map((message) =>
      message.alias === 'MSG-20260203-003'
        ? { ...message, status: 'closed', acks: [{ by: 'Bo', at: '2026-02-04', note: 'Merged' }] }
        : message,
    ),
  });

  it('is generated with every write of its mailbox, and with no other', () => {
    const { text, written } = write('payloads', close);
    const read = JSON.parse(text('MAILBOX.json'));
    expect(read).toMatchObject({
      generated_at: now,
      source_file: 'working-session/MAILBOX.md',
      format_version: 'mailbox-compact-v1',
      metadata: { date_initialized: '2026-02-03', full_history: '`working-session/MAILBOX_ARCHIVE.md`' },
      inbox_snapshot: [{ agent: 'Ada', unread: 0, oldest_unread: 'none', needs_response_by: 'none' }, {}, {}],
      closed_summary: [{ id: 'MSG-20260203-003', from_to: 'Bo -> Ada', outcome: 'Merged', due: '' }],
      written_by: 'exporter',
    });
    expect(Object.keys(read).at(-1)).toBe('written_by');
    expect(read.open_queue.map((row: { id: string }) => row.id)).toEqual([
      'MSG-20260203-004',
      'MSG-20260203-002',
      'MSG-20260203-001',
    ]);
    expect(read.active_messages[0]).toMatchObject({
      id: 'MSG-20260203-004',
      fields: { from: 'Bo -> Ada', status: 'actioned', closure_owner: 'Bo' },
      summary: [expect.stringContaining('## What changes')],
      ack: [expect.stringContaining('Ada | 2026-02-03 | **Apply.**')],
      reply: [],
    });
    expect([...written.keys()]).toContain(`${home}MAILBOX.json`);
    const { written: other } = write('payloads', (one) => ({
      ...one,
      items: [...one.items, { kind: 'question', text: 'Which epoch?', status: 'open' }],
    }));
    expect([...other.keys()]).not.toContain(`${home}MAILBOX.json`);
  });

  it('is not created where there is none, and a damaged one is replaced', () => {
    const { found, files, model } = fixture('payloads');
    const without = new Map([...files].filter(([path]) => !path.endsWith('.json')));
    const place = { ...found, files: [...without.keys()] };
    expect([...snap.render(close(model), place, without, now).keys()]).not.toContain(`${home}MAILBOX.json`);
    const damaged = new Map(files).set(`${home}MAILBOX.json`, '{"generated_at": ');
    const made = snap.render(close(model), found, damaged, now).get(`${home}MAILBOX.json`) ?? '';
    expect(JSON.parse(made)).toMatchObject({
      source_file: 'working-session/MAILBOX.md',
      active_messages: [{}, {}, {}],
    });
  });
});

describe('ids', () => {
  it('rise within each day and include those only mentioned', () => {
    const files = new Map([['a', 'see MSG-20260101-007 and OQ-012, OQ-009']]);
    expect(nextAlias(files, 'message', '2026-01-01T00:00:00Z')).toBe('MSG-20260101-008');
    expect(nextAlias(files, 'message', '2026-01-02')).toBe('MSG-20260102-001');
    expect(nextAlias(files, 'question', '2026-01-02', ['OQ-020'])).toBe('OQ-021');
    expect(nextAlias(files, 'task', '2026-01-02')).toBe('task-001');
  });
});
