import type { Unknown } from '../format.ts';
import type { Page } from '../text/page.ts';
import type { ReadFolder } from './read.ts';

/** The sections and keys of a folder that the run model does not have. They stay as they are. */
export function unknownIn({ folder, turnfile, mailbox, worklog, questions }: ReadFolder): Unknown[] {
  const keys = [...(turnfile?.sections.values() ?? [])].flatMap(({ id, line }) =>
    isKnownKey.test(id) || folder.turnfile === null ? [] : [{ name: id, path: folder.turnfile, line }],
  );
  const counted = [
    { name: 'signal', entries: turnfile?.signals ?? [] },
    { name: 'turn request', entries: turnfile?.queue ?? [] },
  ].flatMap(({ name, entries: [first, ...rest] }) =>
    first && folder.turnfile !== null
      ? [{ name: `${rest.length + 1} ${name}${rest.length > 0 ? 's' : ''}`, path: folder.turnfile, line: first.line }]
      : [],
  );
  return [
    ...keys,
    ...counted,
    ...sectionsIn(mailbox?.page, folder.mailbox, isMailSection),
    ...sectionsIn(worklog?.page, folder.worklog, isLogSection),
    ...sectionsIn(questions?.page, folder.questions, isQuestionSection),
  ];
}

const isKnownKey = /^(?:turnfile|agents|maintainer|coordination|locks|turn_queue|messages)$/;
const isMailSection = /^(?:Quick Reply|Inbox|Open Queue|Active Messages|Closed Summary|Archive)/i;
const isLogSection = /^(?:Decision Index|Item Index|Archived Sessions|Session\s)/i;
const isQuestionSection = /^(?:Active|Deferred|Resolved)/i;

function sectionsIn(page: Page | undefined, path: string | null, isKnown: RegExp): Unknown[] {
  if (!page || path === null) return [];
  return page.headings
    .filter(({ level, title }) => level === 2 && !isKnown.test(title))
    .map(({ title, line }) => ({ name: title, path, line: line + 1 }));
}
