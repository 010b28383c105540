import { repositoryAt } from './git/repository.ts';
import { runGit } from './git/run.ts';

/** Names of the people who use this folder: the account, and the name and e-mail that git writes into commits. */
export async function peopleHere(dir: string): Promise<string[]> {
  return [...accountName(), ...(await gitNames(dir))];
}

export function accountName(): string[] {
  try {
    // Loaded on demand: few commands need it.
    return [process.getBuiltinModule('node:os').userInfo().username];
  } catch {
    // An account without an entry, as in some containers.
    return [];
  }
}

async function gitNames(dir: string): Promise<string[]> {
  const repository = repositoryAt(dir);
  if (repository === null) return [];
  const words = ['config', '--null', '--get-regexp', '^user\\.(name|email)$'];
  const answer = await runGit(repository, repository.root, words);
  if ('failed' in answer) return [];
  return answer.output.split('\0').flatMap((entry) => entry.split('\n').slice(1).join('\n') || []);
}
