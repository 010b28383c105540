import { type Action, calls, type Field } from './action.tsx';
import { shellWord } from './copy.tsx';

/** What a person can do in the dashboard. */

const note = (label: string, optional = true): Field => ({ name: 'note', label, kind: 'text', optional });
const noteOf = (text: string | undefined) => (text ? { note: text } : {});
const cli = (run: string, ...words: string[]): string => ['holdfast', ...words, '--run', shellWord(run)].join(' ');

export function answerQuestion(run: string, id: string, text: string): Action {
  return {
    title: `Answer ${id}`,
    about: text,
    fields: [note('Your answer', false)],
    submit: `Answer ${id}`,
    command: cli(run, 'answer', id, '"…"'),
    run: calls('settle', run, `${id} is answered.`, ({ note: answer }) => ({ id, as: 'resolved', ...noteOf(answer) })),
  };
}

export function settleItem(run: string, id: string, kind: string, text: string): Action {
  const choices =
    kind === 'blocker'
      ? [
          { value: 'resolved', label: 'Resolved' },
          { value: 'bypassed', label: 'Bypassed: continue despite it' },
        ]
      : [
          { value: 'resolved', label: 'Resolved' },
          { value: 'deferred', label: 'Deferred: not now' },
          { value: 'withdrawn', label: 'Withdrawn: not an issue' },
        ];
  return {
    title: `Resolve ${kind} ${id}`,
    about: text,
    fields: [{ name: 'as', label: 'Outcome', kind: 'choice', choices }, note('Note')],
    submit: `Resolve ${id}`,
    command: cli(run, 'settle', id, '--as', 'OUTCOME'),
    run: calls('settle', run, `${id} is updated.`, ({ as, note: words }) => ({
      id,
      as: as as 'resolved',
      ...noteOf(words),
    })),
  };
}

export function acknowledgeMail(run: string, id: string, subject: string): Action {
  return {
    title: `Acknowledge ${id}`,
    about: subject,
    fields: [note('What the sender should know', false)],
    submit: `Acknowledge ${id}`,
    command: cli(run, 'mail', 'ack', id, '--note', '"…"'),
    run: calls('mail.ack', run, `${id} is acknowledged.`, ({ note: text = '' }) => ({ id, note: text })),
  };
}

export function replyToMail(run: string, id: string, subject: string): Action {
  return {
    title: `Reply to ${id}`,
    about: subject,
    fields: [{ name: 'body', label: 'Message', kind: 'text' }],
    submit: `Reply to ${id}`,
    command: cli(run, 'mail', 'reply', id, '--body', '"…"'),
    run: calls('mail.reply', run, `Replied to ${id}.`, ({ body = '' }) => ({ id, body })),
  };
}

export function closeMail(run: string, id: string, subject: string): Action {
  const choices = [
    { value: 'resolved', label: 'Resolved' },
    { value: 'superseded', label: 'Superseded by something newer' },
    { value: 'withdrawn', label: 'Withdrawn' },
  ];
  return {
    title: `Close ${id}`,
    about: subject,
    fields: [{ name: 'as', label: 'Outcome', kind: 'choice', choices }, note('Note', false)],
    submit: `Close ${id}`,
    command: cli(run, 'mail', 'close', id, '--as', 'OUTCOME', '--note', '"…"'),
    run: calls('mail.close', run, `${id} is closed.`, ({ as, note: text = '' }) => ({
      id,
      as: as as 'resolved',
      note: text,
    })),
  };
}

export function openGate(run: string, key: string, title: string): Action {
  return {
    title: `Open the gate of ${key}`,
    about: title,
    explain: 'An agent may start this step once its gate is open.',
    fields: [],
    submit: `Open the gate of ${key}`,
    command: cli(run, 'gate', shellWord(key), 'open'),
    run: calls('gate', run, `The gate of ${key} is open.`, () => ({ key, state: 'open' })),
  };
}

export function retryStep(run: string, key: string, title: string): Action {
  return {
    title: `Retry ${key}`,
    about: title,
    explain:
      'The next agent to start this step continues from its last checkpoint. It counts as a retry, and its error is resolved.',
    fields: [note('What is different now')],
    submit: `Retry ${key}`,
    command: cli(run, 'retry', shellWord(key), '--open'),
    run: calls('retry', run, `${key} can be started again.`, ({ note: text }) => ({
      key,
      open: true,
      ...noteOf(text),
    })),
  };
}

