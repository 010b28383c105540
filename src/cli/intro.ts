import { clientNames } from '../clients/index.ts';
import type { Pen } from '../operations/operation.ts';
import { repositoryAt } from '../workspace/git/repository.ts';

/** The text of `holdfast` alone where there is no run to show: what it is, and what to do first. */
export function introduction(dir: string, pen: Pen): string {
  const here =
    repositoryAt(dir) === null
      ? 'This folder is not in a git repository; `holdfast init` makes it a workspace. In a repository nothing is needed but:'
      : 'Nothing recorded here yet. Set up recording in a client, then work as usual:';
  return [
    'Holdfast remembers where your coding agent was, so the next session can continue.',
    '',
    here,
    `  ${pen.bold('holdfast install claude')}   or ${clientNames.slice(1).join(', ')}, all`,
    `  ${pen.bold('holdfast demo')}             see it work, without an agent`,
    `  ${pen.bold('holdfast help')}             the commands`,
  ].join('\n');
}
