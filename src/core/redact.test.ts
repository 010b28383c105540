import { describe, expect, it } from 'vitest';
import { mayHoldSecret, redact } from './redact.ts';

// Put together piece by piece: no scanner should take this file for a leak.
const join = (...parts: string[]): string => parts.join('');
const messages = 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA';

/** One of each, in words as they occur, and what must be left of it. */
const secrets: [kind: string, text: string, secret: string][] = [
  ['aws key', 'export AWS_ACCESS_KEY_ID=', join('AKIA', 'QYLPMN5HHHFPZAM2')],
  ['github token', 'git clone https://x-access-token:', join('ghp_', messages, 'aB3d')],
  ['github token', 'token is ', join('github_pat_', messages)],
  ['gitlab token', 'PRIVATE-TOKEN ', join('glpat-', messages.slice(0, 20))],
  ['slack token', 'slack ', join('xoxb-', '123456789012-', messages.slice(0, 20))],
  [
    'slack webhook',
    'post to ',
    join('https://hooks.slack.com/', 'services/T00000000/B00000000/', messages.slice(0, 24)),
  ],
  ['stripe key', 'stripe ', join('sk_', 'live_', messages)],
  ['anthropic key', 'key ', join('sk-', 'ant-api03-', messages, messages)],
  ['openai key', 'key ', join('sk-', 'proj-', messages, messages)],
  ['google key', 'maps ', join('AIza', messages, 'abc')],
  ['npm token', '//registry/:_authToken ', join('npm_', messages, 'aB3d')],
  ['sendgrid key', 'mail ', join('SG.', messages.slice(0, 22), '.', messages, messages.slice(0, 11))],
  ['jwt', 'cookie ', join('eyJhbGciOiJIUzI1NiJ9', '.', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0', '.', messages)],
  ['password in address', 'psql postgres://app:', join('hun', 'ter2!x')],
  ['authorization', 'curl -H "Authorization: Bearer ', join(messages, '.', messages)],
  ['secret', 'DB_PASSWORD=', join('v9K', 'x2LmQ7pTz4R')],
  ['secret', '{"clientSecret": "', join('Qk3', '9vZx7Lm2TpR8sW1')],
];

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: that is how such settings are written
/** Ordinary code, settings and logs in which nothing is secret, however it is called. */
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
];
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: only above

describe('redact', () => {
  it.each(secrets)('takes out a %s: %s…', (kind, before, secret) => {
    const after = kind === 'password in address' ? '@db.internal/app' : '" then more';
    const { text, kinds } = redact(`${before}${secret}${after}`);
    expect(text).not.toContain(secret);
    expect(text).toContain(`[redacted: ${kind}]`);
    expect(text.startsWith(before.slice(0, 4))).toBe(true);
    expect(kinds).toContain(kind);
  });

  it('takes out a private key whole, also one that was cut off', () => {
    const body = `${messages}\n${messages}\n`;
    const begin = join('-----BEGIN RSA PRIVATE', ' KEY-----');
    const end = join('-----END RSA PRIVATE', ' KEY-----');
    expect(redact(`a\n${begin}\n${body}${end}\nb`).text).toBe(`a\n${begin}[redacted: private key]${end}\nb`);
    expect(redact(`a\n${begin}\n${body}`).text).toBe(`a\n${begin}[redacted: private key]`);
  });

  it.each(harmless)('leaves alone: %s', (text) => {
    expect(redact(text)).toEqual({ text, kinds: [] });
  });

  it('is the same when it is done twice', () => {
    for (const [, before, secret] of secrets) {
      const once = redact(`${before}${secret}@x`).text;
      expect(redact(once).text).toBe(once);
    }
  });

  it('needs one look where there is nothing, and no rule sees what the look misses', () => {
    expect(mayHoldSecret('export function add(a: number, b: number) { return a + b; }')).toBe(false);
    for (const [, before, secret] of secrets) expect(mayHoldSecret(`${before}${secret}@x`)).toBe(true);
  });

  // A rule that tries every place from every place would not end within the time of a test.
  it('comes to an end on a megabyte of anything', () => {
    const hostile = [
      'key=',
      'a:',
      '://',
      'token',
      'eyJ',
      'eyJa.',
      'password ',
      '-----BEGIN PRIVATE KEY-----',
      'x://a:',
    ];
    for (const piece of [...hostile, 'Bearer ', '=:', 'a', 'a-', 'sk-', '\\']) {
      const text = piece.repeat(Math.ceil(1_000_000 / piece.length));
      expect(redact(text).text.length).toBeGreaterThan(0);
    }
  });
});
