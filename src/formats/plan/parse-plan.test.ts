import { describe, expect, it } from 'vitest';
import { parsePlan } from './parse-plan.ts';
import type { PlanPage } from './plan-page.ts';

/** One line per step: key, title, and what the page says about it. */
function lines({ steps }: PlanPage): string[] {
  return steps.map(({ key, title, after, done, skipped, parallel, detail, parent }) =>
    [
      parent ? '  ' : '',
      `${key} ${title}`,
      done ? ' done' : '',
      skipped ? ' skipped' : '',
      parallel ? ' parallel' : '',
      after ? ` after ${after.join(' ')}` : '',
      detail === null ? '' : ` (${detail})`,
    ].join(''),
  );
}

const rest = ({ rest }: PlanPage): string[] => rest.map(({ heading, as }) => `${heading}: ${as}`);

describe('a plan in Markdown', () => {
  it('is a check-list below headings, with nested tasks and details', async () => {
    const page = await parsePlan(
      '# Ferry times\n\nFor the island.\n\n## Server\n- [x] Read the timetable\n- [ ] Serve it\n  - [ ] Retry after an error\n    - three times at most\n- plain\n\n## Client\n1. [-] Old map\n2. [ ] New map\n   continued\n',
    );
    expect(page.title).toBe('Ferry times');
    expect(lines(page)).toEqual([
      'p1 Server',
      '  p1.1 Read the timetable done',
      '  p1.2 Serve it',
      '  p1.2.1 Retry after an error (three times at most)',
      'p2 Client',
      '  p2.1 Old map skipped',
      '  p2.2 New map (continued)',
    ]);
  });

  it('is a set of numbered headings', async () => {
    const page = await parsePlan(
      '# Move the archive\n## Phase 1: Prepare\n### Task 1.1 Count the boxes\nBy hand.\n### Task 1.2: Label them\n(after 1.1)\n## Phase 2 — Move\n- Hire a van\n- Drive\n  - slowly\n## Out of scope\nThe cellar\n',
    );
    expect(lines(page)).toEqual([
      'p1 Prepare',
      '  p1.1 Count the boxes (By hand.)',
      '  p1.2 Label them after p1.1',
      'p2 Move',
      '  p2.1 Hire a van',
      '  p2.2 Drive',
      '  p2.2.1 slowly',
    ]);
    expect(page.rest).toEqual([{ heading: 'Out of scope', as: 'constraint', text: 'The cellar', paths: [] }]);
  });

  it('is the numbered list of a section called steps; the other sections are not steps', async () => {
    const page = await parsePlan(
      '# Plan: Export\n## Context\nThe office needs a file.\n## Approach\n1. Stream.\n2. Do not buffer.\n## 🔧 Implementation steps\n1. Add the route\n   - in `src/routes.ts`\n2. ~~Cache it~~\n3. Write rows (depends on 1)\n## Key files\n- `src/routes.ts`\n- docs/export.md (new)\n## Verification\n- npm test\n## Sizes\nLarge.\n',
    );
    expect(page).toMatchObject({ title: 'Export', goal: 'The office needs a file.' });
    expect(lines(page)).toEqual([
      't1 Add the route (in `src/routes.ts`)',
      't2 Cache it skipped',
      't3 Write rows after t1',
    ]);
    expect(rest(page)).toEqual([
      'Context: goal',
      'Approach: note',
      'Key files: reading',
      'Verification: note',
      'Sizes: left',
    ]);
    expect(page.rest[2]?.paths).toEqual(['src/routes.ts', 'docs/export.md']);
  });

  it('is the only numbered list of a page', async () => {
    const page = await parsePlan('Release 9\n\n1. Freeze\n2. Build\n   - sign it\n\n3. ✅ Announce\n\nThanks.\n');
    expect(lines(page)).toEqual(['t1 Freeze', 't2 Build (sign it)', 't3 Announce done']);
    expect((await parsePlan('1. a\n\nor\n\n1. b\n')).steps).toEqual([]);
  });

  it('takes keys and places that are written, if they are unique', async () => {
    const page = await parsePlan(
      '## Phase 3: Build\n- [ ] T001 [P] Make the folder\n- [ ] [AUTH-12] Sign in, depends on T001\n- [ ] 3.7 Test it (after AUTH-12 and 9.9)\n- [ ] T001 Again\n',
    );
    expect(lines(page)).toEqual([
      'p3 Build',
      '  T001 Make the folder parallel',
      '  AUTH-12 Sign in after T001',
      '  p3.7 Test it after AUTH-12',
      '  p3.1 Again',
    ]);
    expect(rest(page)).toEqual(['"after 9.9" in line 4: left']);
  });

  it('has no steps in code, quotes, comments, front matter and what is out of scope', async () => {
    const page = await parsePlan(
      '---\ntags: [a]\n---\n```\n- [ ] code\n```\n> - [ ] quote\n<!-- - [ ] comment\n- [ ] comment -->\n## Tasks\n- [ ] One\n## Non-goals\n- [ ] Two\n## Risks\n- [ ] Three\n',
    );
    expect(lines(page)).toEqual(['t1 One', 'p1 Risks', '  p1.1 Three']);
  });

  it('without a list has no steps, and says what was seen', async () => {
    const page = await parsePlan('# A\n\nWords.\n\n## B\n\nMore\nwords.\n');
    expect(page).toMatchObject({ steps: [], seen: { headings: 2, paragraphs: 2, items: 0 } });
  });
});

describe('a plan as data', () => {
  it('is read with the field names that other tools use', async () => {
    const page = await parsePlan(
      'title: Sign-in\ngoal: Fewer calls\ntasks:\n- {id: auth-1, name: Issue tokens, status: done, estimate: 3d}\n- id: auth-2\n  description: Rotate tokens. Old ones stay\n    valid.\n  depends_on: auth-1\n  subtasks: [Add the column, Revoke the rest]\n  estimate: 1d\n- {content: Announce, status: cancelled, activeForm: Announcing}\n',
    );
    expect(lines(page)).toEqual([
      'auth-1 Issue tokens done',
      'auth-2 Rotate tokens after auth-1 (Old ones stay valid.)',
      '  auth-2.1 Add the column',
      '  auth-2.2 Revoke the rest',
      't3 Announce skipped',
    ]);
    expect(page).toMatchObject({ title: 'Sign-in', goal: 'Fewer calls', ignored: { estimate: 2 }, problems: [] });
  });

  it('is recognised by its content, whatever the file is called', async () => {
    expect(lines(await parsePlan('[{"task": "a"}, "b"]'))).toEqual(['t1 a', 't2 b']);
    expect(lines(await parsePlan('- [ ] a\n- [x] b\n', 'TODO'))).toEqual(['t1 a', 't2 b done']);
    expect((await parsePlan('name: x\nversion: 1\n', 'x.yaml')).steps).toEqual([]);
  });

  it('names the line of a step that cannot be read', async () => {
    const { problems } = await parsePlan('steps:\n- {key: a, title: A}\n- {key: b}\n- 5\n', 'plan.yaml');
    expect(problems).toEqual([
      { line: 3, message: expect.stringContaining('title') },
      { line: 4, message: expect.stringContaining('title') },
    ]);
  });
});
