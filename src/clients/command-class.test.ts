import { describe, expect, it } from 'vitest';
import { classOfCommand } from './command-class.ts';

describe('the class of a command', () => {
  it.each([
    'ls -la',
    'cat a.ts | grep -n x | wc -l',
    'git status',
    'git branch -a',
    'git log --oneline && git diff',
    'sed -n 1,20p a.ts',
    'npm ls',
    'npm --version',
    'docker logs web',
    'kubectl get pods',
    'gh pr view 4',
    'python3 --version',
    'FOO=1 env',
    'sudo cat /etc/hosts',
    'ls 2>&1 >/dev/null',
    '[ -f a ]',
  ])('is read: %s', (command) => expect(classOfCommand(command)).toBe('read'));

  it.each([
    'npm run build',
    'npm test -- --watch=false',
    'pnpm exec vitest',
    'yarn eslint .',
    'npx tsc -p .',
    'make check',
    'mkdir -p dist',
    'cargo test',
    'go mod tidy',
    'python -m pytest',
    './gradlew build',
    'git add . && git fetch',
    'terraform plan',
    'docker build .',
    'echo hello > a.txt',
    'cd web && npm ci',
  ])('is idempotent: %s', (command) => expect(classOfCommand(command)).toBe('idempotent'));

  it.each([
    './run.sh',
    'node build.js',
    'mkdir dist',
    'make',
    'git commit -m x',
    'sed -i s/a/b/ a.ts',
    'sed -n -i p a.ts',
    'find . -delete',
    'find . -exec touch {} +',
    'echo $(whoami)',
    'echo a >> log',
    'npm ls && ./run.sh',
    'constructor',
    'toString -n',
  ])('is unknown: %s', (command) => expect(classOfCommand(command)).toBe('unknown'));

  it.each([
    'git push origin main',
    'git reset --hard HEAD~1',
    'git clean -fd',
    'git filter-branch --all',
    'npm publish',
    'cargo yank 1.0.0',
    'twine upload dist/*',
    'rm -rf dist',
    'terraform apply',
    'pulumi up',
    'ansible-playbook site.yml',
    'kubectl delete pod a',
    'helm upgrade web .',
    'docker system prune',
    'gh release create v1',
    'curl https://a.example -X POST',
    'aws s3 rm s3://a',
    'fly deploy',
    'psql -c "drop table users"',
    "mysql -e 'DELETE FROM users'",
    'dd if=/dev/zero of=/dev/sda',
    'mkfs.ext4 /dev/sda1',
    'kill 12',
    'scp a host:',
    'rsync -a a host:',
    './deploy.sh production',
    'make deploy',
    'npm ci && GIT_DIR=x git push',
  ])('is irreversible: %s', (command) => expect(classOfCommand(command)).toBe('irreversible'));

  it('comes from the beginning of a long line, quickly', () => {
    expect(classOfCommand(`ls ${'a '.repeat(1_000_000)}`)).toBe('read');
    expect(classOfCommand(`${'x='.repeat(2000)} ls`)).toBe('unknown');
  });
});