export function skipStep(run: string, key: string, title: string): Action {
  return {
    title: `Skip ${key}`,
    about: title,
    explain: 'Steps after it continue as if it were done.',
    fields: [{ name: 'reason', label: 'Why', kind: 'text' }],
    submit: `Skip ${key}`,
    isGrave: true,
    command: cli(run, 'skip', shellWord(key), '--reason', '"…"'),
    run: calls('skip', run, `${key} is skipped.`, ({ reason = '' }) => ({ key, reason })),
  };
}

export function abandonRun(run: string, title: string): Action {
  return {
    title: 'Abandon this run',
    about: title,
    explain: 'It becomes read-only, and no agent continues it. What is recorded stays readable.',
    fields: [{ name: 'reason', label: 'Why', kind: 'text' }],
    submit: `Abandon ${run}`,
    isGrave: true,
    command: cli(run, 'abort', '--reason', '"…"'),
    run: calls('abort', run, 'The run is abandoned.', ({ reason = '' }) => ({ reason })),
  };
}

export function acceptConflict(run: string, id: string, path: string): Action {
  return {
    title: `Accept conflict ${id}`,
    about: path,
    explain: 'You checked it, and it may stay as it is. The next brief no longer lists it.',
    fields: [note('Note')],
    submit: `Accept ${id}`,
    command: cli(run, 'accept', id),
    run: calls('accept', run, `${id} is accepted.`, ({ note: text }) => ({ conflict: id, ...noteOf(text) })),
  };
}

export function endEffect(run: string, id: string, name: string): Action {
  const choices = [
    { value: 'succeeded', label: 'It happened' },
    { value: 'failed', label: 'It did not happen' },
    { value: 'unknown', label: 'Unknown' },
  ];
  return {
    title: `Record the outcome of ${id}`,
    about: name,
    explain: 'Check first: the agent that started it reported no outcome.',
    fields: [{ name: 'outcome', label: 'What you found', kind: 'choice', choices }, note('How you know')],
    submit: `Record the outcome of ${id}`,
    command: cli(run, 'effect', 'end', id, '--outcome', 'OUTCOME'),
    run: calls('effect.end', run, `The outcome of ${id} is recorded.`, ({ outcome, note: text }) => ({
      id,
      outcome: outcome as 'succeeded',
      ...noteOf(text),
    })),
  };
}

export function handOver(run: string, session: string, agent: string): Action {
  return {
    title: `Hand over the work of ${agent} (${session})`,
    explain: 'The work stays where it is until the receiver accepts.',
    fields: [
      { name: 'to', label: 'To the agent', kind: 'line' },
      { name: 'message', label: 'Message to the receiver', kind: 'text', optional: true },
    ],
    submit: `Offer the work of ${session}`,
    command: cli(run, 'handoff', 'AGENT', '--from', session),
    run: calls('handoff', run, `The work of ${agent} is offered.`, ({ to = '', message }) => ({
      to,
      from: session,
      ...(message ? { message } : {}),
    })),
  };
}

export function withdrawHandoff(run: string, id: string): Action {
  return {
    title: `Withdraw ${id}`,
    fields: [{ name: 'reason', label: 'Why', kind: 'text', optional: true }],
    submit: `Withdraw ${id}`,
    command: cli(run, 'handoff', 'withdraw', id),
    run: calls('handoff.withdraw', run, `${id} is withdrawn.`, ({ reason }) => ({ id, ...(reason ? { reason } : {}) })),
  };
}

export function approveCompaction(run: string, moving: number, lines: number, linesAfter: number): Action {
  return {
    title: 'Approve the compaction',
    explain: `${moving} entries of the worklog move into an archive: ${lines} lines become ${linesAfter}. Nothing is lost.`,
    fields: [],
    submit: `Move ${moving} entries`,
    command: cli(run, 'compact', '--approve'),
    run: calls('compact', run, 'The worklog is compacted.', () => ({ approve: true })),
  };
}
