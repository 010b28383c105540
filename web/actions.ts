import { type Action, deed } from './action.tsx';

/** What a person can do about what is open. */

const note = (label: string, optional = true) => ({ name: 'note', label, kind: 'text', optional }) as const;
const said = (text: string | undefined) => (text ? { note: text } : {});

export function answerQuestion(run: string, id: string, text: string): Action {
  return {
    title: `Answer ${id}`,
    about: text,
    fields: [note('Your answer', false)],
    submit: 'Answer',
    run: deed('settle', run, `${id} is answered.`, ({ note: answer }) => ({ id, as: 'resolved', ...said(answer) })),
  };
}

export function settleItem(run: string, id: string, kind: string, text: string): Action {
  const choices =
    kind === 'blocker'
      ? [
          { value: 'resolved', label: 'Resolved: it is out of the way' },
          { value: 'bypassed', label: 'Bypassed: go on in spite of it' },
        ]
      : [
          { value: 'resolved', label: 'Resolved' },
          { value: 'deferred', label: 'Deferred: not now' },
          { value: 'withdrawn', label: 'Withdrawn: it was none' },
        ];
  return {
    title: `Settle ${kind} ${id}`,
    about: text,
    fields: [{ name: 'as', label: 'It becomes', kind: 'choice', choices }, note('What should be remembered about it')],
    submit: 'Settle',
    run: deed('settle', run, `${id} is settled.`, ({ as, note: told }) => ({
      id,
      as: as as 'resolved',
      ...said(told),
    })),
  };
}

export function acknowledgeMail(run: string, id: string, subject: string): Action {
  return {
    title: `Acknowledge ${id}`,
    about: subject,
    fields: [{ ...note('What the sender should know', false), initial: 'Seen.' }],
    submit: 'Acknowledge',
    run: deed('mail.ack', run, `${id} is acknowledged.`, ({ note: told = '' }) => ({ id, note: told })),
  };
}

export function replyToMail(run: string, id: string, subject: string): Action {
  return {
    title: `Reply to ${id}`,
    about: subject,
    fields: [{ name: 'body', label: 'Your words', kind: 'text' }],
    submit: 'Send',
    run: deed('mail.reply', run, `Replied to ${id}.`, ({ body = '' }) => ({ id, body })),
  };
}

export function closeMail(run: string, id: string, subject: string): Action {
  const choices = ['resolved', 'superseded', 'withdrawn'].map((value) => ({ value, label: value }));
  return {
    title: `Close ${id}`,
    about: subject,
    fields: [
      { name: 'as', label: 'It ended', kind: 'choice', choices },
      { ...note('How', false), initial: 'Done.' },
    ],
    submit: 'Close it',
    run: deed('mail.close', run, `${id} is closed.`, ({ as, note: told = '' }) => ({
      id,
      as: as as 'resolved',
      note: told,
    })),
  };
}

export function openGate(run: string, key: string, title: string): Action {
  return {
    title: `Open the gate of ${key}`,
    about: title,
    explain: 'Once it is open an agent may start this step.',
    fields: [],
    submit: 'Open the gate',
    run: deed('gate', run, `The gate of ${key} is open.`, () => ({ key, state: 'open' })),
  };
}

export function openAgain(run: string, key: string, title: string): Action {
  return {
    title: `Open ${key} again`,
    about: title,
    explain:
      'The next agent to start this step goes on from its last checkpoint. It counts as a retry, and its error is resolved.',
    fields: [note('What is different now')],
    submit: 'Open it again',
    run: deed('retry', run, `${key} is open again.`, ({ note: told }) => ({ key, open: true, ...said(told) })),
  };
}

export function skipStep(run: string, key: string, title: string): Action {
  return {
    title: `Skip ${key}`,
    about: title,
    explain: 'What comes after it goes on as if it were done.',
    fields: [{ name: 'reason', label: 'Why', kind: 'text' }],
    submit: 'Skip it',
    run: deed('skip', run, `${key} is skipped.`, ({ reason = '' }) => ({ key, reason })),
  };
}

export function acceptConflict(run: string, id: string, path: string): Action {
  return {
    title: `Accept conflict ${id}`,
    about: path,
    explain: 'You looked at it, and things may stay as they are. The next brief does not name it any more.',
    fields: [note('What should be remembered about it')],
    submit: 'Accept',
    run: deed('accept', run, `${id} is accepted.`, ({ note: told }) => ({ conflict: id, ...said(told) })),
  };
}

export function endEffect(run: string, id: string, name: string): Action {
  const choices = [
    { value: 'succeeded', label: 'It happened' },
    { value: 'failed', label: 'It did not happen' },
    { value: 'unknown', label: 'It cannot be told' },
  ];
  return {
    title: `Say how ${id} ended`,
    about: name,
    explain: 'Look first: the agent that began it never said.',
    fields: [{ name: 'outcome', label: 'What you found', kind: 'choice', choices }, note('How you know')],
    submit: 'Record it',
    run: deed('effect.end', run, `${id} is settled.`, ({ outcome, note: told }) => ({
      id,
      outcome: outcome as 'succeeded',
      ...said(told),
    })),
  };
}

export function handOver(run: string, session: string, agent: string): Action {
  return {
    title: `Hand over the work of ${agent} (${session})`,
    explain: 'The work stays where it is until the receiver accepts.',
    fields: [
      { name: 'to', label: 'To the agent', kind: 'line' },
      { name: 'message', label: 'What it should know first', kind: 'text', optional: true },
    ],
    submit: 'Offer it',
    run: deed('handoff', run, `The work of ${agent} is offered.`, ({ to = '', message }) => ({
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
    submit: 'Withdraw',
    run: deed('handoff.withdraw', run, `${id} is withdrawn.`, ({ reason }) => ({ id, ...(reason ? { reason } : {}) })),
  };
}

export function approveCompaction(run: string, moving: number, lines: number, linesAfter: number): Action {
  return {
    title: 'Approve the compaction',
    explain: `${moving} entries of the worklog move into an archive: ${lines} lines become ${linesAfter}. Nothing is lost.`,
    fields: [],
    submit: 'Approve',
    run: deed('compact', run, 'The worklog is compacted.', () => ({ approve: true })),
  };
}
