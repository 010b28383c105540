import { describe, expect, it } from 'vitest';
import { addressRules } from './addresses.ts';
import { contextRules } from './context.ts';
import { prefixRules } from './prefixes.ts';
import { redact, redactRecord } from './redact.ts';
import { commandForms, knownKinds, measureRecall, proseForms, seeded } from './secrets.suite.ts';
import { commandRules, commandsIn, toolRules } from './tools.ts';

// The secrets are joined from pieces, so that no scanner takes this file for a leak.
const join = (...parts: string[]): string => parts.join('');
const random = 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA';

/** One or more for each rule, in realistic text. */
const secrets: [kind: string, text: string, secret: string][] = [
  ['aws key', 'export AWS_ACCESS_KEY_ID=', join('AKIA', 'QYLPMN5HHHFPZAM2')],
  ['github token', 'git clone https://x-access-token:', join('ghp_', random, 'aB3d')],
  ['github token', 'token is ', join('github_pat_', random)],
  ['gitlab token', 'PRIVATE-TOKEN ', join('glpat-', random.slice(0, 20))],
  ['slack token', 'slack ', join('xoxb-', '123456789012-', random.slice(0, 20))],
  ['slack webhook', 'post to ', join('https://hooks.slack.com/', 'services/T00000000/B00000000/', random.slice(0, 24))],
  ['stripe key', 'stripe ', join('sk_', 'live_', random)],
  ['stripe key', 'stripe ', join('rk_', 'test_', random)],
  ['anthropic key', 'key ', join('sk-', 'ant-api03-', random, random)],
  ['openai key', 'key ', join('sk-', 'proj-', random, random)],
  ['google key', 'maps ', join('AIza', random, 'abc')],
  ['npm token', '//registry/:_authToken ', join('npm_', random, 'aB3d')],
  ['sendgrid key', 'mail ', join('SG.', random.slice(0, 22), '.', random, random.slice(0, 11))],
  ['jwt', 'cookie ', join('eyJhbGciOiJIUzI1NiJ9', '.', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0', '.', random)],
  ['password in address', 'psql postgres://app:', join('hun', 'ter2!x')],
  ['authorization', 'curl -H "Authorization: Bearer ', join(random, '.', random)],
  ['authorization', 'curl -H "Authorization: Basic ', join('YWRhOmh1', 'bnRlcjIyNA==')],
  ['authorization', 'sent bearer ', join(random, random)],
  ['secret', 'DB_PASSWORD=', join('v9K', 'x2LmQ7pTz4R')],
  ['secret', '{"clientSecret": "', join('Qk3', '9vZx7Lm2TpR8sW1')],
];

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: that is how such settings are written
/** Ordinary code, settings and logs in which nothing is secret, whatever the names say. */
const harmless = [
  'const token = await readToken(request.headers);',
  'if (user.password === undefined) throw new Error("password: must not be empty");',
  'passwordInput: { type: "password", autoComplete: "current-password" }',
  'interface Options { apiKey?: string; secretName: string; keyPath: string }',
  'key: "users/profile/settings-page-2"',
  'DB_PASSWORD=${DB_PASSWORD:-changeme}',
  'token: process.env.GITHUB_TOKEN',
  'password: ${{ secrets.NPM_TOKEN }}',
  'API_KEY=your-api-key-here',
  'API_KEY=xxxxxxxxxxxxxxxxxxxx1',
  'Authorization: Bearer <token>',
  'postgres://localhost:5432/app and http://127.0.0.1:8080/api@2',
  'postgres://app:${PASSWORD}@db:5432/app',
  'sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'commit 5f0c2a1e7a3b4f609a510d6c7be1a001 Author: Ada',
  'integrity sha512-Kx2bq9v0mZ1xJr6t3sQe8w== resolved',
  'cache-key: node-modules-v2-linux-20',
  'primaryKey=user_id_2024_backup',
  'tokens: 12,345 of 200,000 (6 %)',
  'sk-learn-pipeline-for-classification is a folder, sk-SK a locale',
  'at Object.token (file:///srv/app/src/token.ts:12:34)',
  'The keyboard: monkey1234 sits on it.',
  'backend.secret = x.readUInt32BE(9)',
  'progressToken: ProgressTokenSchema$1.optional(),',
  'exports.AuthenticationMD5Password = AuthenticationMD5Password;',
  'keyframes: fade-in-2 0.3s ease-in-out',
  'ssh-rsa is a type; -----BEGIN CERTIFICATE----- is public',
  'request 550e8400-e29b-41d4-a716-446655440000 took 14 ms',
  'HEAD is now at 28d07eb8a585b314bb0f559f8087a226559e8365',
  'token: Rindfleischetikettierungsueberwachungsaufgabenuebertragungsgesetz',
  'token=ACCESS_TOKEN_SECONDS_2026_MAX',
  'password=<your password>',
  'client_secret: "********"',
  'img src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"',
  'sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXX0=',
  'http://localhost:3000 redirects to https://ada@example.com/path and ssh://git@github.com:22/ada/app.git',
  'http://localhost:3000/@vite/client:12',
  'redis://:***@cache:6379/0',
  'the bearer token is checked, then Authorization: Bearer authentication-is-required',
  'curl -H "Authorization: Bearer $ACCESS_TOKEN_FOR_CI_2026"',
  'Bearer 12345 is too short',
  'Authorization: Bearer your-token-goes-here-1234',
  'API_KEY=exampleKey9x2LmQ7pTz4R',
];

/** One or more for each rule: what has the mark of a secret but not its shape. */
const lookalikes: [rule: string, text: string][] = [
  ['private key', 'the file has no line with PRIVATE KEY in it'],
  ['private key', 'grep -c "BEGIN RSA PRIVATE KEY" *.pem'],
  ['aws key', join('AKIA', 'QYLPMN5HHHFPZAM is one character short')],
  ['aws key', join('AKIA', 'QYLPMN5HHHFPZAM22 is one too long')],
  ['aws key', join('BAKIA', 'QYLPMN5HHHFPZAM2 starts otherwise')],
  ['github token', join('ghp_', random, 'abc is one character short')],
  ['github token', join('xghp_', random, 'aB3d starts otherwise')],
  ['github token', 'github_pat_tokens_are_new'],
  ['gitlab token', join('glpat-', random.slice(0, 19))],
  ['slack token', 'xoxb-short and xoxq-123456789012-abcdef'],
  ['slack webhook', 'https://hooks.slack.com/services/ comes before the path'],
  ['stripe key', join('sk_', 'live_', random.slice(0, 15))],
  ['stripe key', join('task_', 'live_', random)],
  ['anthropic key', 'sk-ant-api03-short'],
  ['openai key', 'sk-this-is-a-long-name-of-a-branch-2'],
  ['google key', join('AIza', random, 'ab')],
  ['google key', join('AIza', random, 'abcd')],
  ['npm token', 'npm_config_registry and npm_lifecycle_event'],
  ['npm token', join('npm_', random, 'abc')],
  ['sendgrid key', 'SG.short.short and MSG.sent.to.everyone.in.the.team'],
  ['jwt', join('eyJhbGciOiJIUzI1NiJ9', '.', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0')],
  ['password in address', 'postgres://localhost:5432/app?user=ada@example.com'],
  ['authorization', 'Authorization: none of these words is a credential'],
  ['secret', 'passwordHash: createHash(algorithm2026v1)'],
  ['secret', 'key: aaaaaaaaaaaaaaaaaaaaaa11'],
];
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: only above

describe('redactRecord', () => {
  it('looks closely at every text with a form that it knows', () => {
    const forms = Object.entries({ ...knownKinds, ...commandForms, ...proseForms });
    for (const [name, form] of forms) {
      for (let seed = 0; seed < 40; seed++) {
        const { secret, text } = form(seeded(seed));
        for (const given of [text, secret]) {
          // A question mark always leads to the close look.
          const close = redactRecord(`? ${given}`).kinds;
          expect([name, redactRecord(given).kinds]).toEqual([name, close]);
        }
      }
    }
  });
});

describe('redact', () => {
  it.each(secrets)('removes a %s: %s…', (kind, before, secret) => {
    const after = kind === 'password in address' ? '@db.internal/app' : '" then more';
    const { text, kinds } = redact(`${before}${secret}${after}`);
    expect(text).not.toContain(secret);
    expect(text).toContain(`[redacted: ${kind}]`);
    expect(text.startsWith(before.slice(0, 4))).toBe(true);
    expect(kinds).toContain(kind);
  });

  it('removes a whole private key, also one that was cut off', () => {
    const body = `${random}\n${random}\n`;
    const begin = join('-----BEGIN RSA PRIVATE', ' KEY-----');
    const end = join('-----END RSA PRIVATE', ' KEY-----');
    expect(redact(`a\n${begin}\n${body}${end}\nb`).text).toBe(`a\n${begin}[redacted: private key]${end}\nb`);
    expect(redact(`a\n${begin}\n${body}`).text).toBe(`a\n${begin}[redacted: private key]`);
  });

  it.each(harmless)('leaves alone: %s', (text) => {
    expect(redact(text)).toEqual({ text, kinds: [] });
  });

  it.each(lookalikes)('leaves alone what only resembles a %s: %s', (_rule, text) => {
    expect(redact(text)).toEqual({ text, kinds: [] });
  });

  it('gives the same result when repeated', () => {
    const random = seeded(5);
    const forms = Object.values({ ...knownKinds, ...commandForms, ...proseForms });
    const texts = forms.flatMap((form) => Array.from({ length: 20 }, () => form(random).text));
    for (const text of [...secrets.map(([, before, secret]) => `${before}${secret}@x`), ...texts, texts.join('\n')]) {
      const once = redact(text).text;
      expect(redact(once)).toEqual({ text: once, kinds: [] });
    }
  });

  it('has a hint for every rule that matches whatever its pattern matches', () => {
    const random = seeded(6);
    const forms = Object.values({ ...knownKinds, ...commandForms, ...proseForms });
    const texts = [...secrets.map(([, before, secret]) => `${before}${secret}@x`), ...forms.map((f) => f(random).text)];
    const tools = toolRules().map((rule) => ({ ...rule, pattern: rule.tool }));
    for (const { kind, hint, pattern } of [
      ...prefixRules(),
      ...addressRules(),
      ...contextRules(),
      ...commandRules(),
      ...tools,
    ]) {
      const matching = texts.filter((text) => text.search(pattern()) >= 0);
      expect([kind, matching.filter((text) => !new RegExp(hint, 'i').test(text))]).toEqual([kind, []]);
    }
  });

  // A rule that backtracks would not end within the time limit of a test.
  it('takes no longer on hostile text than its length explains', () => {
    const pieces = [
      ...['key=', 'a:', '://', 'token', 'eyJ', 'eyJa.', 'password ', 'x://a:', 'Bearer ', '=:', 'a', 'a-', 'sk-', '\\'],
      ...[
        '-----BEGIN PRIVATE KEY-----',
        "mysql -p '",
        'curl -u a:',
        'user=a;',
        'machine a login b ',
        'docker a login ',
      ],
      ...[
        '--a-password ',
        'secret set a=',
        'echo a | sudo ',
        '"',
        "'",
        'M23456789012345678901234.',
        'git config a key',
      ],
      ...[
        'password is ',
        'htpasswd -b ',
        'expect send ',
        'a=b',
        'cookie: a=',
        'npm config set ',
        'x@',
        'https://aaaaaaaaaaaa',
      ],
    ];
    for (const piece of pieces) {
      const text = piece.repeat(Math.ceil(200_000 / piece.length));
      const begun = performance.now();
      expect(redact(text).text.length).toBeGreaterThan(0);
      expect([piece, performance.now() - begun < 3000]).toEqual([piece, true]);
    }
  });
});

describe('recall on fresh synthetic values', () => {
  const measure = (forms: Parameters<typeof measureRecall>[0]) =>
    measureRecall(forms, (text) => redact(text).text, { seed: 2026, each: 40 });

  it('C7: finds all of the 46 known kinds', () => {
    expect(measure(knownKinds)).toEqual({ found: 1840, tried: 1840, missed: {} });
  });

  it('finds at least 98 % of 40 further forms of commands', () => {
    const { found, tried } = measure(commandForms);
    expect([tried, found / tried >= 0.98]).toEqual([1600, true]);
  });

  it('finds at least 86 % in prose, settings, code and output, and misses plain words', () => {
    const { found, tried, missed } = measure(proseForms);
    expect([tried, found / tried >= 0.86, missed['one plain word']]).toEqual([400, true, 40]);
  });
});

describe('commands', () => {
  it.each([
    ["mysql -u root -p'a&b;c' shop", 'mysql -u root -p[redacted: password] shop'],
    ['mysql -u root -p shop', 'mysql -u root -p shop'],
    ['ssh h "mysqldump -phunter2 shop | gzip"', 'ssh h "mysqldump -p[redacted: password] shop | gzip"'],
    ['fly secrets set A=hunter2 B=hunter3', 'fly secrets set A=[redacted: secret] B=[redacted: secret]'],
    ['ls -p hunter2; mysql -h db', 'ls -p hunter2; mysql -h db'],
    ['mytool --password "two words" run', 'mytool --password [redacted: secret] run'],
    ['docker login -u me --password-stdin', 'docker login -u me --password-stdin'],
    ['curl -u "$USER:$PASS" https://x', 'curl -u "$USER:$PASS" https://x'],
    ['DB_PASSWORD=$(cat f) node x.js', 'DB_PASSWORD=$(cat f) node x.js'],
    ['docker login -pass file', 'docker login -pass file'],
    ['docker login -phunter2 reg', 'docker login -p[redacted: password] reg'],
    ['`sshpass -p`, `curl -u`, `docker login -p`', '`sshpass -p`, `curl -u`, `docker login -p`'],
    ['npm test -- --token-file ./t', 'npm test -- --token-file ./t'],
    ['git commit -m "fix: reset password form"', 'git commit -m "fix: reset password form"'],
    ['wrong-password rejection, app-specific-password when', 'wrong-password rejection, app-specific-password when'],
    ['psql postgres://app:p@ss:w0rd@db/prod', 'psql postgres://app:[redacted: password in address]@db/prod'],
    ['http://localhost:8080?mail=ada@example.com', 'http://localhost:8080?mail=ada@example.com'],
  ])('%s', (command, expected) => {
    expect(redact(command).text).toBe(expected);
  });

  it('are cut at marks outside of quotes and come together again', () => {
    expect(commandsIn(`a 'x;y' | b "c&d"; e "open\nf`)).toEqual([`a 'x;y' |`, ` b "c&d";`, ' e "open\n', 'f']);
    for (const [, text] of lookalikes) expect(commandsIn(text).join('')).toBe(text);
  });
});

describe('very long text', () => {
  const key = join('ghp_', random, 'aB3d');

  it('keeps its beginning and its end', () => {
    const { text } = redact(`first ${key}\n${'word '.repeat(100_000)}\nlast ${key}`);
    expect(text.length).toBeLessThan(257 * 1024);
    expect(text.startsWith('first [redacted: github token]\n')).toBe(true);
    expect(text.endsWith('\nlast [redacted: github token]')).toBe(true);
    expect(text).toMatch(/\[\d+ characters left out\]/);
  });

  it.each([0, 1, 7, 20, 39])('does not halve a secret that a cut would meet, %i characters in', (into) => {
    const half = 128 * 1024;
    const filler = (chars: number): string => 'word '.repeat(Math.ceil(chars / 5)).slice(-chars);
    const { text } = redact(`${filler(half - into)}${key} ${'word '.repeat(60_000)}${key}${filler(half - into)}`);
    expect(text).not.toMatch(/ghp_|aB3dE5|W8xY0z/);
  });

  it('drops the rest of a private key whose beginning is left out', () => {
    const body = `${random}\n`.repeat(400);
    const end = join('-----END RSA PRIVATE', ' KEY-----');
    const { text } = redact(`${'word '.repeat(60_000)}\n${body}${end}\n${'word '.repeat(25_000)}`);
    expect(text).not.toContain(random);
  });
});

describe('what is recorded on purpose', () => {
  it('loses tokens, keys and passwords in addresses, and nothing that is only suspected', () => {
    const key = join('ghp_', random, 'aB3d');
    expect(redactRecord(`use ${key}`)).toEqual({ text: 'use [redacted: github token]', kinds: ['github token'] });
    expect(redactRecord('see postgres://app:hunter2@db').kinds).toEqual(['password in address']);
    for (const text of ['the password is Sommer2026!', 'mysql -phunter2', 'DB_PASSWORD=v9Kx2LmQ7pTz4R'])
      expect(redactRecord(text)).toEqual({ text, kinds: [] });
    const long = 'word '.repeat(100_000);
    expect(redactRecord(long).text).toBe(long);
  });
});
