import type { Rule } from './rule.ts';
import {
  isIdentifier,
  isJoinedWords,
  isPassword,
  isPlaceholder,
  isShuffledCase,
  isStrongPassword,
  looksRandom,
} from './value.ts';

/** What may stand in a value in prose, settings and code. */
const CODE_VALUE = String.raw`[^\s"'${'`'},;(){}[\]<>]`;
const isRandomValue = (secret: string): boolean => looksRandom(secret) && !isPlaceholder(secret) && isPassword(secret);
/** A value that is called is a function, whatever its name. */
const unlessCalled =
  (isSecret: (secret: string) => boolean) =>
  (secret: string, after: string): boolean =>
    after !== '(' && isSecret(secret);
const isNoWord = (secret: string): boolean => !isPlaceholder(secret) && (/\d/.test(secret) || isShuffledCase(secret));
const endsSentence = /[.!?]$/;

/** Secrets that only what stands before them gives away: headers, settings, sentences. */
export function contextRules(): Rule[] {
  return [...headerRules(), ...settingRules(), ...sentenceRules()];
}

function headerRules(): Rule[] {
  return [
    {
      kind: 'authorization',
      hint: 'authorization|bearer ',
      pattern: () =>
        /(\b(?:proxy-)?authorization["']?\s{0,4}[:=]\s{0,4}["']?(?:[a-z][\w-]{1,20} )?|\bbearer )([\w.~+/=:-]{12,4000})(["']?)/gi,
      isSecret: isNoWord,
    },
    {
      kind: 'header',
      hint: '(?:api|auth|access|private|session|vault|csrf)-?(?:key|token)',
      pattern: () =>
        /(\b(?:x-)?(?:api|auth|access|private|session|vault|csrf)-?(?:key|token)["']?\s{0,4}:\s{0,4}["']?)([\w.~+/=-]{8,4000})(["']?)/gi,
      isSecret: (secret) => isNoWord(secret) && (!isJoinedWords(secret) || isShuffledCase(secret)),
    },
    {
      kind: 'cookie',
      hint: 'cookie:',
      pattern: () => /(\b(?:set-)?cookie:\s{0,4}["']?)([\w.-]{1,60}=[^\r\n"']{8,4000})(["']?)/gi,
      isSecret: (secret) => isNoWord(secret.replace(/^[^=]*=/, '')),
    },
    {
      kind: 'netrc',
      hint: String.raw`machine\s`,
      pattern: () => /(\bmachine\s{1,8}\S{1,200}\s{1,8}login\s{1,8}\S{1,200}\s{1,8}password\s{1,8})([^\s"']{1,200})()/g,
      isSecret: isPassword,
    },
  ];
}

function settingRules(): Rule[] {
  return [
    {
      kind: 'connection string',
      hint: String.raw`(?:password|pwd|account ?key|access ?key)\s{0,2}=`,
      pattern: () =>
        /((?:server|host|data source|address|endpoint|account ?name|user id|uid|dbname|user)\s{0,2}=[^;\s"']{1,200}[; ][^\n"']{0,300}?(?:password|pwd|account ?key|shared ?access ?key)\s{0,2}=\s{0,2})([^;\s"']{1,300})()/gi,
      isSecret: isPassword,
    },
    {
      kind: 'secret',
      hint: String.raw`(?:key|token|secret|passw(?:or)?d|passphrase|pass|pwd|credentials?)["']?\s{0,4}[:=]`,
      pattern: () =>
        new RegExp(
          String.raw`((?:key|token|secret|passw(?:or)?d|passphrase|pass|pwd|credentials?)["']?\s{0,4}[:=]\s{0,4}["']?)(${CODE_VALUE}{8,500})(["'(]?)`,
          'gi',
        ),
      isSecret: (secret, after) => after !== '(' && isRandomValue(secret) && (after !== '' || !isIdentifier(secret)),
    },
    // People and files spell out shorter passwords, so the name must say password.
    {
      kind: 'password',
      hint: String.raw`(?:password|passwd|passphrase|passwort|kennwort)["']?\s{0,4}[:=]`,
      pattern: () =>
        new RegExp(
          String.raw`((?<![A-Za-z0-9$])(?:password|passwd|passphrase|passwort|kennwort)["']?\s{0,4}[:=]\s{0,4}["']?)(${CODE_VALUE}{6,200})(["'(]?)`,
          'gi',
        ),
      isSecret: unlessCalled(isStrongPassword),
    },
    {
      kind: 'password',
      hint: String.raw`(?:pw|pwd|passcode)\s{0,2}[:=]`,
      pattern: () =>
        new RegExp(
          String.raw`((?<![\w$.-])(?:pw|pwd|passcode)\s{0,2}[:=]\s{0,4}["']?)(${CODE_VALUE}{6,200})(["'(]?)`,
          'gi',
        ),
      isSecret: unlessCalled(isStrongPassword),
    },
    // A line of `env`, or of a file that is read as one.
    {
      kind: 'secret',
      hint: '(?:pass(?:word|wd|phrase)?|pwd|secret|key|token)=',
      pattern: () =>
        /(^(?:export )?(?:[A-Z][A-Z0-9_]{0,60})?(?:PASS(?:WORD|WD|PHRASE)?|PWD|SECRET|(?:API|ACCESS|SECRET|PRIVATE|AUTH)_?KEY|TOKEN)=["']?)([^\s"'`|;&<>()]{4,500})(["']?\r?$)/gm,
      isSecret: (secret) => isPassword(secret) && !/^\d+$/.test(secret),
    },
  ];
}

function sentenceRules(): Rule[] {
  return [
    {
      kind: 'password',
      hint: '(?:password|passphrase|passcode|passwort|kennwort)',
      pattern: () =>
        new RegExp(
          String.raw`(\b(?:password|passphrase|passcode|passwort|kennwort)\b[^.\n:=]{0,60}?\s(?:is|was|are|ist|lautet)\s{1,3}["'${'`'}]?)(${CODE_VALUE}{6,200})(["'${'`'}]?)`,
          'gi',
        ),
      isSecret: (secret) => isStrongPassword(secret.replace(endsSentence, '')),
    },
    {
      kind: 'secret',
      hint: '(?:token|api ?key|secret|access key)',
      pattern: () =>
        new RegExp(
          String.raw`(\b(?:token|api ?key|secret|access key)\b[^.\n:=]{0,60}?\s(?:is|was|ist|lautet)\s{1,3}["'${'`'}]?)(${CODE_VALUE}{16,500})(["'${'`'}]?)`,
          'gi',
        ),
      isSecret: isRandomValue,
    },
  ];
}
